"""What a prior says, told from what any factor does: runs with the bundled prior beside controls of the same seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coverage_table import BUNDLED, OTHERS, SHUFFLED
from experiment_tables import markdown

from pfmhr.experiments.pairs import Effort, difference, telling
from pfmhr.experiments.wording import saved

Row = Mapping[str, Any]
COLUMNS = (f"{BUNDLED} beside", "actions", "skill", "M samples less", "fewer in pairs", "mean factor, prior / control")
CONTROLS = {"random": OTHERS["random"], "shuffled": SHUFFLED["shuffled"]}


def control_table(experiments: Iterable[Row]) -> str:
    """A line per control, action space and skill of experiments that have both."""
    return markdown(COLUMNS, [line for each in experiments for line in _lines(each)])


def _lines(summary: Row) -> list[Sequence[str]]:
    rows = {(row["actions"], row["skill"], row["method"]): row for row in summary["rows"]}
    return [
        _line(summary, rows[actions, skill, "pfm"], row)
        for (actions, skill, method), row in rows.items()
        if method in CONTROLS and (actions, skill, "pfm") in rows
    ]


def _line(summary: Row, prior: Row, control: Row) -> Sequence[str]:
    ours, theirs = _efforts(prior), _efforts(control)
    seeds = telling(ours, theirs)
    gap = difference(ours, theirs)
    fewer = f"{round(gap['better'] * gap['seeds'])} of {gap['seeds']}" if gap else "–"
    factors = " / ".join(_factor(summary, row, seeds or row["seed_numbers"]) for row in (prior, control))
    place = (prior["actions"], prior["skill"])
    return (CONTROLS[control["method"]], *place, saved({"difference": gap}) or "–", fewer, factors)


def _efforts(row: Row) -> dict[int, Effort]:
    """What the runs of a row needed, by seed."""
    told = zip(row["seed_numbers"], row["samples_to_80"], strict=True)
    return {seed: Effort(value, row["budget"]) for seed, value in told}


def _factor(summary: Row, row: Row, seeds: Sequence[int]) -> str:
    """The mean factor of these runs over their whole training."""
    names = {f"{row['skill']}-{row['method']}-{row['actions']}-{seed}" for seed in seeds}
    means = [sum(run["multiplier"]) / len(run["multiplier"]) for run in summary["runs"] if run["cell"] in names]
    return f"{sum(means) / len(means):.2f}"
