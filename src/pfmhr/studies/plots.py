"""Figures of the studies, ours in colour and the paper's in grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmhr.files import save_figure
from pfmhr.results import paper
from pfmhr.results.columns import PLAUSIBILITY, STUDIES, Line, number
from pfmhr.studies import noise

FAMILIES = {"angular": "#4c6a92", "permutation": "#d07b32", "sign_flip": "#3f8f6b"}
TITLES = {"angular": "rotated", "permutation": "joints shuffled", "sign_flip": "signs flipped"}
PAPER = "#9a9a9a"


def timestep_figure(path: Path, rows: Sequence[Line]) -> None:
    """Discrimination by flow time, one line per family, the paper's dashed."""
    times, best = _column(rows, "t_eval"), max(rows, key=lambda row: number(row, "average"))
    with Panels(path, 1, 4, (13, 3.4)) as panels:
        for place, (panel, name) in enumerate(zip(panels, STUDIES["timestep"].figures, strict=True)):
            colour = FAMILIES.get(name, "#333333")
            panel.plot(times, _column(rows, name), marker="o", markersize=3.5, color=colour)
            theirs = [values[place] for values in paper.TIMESTEP.values()]
            panel.plot(list(paper.TIMESTEP), theirs, color=PAPER, linestyle="--", label="paper (60 M poses)")
            panel.axvline(number(best, "t_eval"), color=colour, linewidth=0.7, linestyle=":")
            panel.set(title=TITLES.get(name, name), xlabel="t_eval")
        panels[0].set_ylabel("fall of the percentile")
        panels[-1].legend(frameon=False, fontsize=8)


def perturbation_figure(path: Path, rows: Sequence[Line]) -> None:
    """Score kept and percentile lost by severity."""
    metrics = {"normalised_score": "score kept", "percentile_change": "change of the percentile"}
    with Panels(path, 2, 3, (11, 6)) as panels:
        for line, (metric, label) in enumerate(metrics.items()):
            for column, family in enumerate(FAMILIES):
                mine = [row for row in rows if row["perturbation"] == family]
                severities = _column(mine, "severity")
                panel = panels[3 * line + column]
                panel.plot(severities, _column(mine, metric), marker="o", color=FAMILIES[family])
                theirs = [paper.PERTURBATION[family, severity][line] for severity in severities]
                panel.plot(severities, theirs, color=PAPER, linestyle="--", marker="o", markersize=3, label="paper")
                panel.set(xlabel="degrees" if family == "angular" else "share of joints", title=TITLES[family])
            panels[3 * line].set_ylabel(label)
        panels[0].legend(frameon=False, fontsize=8)


def noise_figure(path: Path, rows: Sequence[Line]) -> None:
    """The four metrics by number of noise samples."""
    few = [row for row in rows if number(row, "samples") < noise.REFERENCE_SAMPLES]
    counts = [int(count) for count in _column(few, "samples")]
    with Panels(path, 1, 4, (13, 3.4)) as panels:
        for place, (panel, name) in enumerate(zip(panels, STUDIES["noise"].figures, strict=False)):  # not the time
            panel.plot(counts, _column(few, name), marker="o", color="#4c6a92", label="ours")
            theirs = [paper.NOISE[count][place] for count in counts]
            panel.plot(counts, theirs, color=PAPER, linestyle="--", marker="o", markersize=3, label="paper")
            panel.set(title=name.replace("_", " "), xlabel="samples K", xscale="log", xticks=counts)
            panel.minorticks_off()
            panel.set_xticklabels([str(count) for count in counts])
        panels[0].legend(frameon=False, fontsize=8)


def _column(rows: Sequence[Line], name: str) -> list[float]:
    return [number(row, name) for row in rows]


def scale_figure(path: Path, curves: Mapping[str, Sequence[Line]]) -> None:
    """Average discrimination by flow time, one line per corpus size, peaks marked."""
    import matplotlib

    with Panels(path, 1, 1, (6.5, 4)) as panels:
        shades = matplotlib.colormaps["viridis"]
        for place, (name, rows) in enumerate(curves.items()):
            colour = shades(place / max(1, len(curves) - 1) * 0.85)
            panels[0].plot(_column(rows, "t_eval"), _column(rows, "average"), color=colour, label=name)
            best = max(rows, key=lambda row: number(row, "average"))
            panels[0].scatter([number(best, "t_eval")], [number(best, "average")], color=[colour], zorder=3)
        theirs = [values[3] for values in paper.TIMESTEP.values()]
        panels[0].plot(list(paper.TIMESTEP), theirs, color=PAPER, linestyle="--", label="paper, 60 M poses")
        panels[0].set(xlabel="t_eval", ylabel="fall of the percentile, average")
        panels[0].legend(frameon=False, fontsize=8)


def plausibility_figure(path: Path, rows: Sequence[Line]) -> None:
    """One line of dots per corruption, one colour per score; 0.5 is blind."""
    with Panels(path, 1, 1, (8, 0.42 * len(rows) + 1.2)) as panels:
        places = list(range(len(rows)))[::-1]
        for score, colour in zip(PLAUSIBILITY, FAMILIES.values(), strict=True):
            panels[0].scatter(_column(rows, score), places, color=colour, label=score, s=42)
        panels[0].axvline(0.5, color=PAPER, linewidth=0.8)
        panels[0].set_yticks(places, [f"{row['corruption']}  ({row['group']})" for row in rows])
        panels[0].set(xlabel="chance of ranking a real transition above a broken one", xlim=(0.0, 1.02))
        panels[0].legend(frameon=False, loc="lower left")


class Panels:
    """A figure whose panels come as a flat list, saved when the block ends."""

    def __init__(self, path: Path, rows: int, columns: int, size: tuple[float, float]) -> None:
        self._path, self._shape, self._size = path, (rows, columns), size

    def __enter__(self) -> list[Any]:
        from matplotlib.figure import Figure

        self._figure = Figure(figsize=self._size, layout="constrained")
        axes = self._figure.subplots(*self._shape, squeeze=False)
        for panel in axes.flat:
            panel.spines[["top", "right"]].set_visible(False)
        return list(axes.flat)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            save_figure(self._figure, self._path, dpi=120)
