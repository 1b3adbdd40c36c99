"""Figures as text, alike wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pfmhr.results import paper
from pfmhr.results.efforts import Difference
from pfmhr.results.outcome import Figures, Outcome
from pfmhr.results.statistics import Spread
from pfmhr.results.summary import Row, Summary, Verdict

NONE = "–"
"""Stands for a figure that is not there."""
INTERVALS = (
    "Intervals of differences are Student's, 95 %. Those of verdicts come from runs drawn anew and are too narrow for "
    "fewer than about ten runs a skill. A run that never got to 80 % counts with its whole budget, the least it can "
    "have needed, in differences and ratios; pairs of which neither run got there are left out of these, and are a tie "
    "where probabilities are concerned."
)


def mean_sd(spread: Spread | None, digits: int, unit: float = 1.0, seeds: int = 2) -> str:
    """Mean ± deviation in a unit; a single seed has no deviation."""
    if spread is None:
        return NONE
    mean = f"{unit * spread.mean:.{digits}f}"
    return mean if seeds == 1 or spread.deviation is None else f"{mean} ± {unit * spread.deviation:.{digits}f}"


def figure(row: Figures, name: str, digits: int, unit: float = 1.0) -> str:
    """One figure of a row."""
    return mean_sd(row.spread(name), digits, unit, row.seeds)


def reached(row: Outcome) -> str:
    """Million samples to 80 %, "Failed" if no run got there, how many did if not all."""
    if row.reached is None:
        return "Failed"
    some = f" ({row.converged} of {row.seeds})" if row.converged < row.seeds else ""
    return mean_sd(row.reached, 2, seeds=row.converged) + some


def saved(row: Row) -> str:
    """Million samples less than the plain method on the same seeds; nothing for itself."""
    return saved_by(row.difference)


def saved_by(gap: Difference | None) -> str:
    """Million samples less, with Student's interval; nothing without pairs.

    Pairs of which one run never got there are called bounds; pairs of which neither did are not in it.
    """
    if gap is None:
        return ""
    bounds = f" ({gap.bounds} of {gap.seeds} a bound)" if gap.bounds else ""
    return f"{-gap.mean:+.2f}{interval(gap.high, gap.low, '+.2f', -1.0)}{bounds}"


def interval(low: float | None, high: float | None, style: str = ".2f", unit: float = 1.0) -> str:
    """`` [low, high]``; nothing where there is none."""
    return "" if low is None or high is None else f" [{unit * low:{style}}, {unit * high:{style}}]"


def theirs(table: Mapping[str, Mapping[str, paper.Number]], row: Row, digits: int, unit: float = 1.0) -> str:
    """What a table of the paper has for a row's skill and method."""
    known, method = table.get(row.skill, {}), paper.METHODS.get(row.method, "")
    return paper_figure(known, method, digits, unit) if method in known else NONE


def paper_figure(known: Mapping[str, paper.Number], method: str, digits: int, unit: float = 1.0) -> str:
    """The paper's mean ± deviation for one of its methods, or "Failed"."""
    found = known[method]
    return "Failed" if found is None else mean_sd(Spread(*found), digits, unit)


def verdicts_in_words(summary: Summary) -> list[str]:
    """What the runs of every method say over all skills, and in how many pairs of runs they needed fewer samples."""
    pairs = {key: _counted(*counts) for key, counts in pairs_of_runs(summary.rows).items()}
    sentences = []
    for verdict in summary.verdicts:
        counted = pairs.pop((verdict.actions, verdict.method), "")
        sentences.append(_verdict(verdict, summary.plain) + (f"; fewer in {counted}" if counted else ""))
    rest = [
        f"{method} ({actions} actions): needs fewer samples than {summary.plain} in {counted}"
        for (actions, method), counted in pairs.items()
    ]
    return [*sentences, *rest]


def pairs_of_runs(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[int, int]]:
    """By action space and method: pairs of runs in which it needed fewer samples than the plain method, and all pairs.

    Skills with one seed count too, though they have no verdict. Pairs of which neither run got there do not count.
    """
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        if gap := row.difference:
            fewer, pairs = counts.get((row.actions, row.method), (0, 0))
            counts[row.actions, row.method] = fewer + gap.fewer, pairs + gap.seeds
    return counts


def _counted(fewer: int, pairs: int) -> str:
    return f"{fewer} of {pairs} pair{'s' if pairs > 1 else ''} of the same skill and seed"


def _verdict(verdict: Verdict, plain: str) -> str:
    left_out = verdict.skills_left_out
    others = f", {left_out} more with too few runs or none that got there" if left_out else ""
    what = f"{verdict.method} ({verdict.actions} actions, {_skills(verdict.skills)}{others}, {verdict.runs} runs)"
    chance = f"{verdict.probability:.2f}{interval(verdict.low, verdict.high)}"
    text = f"{what}: needs fewer samples than {plain} with probability {chance}"
    if verdict.ratio is None:
        return text
    told = verdict.ratio_skills or verdict.skills
    of = "" if told == verdict.skills else f" of {_skills(told)}"
    bounds = f", {verdict.ratio_bounds} of {verdict.ratio_pairs} pairs a bound" if verdict.ratio_bounds else ""
    ratio = f"{verdict.ratio:.2f}{interval(verdict.ratio_low, verdict.ratio_high)}"
    return f"{text}; typically {ratio} times as many (interquartile mean of paired ratios{of}{bounds})"


def _skills(count: int) -> str:
    return f"{count} skill{'s' if count > 1 else ''}"
