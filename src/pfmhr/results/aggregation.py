"""Rows and verdicts of an experiment from its finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from pfmhr.results.common import CommonErrors, mean_of_pairs
from pfmhr.results.efforts import Efforts, comparable, count_bounds, difference
from pfmhr.results.outcome import Outcome, aggregate
from pfmhr.results.run_result import RunResult
from pfmhr.results.statistics import probability_of_improvement, typical_ratio
from pfmhr.results.summary import Row, Verdict, with_areas

Place = tuple[str, str, str]
"""Skill, action space and method."""
Runs = Mapping[Place, Mapping[int, RunResult]]
"""Finished runs by place, then by seed."""


def make_rows(runs: Runs, plain: str, common: Mapping[Place, list[CommonErrors]] | None = None) -> tuple[Row, ...]:
    """A row for every group that has runs, in the order of the groups.

    Args:
        common: by group, what pairs of a run and the plain one of its seed tracked both.
    """
    rows = [_row(runs, place, plain, (common or {}).get(place, [])) for place, found in runs.items() if found]
    results: dict[str, RunResult] = {}
    for row in rows:
        results |= zip(row.cells, runs[row.skill, row.actions, row.method].values(), strict=True)
    return with_areas(rows, plain, results)


def _row(runs: Runs, place: Place, plain: str, common: list[CommonErrors]) -> Row:
    skill, actions, method = place
    outcome, efforts = aggregate(runs[place]), _efforts(runs[place])
    gap = None if method == plain else difference(efforts, _efforts(runs.get((skill, actions, plain), {})))
    known = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
    return Row(skill=skill, actions=actions, method=method, difference=gap, common=mean_of_pairs(common), **known)


def _efforts(runs: Mapping[int, RunResult]) -> Efforts:
    return {seed: run.effort for seed, run in runs.items()}


def make_verdict(runs: Runs, skills: Sequence[str], actions: str, method: str, plain: str) -> Verdict | None:
    """Over skills that any run learned and both methods have several runs of; None without such skills.

    A skill with a single run would seem never to vary.
    """
    pairs = [
        (_efforts(runs.get((skill, actions, method), {})), _efforts(runs.get((skill, actions, plain), {})))
        for skill in skills
    ]
    several = [pair for pair in pairs if min(map(len, pair)) > 1 and _reached_by_any(*pair)]
    if not several:
        return None
    ours, theirs = ([[run.needed for run in group[side].values()] for group in several] for side in (0, 1))
    chance = probability_of_improvement(ours, theirs)
    ratio = _ratio(several)
    return Verdict(
        actions=actions,
        method=method,
        skills=len(several),
        runs=sum(map(len, ours)),
        runs_of_plain=sum(map(len, theirs)),
        skills_left_out=sum(bool(mine and other) for mine, other in pairs) - len(several),
        probability=chance.value,
        low=chance.low,
        high=chance.high,
        **ratio,  # type: ignore[arg-type]
    )


def _ratio(groups: Sequence[tuple[Efforts, Efforts]]) -> dict[str, float | int]:
    """Fields of a verdict about the ratio over pairs, of the skills that have several; empty without such skills."""
    paired = [(group, seeds) for group in groups if len(seeds := comparable(*group)) > 1]
    if not paired:
        return {}
    ours, theirs = ([[group[side][seed].bounded for seed in seeds] for group, seeds in paired] for side in (0, 1))
    ratio = typical_ratio(ours, theirs)
    return {
        "ratio": ratio.value,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "ratio_skills": len(paired),
        "ratio_pairs": sum(map(len, ours)),
        "ratio_bounds": sum(count_bounds(*group, seeds) for group, seeds in paired),
    }


def _reached_by_any(*groups: Efforts) -> bool:
    """Whether any run learned the skill; one that nobody learned says nothing about its methods."""
    return any(run.reached for group in groups for run in group.values())
