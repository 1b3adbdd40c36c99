"""What a prior says, told from what any factor does: runs with the bundled prior beside controls of the same seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pfmhr.results.efforts import difference, telling
from pfmhr.results.summary import Row, Summary
from pfmhr.results.tables.coverage import BUNDLED, OTHERS, SHUFFLED
from pfmhr.results.tables.markdown import markdown
from pfmhr.results.wording import NONE, saved_by

COLUMNS = (f"{BUNDLED} beside", "actions", "skill", "M samples less", "fewer in pairs", "mean factor, prior / control")
CONTROLS = {"random": OTHERS["random"], "shuffled": SHUFFLED["shuffled"]}


def control_table(experiments: Iterable[Summary]) -> str:
    """A line per control, action space and skill of experiments that have both."""
    return markdown(COLUMNS, [line for summary in experiments for line in _lines(summary)])


def _lines(summary: Summary) -> list[Sequence[str]]:
    rows = {(row.actions, row.skill, row.method): row for row in summary.rows}
    return [
        _line(summary, rows[actions, skill, "pfm"], row)
        for (actions, skill, method), row in rows.items()
        if method in CONTROLS and (actions, skill, "pfm") in rows
    ]


def _line(summary: Summary, prior: Row, control: Row) -> Sequence[str]:
    ours, theirs = prior.efforts, control.efforts
    seeds, gap = telling(ours, theirs), difference(ours, theirs)
    fewer = f"{gap.fewer} of {gap.seeds}" if gap else NONE
    factors = " / ".join(_factor(summary, row, seeds or row.seed_numbers) for row in (prior, control))
    return CONTROLS[control.method], prior.actions, prior.skill, saved_by(gap) or NONE, fewer, factors


def _factor(summary: Summary, row: Row, seeds: Sequence[int]) -> str:
    """The mean factor of these runs over their whole training."""
    names = {cell for seed, cell in zip(row.seed_numbers, row.cells, strict=True) if seed in seeds}
    means = [sum(run.multiplier) / len(run.multiplier) for run in summary.runs if run.cell in names]
    return f"{sum(means) / len(means):.2f}"
