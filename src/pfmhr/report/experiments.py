"""A matrix of tracking runs on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmhr.experiments.figures import draw_curves, draw_dots
from pfmhr.experiments.wording import INTERVALS, reached, saved, spread, verdicts_in_words
from pfmhr.report import paper
from pfmhr.report.figures import radar_figure
from pfmhr.report.page import Command, Part, Section, Table, Text, drawn

NOT_COMPARABLE = (
    "Sample counts are not comparable with the paper's: it trains 4,096 environments with plain SGD and evaluates "
    "every 13 million samples; the small preset here learns with Adam from 256, with actions around the reference "
    "where they are called residual. Only the difference a prior makes within one setting is."
)
FEWEST = 3
"""Skills and methods a radar chart needs to be one."""
SAME = {"add": "none", "pdf": "pdf", "pfm": "pfm", "recon": "recon", "pfm_velocity": "velocity"}
"""Methods as experiments here and as the paper's tables call them."""
HORIZONS = (
    "skill",
    "actions",
    "method",
    "seeds",
    "episode, s",
    "success %",
    "E_pos, mm",
    "E_rot, rad",
    "paper, 34 clips",
)
"""Columns of :func:`horizon_lines`."""


def experiment_section(summary: Mapping[str, Any], folder: Path, number: int = 0) -> Section:
    """Tables, verdicts and figures of one experiment's summary."""
    cells = summary["cells"]
    section = Section(f"Experiment: {summary['name'].replace('_', ' ')}")
    section.parts += [
        Text(
            f"{cells['finished']} of {cells['all']} runs are finished. Samples to 80 % are interpolated between "
            f"evaluations; differences are paired with “{summary['plain']}” over seeds. {INTERVALS}"
        ),
        Text(NOT_COMPARABLE),
        *(Text(f"{name} failed: {said}") for name, said in summary.get("failed", {}).items()),
        _table(summary),
        *([Table(HORIZONS, lines, theirs=HORIZONS[-1:])] if (lines := horizon_lines(summary["rows"])) else []),
        *(Text(f"{said}.") for said in verdicts_in_words(summary)),
        drawn(
            folder,
            f"experiment-{number}",
            lambda path: draw_dots(dict(summary), path),
            "Million samples to 80 %: every seed a dot, thin lines join the same seed, bars are means. Where runs "
            "never got there, a cross at their budget and how many.",
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


def horizon_lines(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Errors by length of episode beside the paper's, of rows that were evaluated at several."""
    return [
        [
            *(row["skill"], row["actions"], row["method"], str(each["seeds"]), f"{each['horizon']:g}"),
            *(spread(each, "success", 1, 100.0), spread(each, "position_error", 1, 1000.0)),
            *(spread(each, "rotation_error", 3), _general(each["horizon"], row["method"])),
        ]
        for row in rows
        for each in row.get("horizons", ())
    ]


def _general(horizon: float, method: str) -> str:
    """The paper's errors of 34 clips with one policy."""
    errors = paper.GENERAL.get(horizon, {}).get(SAME.get(method, ""))
    if errors is None:
        return "–"
    (position, _), (rotation, _) = errors
    return f"{1000.0 * position:.0f} mm, {rotation:.3f} rad"


def _radars(summary: Mapping[str, Any], folder: Path, number: int) -> list[Part]:
    return [
        drawn(
            folder,
            f"radar-{number}-{title.lower()}",
            lambda path, scores=scores, title=title: radar_figure(path, scores, title),
            f"{title}: the least mean error of any method on a skill over the method's own, so that larger "
            "is better and the best is 1.",
        )
        for title, scores in radars(summary["rows"]).items()
    ]


def radars(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """Errors by method and skill for a chart of each kind of error, where there are enough of both."""
    charts = {"E_pos": radar_scores(rows, "position_error"), "E_rot": radar_scores(rows, "rotation_error")}
    return {
        title: scores
        for title, scores in charts.items()
        if len(scores) >= FEWEST and all(len(values) >= FEWEST for values in scores.values())
    }


def radar_scores(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, dict[str, float]]:
    """Mean error by method and skill, of the skills that all seeds of every method got to 80 % of.

    Errors are of what was tracked: who falls early may have small ones. Action spaces are kept apart.
    """
    spaces = {row["actions"] for row in rows}
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        skill = row["skill"] if len(spaces) == 1 else f"{row['skill']}, {row['actions']}"
        if row[key] is not None and row["converged"] == row["seeds"]:
            found.setdefault(row["method"], {})[skill] = row[key]
    common = set.intersection(*(set(values) for values in found.values())) if found else set()
    return {method: {skill: values[skill] for skill in values if skill in common} for method, values in found.items()}
