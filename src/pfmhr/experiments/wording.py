"""Figures of a summary in words, alike wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def reached(row: Row) -> str:
    """Samples to 80 % in million: mean and deviation, "Failed" if no seed got there, how many did if not all."""
    if row["mean"] is None:
        return "Failed"
    spread = f" ± {row['deviation']:.2f}" if row["converged"] > 1 else ""
    some = f" ({row['converged']} of {row['seeds']})" if row["converged"] < row["seeds"] else ""
    return f"{row['mean']:.2f}{spread}{some}"


def saved(row: Row) -> str:
    """Million samples less than the plain method on the same seeds, with Student's interval; nothing for itself.

    Pairs of which one run never got there are bounds, and said to be; those of which none did are not in it.
    """
    gap = row.get("difference")
    if gap is None:
        return ""
    interval = f" [{-gap['high']:+.2f}, {-gap['low']:+.2f}]" if gap["seeds"] > 1 else ""
    bounds = f" ({gap['bounds']} of {gap['seeds']} a bound)" if gap.get("bounds") else ""
    return f"{-gap['mean']:+.2f}{interval}{bounds}"


INTERVALS = (
    "Intervals of differences are Student's, 95 %. Those of verdicts come from runs drawn anew and are too narrow for "
    "fewer than about ten runs a skill. A run that never got to 80 % counts with its whole budget, the least it can "
    "have needed, in differences and ratios; pairs of which neither run got there are left out of these, and are a tie "
    "where probabilities are concerned."
)


def spread(row: Row, key: str, digits: int, unit: float = 1.0) -> str:
    """Mean of a figure at the end, and its deviation if there is more than one seed."""
    if row.get(key) is None:
        return "–"
    mean, deviation = f"{unit * row[key]:.{digits}f}", row.get("deviations", {}).get(key)
    return mean if row["seeds"] == 1 or deviation is None else f"{mean} ± {unit * deviation:.{digits}f}"


def verdicts_in_words(summary: Row) -> list[str]:
    """What the runs of every method say over all skills, and how many pairs of runs go its way."""
    plain = summary["plain"]
    pairs = {key: _counted(*counts) for key, counts in pairs_of_runs(summary["rows"]).items()}
    said = []
    for each in summary["verdicts"]:
        counted = pairs.pop((each["actions"], each["method"]), "")
        said.append(_verdict(each, plain) + (f"; fewer in {counted}" if counted else ""))
    rest = [
        f"{method} ({actions} actions): needs fewer samples than {plain} in {counted}"
        for (actions, method), counted in pairs.items()
    ]
    return [*said, *rest]


def pairs_of_runs(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[int, int]]:
    """By action space and method: pairs of runs in which it needed fewer samples than the plain one, and all pairs.

    Also of skills with one seed, of which there is no verdict. Pairs of which neither run got there are none.
    """
    told: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if gap := row.get("difference"):
            told.setdefault((row["actions"], row["method"]), []).append(gap)
    return {
        key: (sum(round(gap["better"] * gap["seeds"]) for gap in gaps), sum(gap["seeds"] for gap in gaps))
        for key, gaps in told.items()
    }


def _counted(fewer: int, pairs: int) -> str:
    return f"{fewer} of {pairs} pair{'s' if pairs > 1 else ''} of the same skill and seed"


def _verdict(verdict: Row, plain: str) -> str:
    left_out = verdict.get("skills_left_out")
    others = f", {left_out} more with too few runs or none that got there" if left_out else ""
    skills = f"{verdict['skills']} skill{'s' if verdict['skills'] > 1 else ''}{others}"
    what = f"{verdict['method']} ({verdict['actions']} actions, {skills}, {verdict['runs']} runs)"
    chance = f"{verdict['probability']:.2f} [{verdict['low']:.2f}, {verdict['high']:.2f}]"
    text = f"{what}: needs fewer samples than {plain} with probability {chance}"
    if verdict["ratio"] is None:
        return text
    ratio = f"{verdict['ratio']:.2f} [{verdict['ratio_low']:.2f}, {verdict['ratio_high']:.2f}]"
    told = verdict.get("ratio_skills", verdict["skills"])
    of = "" if told == verdict["skills"] else f" of {told} skill{'s' if told > 1 else ''}"
    return f"{text}; typically {ratio} times as many (interquartile mean of paired ratios{of}{_bounds(verdict)})"


def _bounds(verdict: Row) -> str:
    """Pairs of a ratio of which one run never got there: with its whole budget it counts as having needed too few."""
    count = verdict.get("ratio_bounds")
    return f", {count} of {verdict['ratio_pairs']} pairs a bound" if count else ""


def duration(seconds: float) -> str:
    """In seconds, minutes, or hours and minutes."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(0, round(seconds))} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"
