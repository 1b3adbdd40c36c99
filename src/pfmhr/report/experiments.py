"""A matrix of tracking runs on the page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pfmhr.report.page import Command, Part, Section, Table, Text, drawn
from pfmhr.results.evidence import EVIDENCE, EXPLAINED, evidence_lines
from pfmhr.results.figures import draw_curves, draw_dots, draw_radar, radars
from pfmhr.results.summary import Row, Summary
from pfmhr.results.tables.experiments import HORIZONS, horizon_lines
from pfmhr.results.wording import INTERVALS, figure, reached, saved, verdicts_in_words

NOT_COMPARABLE = (
    "Sample counts are not comparable with the paper's: it trains 4,096 environments with plain SGD and evaluates "
    "every 13 million samples; the small preset here learns with Adam from 256, with actions around the reference "
    "where they are called residual. Only the difference a prior makes within one setting is."
)
COLUMNS = (
    "skill",
    "actions",
    "method",
    "seeds",
    "samples to 80 %, M",
    "less than plain, M",
    "success %",
    "E_pos, mm",
    "E_rot, rad",
    "minutes",
)


def experiment_section(summary: Summary, folder: Path, number: int = 0) -> Section:
    """Tables, verdicts and figures of one experiment's summary."""
    cells = summary.cells
    section = Section(f"Experiment: {summary.name.replace('_', ' ')}")
    section.parts += [
        Text(
            f"{cells.finished} of {cells.all} runs are finished. Samples to 80 % are interpolated between "
            f"evaluations; differences are paired with “{summary.plain}” over seeds. {INTERVALS}"
        ),
        Text(NOT_COMPARABLE),
        *(Text(f"{name} failed: {why}") for name, why in summary.failed.items()),
        *_tables(summary),
        *(Text(f"{sentence}.") for sentence in verdicts_in_words(summary)),
        *_drawings(summary, folder, number),
        Command(summary.command),
    ]
    return section


def _tables(summary: Summary) -> list[Part]:
    """What was learned, at several horizons if there were, and what makes differences believable."""
    tables: list[Part] = [Table(COLUMNS, [_cells(row) for row in summary.rows])]
    if lines := horizon_lines(summary.rows):
        tables.append(Table(HORIZONS, lines, theirs=HORIZONS[-1:]))
    if lines := evidence_lines(summary.rows):
        tables += [Table(EVIDENCE, lines), Text(EXPLAINED)]
    return tables


def _cells(row: Row) -> list[str]:
    names = [row.skill, row.actions, row.method, str(row.seeds)]
    errors = [figure(row, "position_error", 1, 1000.0), figure(row, "rotation_error", 3)]
    return [*names, reached(row), saved(row), figure(row, "success", 1, 100.0), *errors, figure(row, "minutes", 1)]


def _drawings(summary: Summary, folder: Path, number: int) -> list[Part]:
    parts: list[Part] = [
        drawn(
            folder,
            f"experiment-{number}",
            partial(draw_dots, summary),
            "Million samples to 80 %: every seed a dot, thin lines join the same seed, bars are means. Where runs "
            "never got there, a cross at their budget and how many.",
        )
    ]
    if all(row.curve is not None for row in summary.rows):
        parts.append(
            drawn(
                folder,
                f"experiment-{number}-curves",
                partial(draw_curves, summary),
                "Share of the reference tracked by the mean policy during training. Lines are means over seeds, bands "
                "go from the lowest to the highest seed, the dotted line is at 80 %.",
            )
        )
    return parts + [
        drawn(
            folder,
            f"radar-{number}-{title.lower()}",
            partial(draw_radar, scores=scores, title=title),
            f"{title}: the least mean error of any method on a skill over the method's own, so that larger "
            "is better and the best is 1.",
        )
        for title, scores in radars(summary.rows).items()
    ]
