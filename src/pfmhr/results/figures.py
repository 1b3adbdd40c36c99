"""Figures of experiments and comparisons: every seed a dot, how success grew, errors around a circle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pfmhr.files import save_figure
from pfmhr.results.comparing import RunCurve
from pfmhr.results.outcome import Curve
from pfmhr.results.run_result import CONVERGED
from pfmhr.results.summary import Row, Summary, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 4
"""Panels side by side."""
FEWEST = 3
"""Skills and methods a radar chart needs."""
Scores = Mapping[str, Mapping[str, float]]
"""Errors by method and skill."""


def draw_dots(summary: Summary, path: Path) -> None:
    """Samples to 80 %, every seed a dot, one panel per skill; runs of one seed are joined, since they are compared.

    A cross stands at the budget of runs that never got there.
    """
    colours = _colours(summary)

    def draw(axis: Axes, rows: Sequence[Row]) -> None:
        for points in _by_seed(rows).values():
            axis.plot(*zip(*points, strict=True), color="0.8", lw=0.8, zorder=0)
        for place, row in enumerate(rows):
            _draw_row(axis, place, row, colours[row.method])
        axis.set(ylim=(0, 1.08 * max(axis.dataLim.y1, 0.1)), xlim=(-0.6, len(rows) - 0.4))
        axis.set_xticks(range(len(rows)), [row.method for row in rows], rotation=45, ha="right")

    _draw_panels(summary, path, draw, "million samples to 80 %")


def _draw_row(axis: Axes, place: int, row: Row, colour: str) -> None:
    """The runs of one method: dots, their mean, and how many never got there."""
    values = [value for value in row.samples_to_80 if value is not None]
    axis.plot([place] * len(values), values, "o", alpha=0.6, color=colour)
    if values:
        axis.plot([place - 0.25, place + 0.25], [np.mean(values)] * 2, color=colour, lw=2)
    never = len(row.samples_to_80) - len(values)
    if never and row.budget is not None:
        axis.plot(place, row.budget, "x", color=colour)
        axis.annotate(f"{never} never", (place, row.budget), (4, 0), textcoords="offset points", fontsize=8)


def draw_curves(summary: Summary, path: Path) -> None:
    """Success over samples, one panel per skill: a method's mean, and the band from its lowest to its highest seed."""
    colours = _colours(summary)

    def draw(axis: Axes, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.curve is not None:
                _draw_curve(axis, row.curve, row.method, colours[row.method], 0.15)
        _finish_curves(axis, 7)

    _draw_panels(summary, path, draw, "share of the reference tracked")


def draw_run_curves(runs: Sequence[RunCurve], path: Path) -> None:
    """Success over samples of single runs, in one panel: a line per name, a band from least to most."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    for place, name in enumerate(dict.fromkeys(run.name for run in runs)):
        samples, success = joined([run for run in runs if run.name == name])
        bands = success.mean(axis=0), success.min(axis=0), success.max(axis=0)
        mean, lowest, highest = (tuple(band.tolist()) for band in bands)
        curve = Curve(samples=tuple((samples / 1e6).tolist()), success=mean, lowest=lowest, highest=highest)
        _draw_curve(axes, curve, name, f"C{place}", 0.2)
    _finish_curves(axes, 8)
    axes.set(xlabel="samples (million)", ylabel="share of the reference tracked")
    save_figure(figure, path, dpi=150)


def _draw_curve(axis: Axes, curve: Curve, name: str, colour: str, strength: float) -> None:
    axis.plot(curve.samples, curve.success, color=colour, label=name)
    axis.fill_between(curve.samples, curve.lowest, curve.highest, color=colour, alpha=strength, lw=0)


def _finish_curves(axis: Axes, size: int) -> None:
    axis.axhline(CONVERGED, color="grey", lw=0.8, ls=":")
    axis.set(ylim=(0, 1.02), xlabel="million samples")
    axis.legend(frameon=False, fontsize=size)


def joined(runs: Sequence[RunCurve]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Samples ``(T,)`` at which all of the runs were evaluated, and the success of each there ``(R, T)``."""
    curves = [dict(zip(run.samples, run.success, strict=True)) for run in runs]
    samples = sorted(set.intersection(*(set(curve) for curve in curves)))
    return np.array(samples, dtype=np.float64), np.array([[curve[at] for at in samples] for curve in curves])


def _by_seed(rows: Sequence[Row]) -> dict[int, list[tuple[int, float]]]:
    """Places of methods and what they needed, of every seed that got there."""
    points: dict[int, list[tuple[int, float]]] = {}
    for place, row in enumerate(rows):
        # Reports of earlier versions do not tell the seeds.
        for seed, value in zip(row.seed_numbers, row.samples_to_80, strict=False):
            if value is not None:
                points.setdefault(seed, []).append((place, value))
    return points


def _colours(summary: Summary) -> dict[str, str]:
    """A method has the same colour in every panel, also where others have no runs yet."""
    return {method: f"C{place}" for place, method in enumerate(dict.fromkeys(row.method for row in summary.rows))}


def _draw_panels(summary: Summary, path: Path, draw: Callable[[Axes, Sequence[Row]], None], ylabel: str) -> None:
    from matplotlib.figure import Figure

    panels = summary.panels
    columns = min(PANELS, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(2.2 + 2.4 * columns, 3.4 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    for place, axis in enumerate(grid.flat):
        if place >= len(panels):
            axis.set_axis_off()
            continue
        draw(axis, rows_of(summary.rows, *panels[place]))
        axis.set_title(", ".join(panels[place]))
        if place % columns == 0:
            axis.set_ylabel(ylabel)
    save_figure(figure, path, dpi=150)


def radars(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, float]]]:
    """Errors by method and skill for a chart of each kind of error, where there are enough of both."""
    charts = {"E_pos": radar_scores(rows, "position_error"), "E_rot": radar_scores(rows, "rotation_error")}
    return {
        title: scores
        for title, scores in charts.items()
        if len(scores) >= FEWEST and all(len(values) >= FEWEST for values in scores.values())
    }


def radar_scores(rows: Sequence[Row], figure: str) -> dict[str, dict[str, float]]:
    """Mean error by method and skill, of the skills that all seeds of every method got to 80 % of.

    Errors are of what was tracked: who falls early may have small ones. Action spaces are kept apart.
    """
    spaces = {row.actions for row in rows}
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        skill, spread = row.skill if len(spaces) == 1 else f"{row.skill}, {row.actions}", row.spread(figure)
        if spread is not None and row.converged == row.seeds:
            found.setdefault(row.method, {})[skill] = spread.mean
    common = set.intersection(*(set(values) for values in found.values())) if found else set()
    return {method: {skill: values[skill] for skill in values if skill in common} for method, values in found.items()}


def draw_radar(path: Path, scores: Scores, title: str) -> None:
    """One polygon per method, one axis per skill: the least error among methods over its own, so larger is better."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    skills = list(next(iter(scores.values())))
    least = {skill: min(values[skill] for values in scores.values()) for skill in skills}
    angles = np.linspace(0, 2 * np.pi, len(skills), endpoint=False)
    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    axes = figure.subplots(subplot_kw={"projection": "polar"})
    for place, (method, values) in enumerate(scores.items()):
        heights = [least[skill] / values[skill] for skill in skills]
        colour = f"C{place}"
        axes.plot([*angles, angles[0]], [*heights, heights[0]], color=colour, label=method)
        axes.fill([*angles, angles[0]], [*heights, heights[0]], color=colour, alpha=0.08)
    lowest = min(least[skill] / values[skill] for values in scores.values() for skill in skills)
    axes.set_ylim(max(0.0, lowest - 0.15), 1.02)  # type: ignore[attr-defined]
    axes.set_xticks(angles, [skill.replace("_", " ") for skill in skills])
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.tick_params(axis="x", pad=10)
    axes.tick_params(axis="y", labelsize=8)
    axes.grid(color="#9a9a9a", linewidth=0.5)
    axes.set_title(title)
    figure.legend(frameon=False, fontsize=9, loc="outside right lower")
    save_figure(figure, path, bbox_inches="tight")  # the layout knows nothing of names around a circle
