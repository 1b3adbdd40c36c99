"""A matrix of tracking runs on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmhr.experiments.figures import draw_curves, draw_dots
from pfmhr.experiments.wording import reached, saved, spread, verdict_in_words
from pfmhr.report.figures import radar_figure
from pfmhr.report.page import Command, Part, Section, Table, Text, drawn

FEWEST = 3
"""Skills and methods a radar chart needs to be one."""


def experiment_section(summary: Mapping[str, Any], folder: Path, number: int = 0) -> Section:
    """Tables, verdicts and figures of one experiment's summary."""
    cells = summary["cells"]
    section = Section(f"Experiment: {summary['name'].replace('_', ' ')}")
    section.parts += [
        Text(
            f"{cells['finished']} of {cells['all']} runs are finished. Samples to 80 % are interpolated between "
            f"evaluations; differences are paired with “{summary['plain']}” over seeds, with 95 % bootstrap "
            "intervals; a run that never got there counts with its whole budget."
        ),
        _table(summary),
        *(Text(f"{verdict_in_words(each, summary['plain'])}.") for each in summary["verdicts"]),
        drawn(
            folder,
            f"experiment-{number}",
            lambda path: draw_dots(dict(summary), path),
            "Million samples to 80 %: every seed a dot, the bar their mean. Where runs never got there, a cross at "
            "their budget and how many.",
        ),
    ]
    if all("curve" in row for row in summary["rows"]):
        section.parts.append(
            drawn(
                folder,
                f"experiment-{number}-curves",
                lambda path: draw_curves(dict(summary), path),
                "Share of the reference tracked by the mean policy during training. Lines are means over seeds, bands "
                "go from the lowest to the highest seed, the dotted line is at 80 %.",
            )
        )
    section.parts += _radars(summary, folder, number)
    section.parts.append(Command(str(summary["command"])))
    return section


def _table(summary: Mapping[str, Any]) -> Table:
    columns = ["skill", "actions", "method", "seeds", "samples to 80 %, M", "less than plain, M"]
    columns += ["success %", "E_pos, mm", "E_rot, rad", "minutes"]
    return Table(columns, [_cells(row) for row in summary["rows"]])


def _cells(row: Mapping[str, Any]) -> list[str]:
    names = [row["skill"], row["actions"], row["method"], str(row["seeds"])]
    errors = [spread(row, "position_error", 1, 1000.0), spread(row, "rotation_error", 3)]
    return [*names, reached(row), saved(row), spread(row, "success", 1, 100.0), *errors, spread(row, "minutes", 1)]


def _radars(summary: Mapping[str, Any], folder: Path, number: int) -> list[Part]:
    """Errors by skill and method, where there are enough of both for a chart."""
    parts: list[Part] = []
    for key, title in (("position_error", "E_pos"), ("rotation_error", "E_rot")):
        scores = radar_scores(summary["rows"], key)
        if len(scores) >= FEWEST and all(len(values) >= FEWEST for values in scores.values()):
            parts.append(
                drawn(
                    folder,
                    f"radar-{number}-{title.lower()}",
                    lambda path, scores=scores, title=title: radar_figure(path, scores, title),
                    f"{title}: the least mean error of any method on a skill over the method's own, so that larger "
                    "is better and the best is 1.",
                )
            )
    return parts


def radar_scores(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, dict[str, float]]:
    """Mean error by method and skill, of the skills that every method has; action spaces are kept apart."""
    spaces = {row["actions"] for row in rows}
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        skill = row["skill"] if len(spaces) == 1 else f"{row['skill']}, {row['actions']}"
        if row[key] is not None:
            found.setdefault(row["method"], {})[skill] = row[key]
    common = set.intersection(*(set(values) for values in found.values())) if found else set()
    return {method: {skill: values[skill] for skill in values if skill in common} for method, values in found.items()}
