"""Does the prior help? All comparisons with plain ADD in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scipy.stats import gmean

from pfmhr.results import paper
from pfmhr.results.summary import Row, Summary, Verdict
from pfmhr.results.tables.coverage import method_of
from pfmhr.results.tables.markdown import markdown
from pfmhr.results.wording import NONE, interval, pairs_of_runs

PLAIN = "add"
COLUMNS = ("beside plain ADD", "actions", "skills", "times as many samples", "paper", "fewer in pairs")
FIRST = ("nine_skills", "absolute_walk", "absolute_run", "absolute_vault", "rivals")
"""Experiments in the order they are asked for."""


def verdict_table(experiments: Iterable[Summary]) -> str:
    """A line per method and action space of every experiment against plain ADD: skills of several pairs, then of one.

    Times as many samples is the interquartile mean of paired ratios, which skills of one seed have none of; the
    paper's is the geometric mean over the same skills, where it has them all.
    """
    summaries = {each.name: each for each in experiments if each.plain == PLAIN}
    names = [*(name for name in FIRST if name in summaries), *(name for name in summaries if name not in FIRST)]
    return markdown(COLUMNS, [line for name in names for line in _lines(summaries[name])])


def _lines(summary: Summary) -> list[Sequence[str]]:
    verdicts = {(each.method, each.actions): each for each in summary.verdicts}
    names = _names(summary)
    groups: dict[tuple[bool, str, str], list[Row]] = {}
    for row in summary.rows:
        if row.method in names and row.difference is not None:
            groups.setdefault((row.difference.seeds == 1, row.actions, row.method), []).append(row)
    return [
        _line(names[method], actions, rows, None if single else verdicts.get((method, actions)))
        for (single, actions, method), rows in sorted(groups.items(), key=lambda group: group[0][0])
    ]


def _names(summary: Summary) -> dict[str, str]:
    """What readers call the methods, as far as their runs tell."""
    known = {run.cell: method_of(run.settings) for run in summary.runs if run.settings is not None}
    return {row.method: name for row in summary.rows for cell in row.cells if (name := known.get(cell))}


def _line(name: str, actions: str, rows: Sequence[Row], verdict: Verdict | None) -> Sequence[str]:
    ((fewer, pairs),) = pairs_of_runs(rows).values()
    stated = _paper([row.skill for row in rows], rows[0].method)
    return name, actions, _skills(rows), _ratio(verdict), stated, f"{fewer} of {pairs}"


def _skills(rows: Sequence[Row]) -> str:
    counts = {row.difference.seeds for row in rows if row.difference is not None}
    seeds = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    return f"{', '.join(row.skill for row in rows)} ({seeds} seed{'s' if max(counts) > 1 else ''})"


def _ratio(verdict: Verdict | None) -> str:
    if verdict is None or verdict.ratio is None:
        return NONE
    bounds = f" ({verdict.ratio_bounds} of {verdict.ratio_pairs} a bound)" if verdict.ratio_bounds else ""
    return f"{verdict.ratio:.2f}{interval(verdict.ratio_low, verdict.ratio_high)}{bounds}"


def _paper(skills: Sequence[str], method: str) -> str:
    known = [paper.SAMPLES.get(skill, {}) for skill in skills]
    pairs = [(each.get(paper.METHODS.get(method, "")), each.get("none")) for each in known]
    ratios = [ours[0] / plain[0] for ours, plain in pairs if ours and plain]
    return f"{gmean(ratios):.2f}" if len(ratios) == len(skills) else NONE
