"""Does the prior help? All comparisons with plain ADD in one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coverage_table import method_of
from experiment_tables import markdown
from scipy.stats import gmean

from pfmhr.experiments.matrix import PLAIN
from pfmhr.experiments.wording import pairs_of_runs
from pfmhr.report.experiments import SAME
from pfmhr.report.paper import SAMPLES

Row = Mapping[str, Any]
COLUMNS = ("beside plain ADD", "actions", "skills", "times as many samples", "paper", "fewer in pairs")

FIRST = ("nine_skills", "absolute_walk", "absolute_run", "absolute_vault", "rivals")
"""Experiments in the order they are asked for."""


def verdict_table(experiments: Iterable[Row]) -> str:
    """A line per method and action space of every experiment against plain ADD: skills of several pairs, then of one.

    Times as many samples is the interquartile mean of paired ratios, which skills of one seed have none of; the
    paper's is the geometric mean over the same skills, where it has them all.
    """
    told = {each["name"]: each for each in experiments if each["plain"] == PLAIN}
    names = [*(name for name in FIRST if name in told), *(name for name in told if name not in FIRST)]
    return markdown(COLUMNS, [line for name in names for line in _lines(told[name])])


def _lines(summary: Row) -> list[Sequence[str]]:
    ratios = {(each["method"], each["actions"]): each for each in summary["verdicts"]}
    told = {run["cell"]: method_of(run["settings"]) for run in summary["runs"] if "settings" in run}
    names = {row["method"]: name for row in summary["rows"] for cell in _cells(row) if (name := told.get(cell))}
    groups: dict[tuple[bool, str, str], list[Row]] = {}
    for row in summary["rows"]:
        if names.get(row["method"]) and "difference" in row:
            groups.setdefault((row["difference"]["seeds"] == 1, row["actions"], row["method"]), []).append(row)
    lines = []
    for (single, actions, method), rows in sorted(groups.items(), key=lambda group: group[0][0]):
        ((fewer, pairs),) = pairs_of_runs(rows).values()
        verdict = None if single else ratios.get((method, actions))
        skills = [row["skill"] for row in rows]
        said = _skills(rows), _ratio(verdict), _papers(skills, method), f"{fewer} of {pairs}"
        lines.append((str(names[method]), actions, *said))
    return lines


def _cells(row: Row) -> list[str]:
    """Names of a row's runs."""
    return [f"{row['skill']}-{row['method']}-{row['actions']}-{seed}" for seed in row["seed_numbers"]]


def _skills(rows: Sequence[Row]) -> str:
    counts = {row["difference"]["seeds"] for row in rows}
    seeds = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
    return f"{', '.join(row['skill'] for row in rows)} ({seeds} seed{'s' if max(counts) > 1 else ''})"


def _ratio(verdict: Row | None) -> str:
    if verdict is None or verdict["ratio"] is None:
        return "–"
    bounds = f" ({verdict['ratio_bounds']} of {verdict['ratio_pairs']} a bound)" if verdict.get("ratio_bounds") else ""
    return f"{verdict['ratio']:.2f} [{verdict['ratio_low']:.2f}, {verdict['ratio_high']:.2f}]{bounds}"


def _papers(skills: Sequence[str], method: str) -> str:
    known = [SAMPLES.get(skill, {}) for skill in skills]
    pairs = [(each.get(SAME.get(method, "")), each.get("none")) for each in known]
    ratios = [ours[0] / plain[0] for ours, plain in pairs if ours and plain]
    return f"{gmean(ratios):.2f}" if len(ratios) == len(skills) else "–"
