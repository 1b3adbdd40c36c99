"""What runs needed, and pairs of runs of the same skill and seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pfmhr.results.statistics import PairedDifference, paired_difference


@dataclass(frozen=True)
class Effort:
    """Million samples that a run needed to get to 80 %, of those it had."""

    reached_after: float | None
    budget: float

    @property
    def reached(self) -> bool:
        """Whether it ever got there."""
        return self.reached_after is not None

    @property
    def needed(self) -> float:
        """Infinite if it never got there."""
        return math.inf if self.reached_after is None else self.reached_after

    @property
    def bounded(self) -> float:
        """At most the budget: a lower bound where it never got there."""
        return min(self.needed, self.budget)


Efforts = Mapping[int, Effort]
"""Efforts of one method's runs on one skill, by seed."""


@dataclass(frozen=True, kw_only=True)
class Difference(PairedDifference):
    """Million samples needed, ours − the plain method's, over pairs of the same seed."""

    better: float
    """Share of pairs in which ours needed fewer."""
    seeds: int
    """Number of pairs."""
    bounds: int = 0
    """Pairs of which one run never got there, so that the difference is only known from one side."""
    untold: int = 0
    """Pairs left out because neither run got there."""

    @property
    def fewer(self) -> int:
        """Number of pairs in which ours needed fewer samples."""
        return round(self.better * self.seeds)


def telling(ours: Efforts, plain: Efforts) -> list[int]:
    """Seeds that both methods ran and at least one of them learned with."""
    return [seed for seed in sorted(set(ours) & set(plain)) if ours[seed].reached or plain[seed].reached]


def count_bounds(ours: Efforts, plain: Efforts, seeds: list[int]) -> int:
    """Number of these pairs of which one run never got there."""
    return sum(not (ours[seed].reached and plain[seed].reached) for seed in seeds)


def difference(ours: Efforts, plain: Efforts) -> Difference | None:
    """Paired difference over the seeds that tell; None if there are none."""
    seeds = telling(ours, plain)
    if not seeds:
        return None
    mine, theirs = ([group[seed].bounded for seed in seeds] for group in (ours, plain))
    # Without the bound: a run that gets there with its last sample is better than one that never does.
    better = sum(ours[seed].needed < plain[seed].needed for seed in seeds) / len(seeds)
    return Difference(
        **asdict(paired_difference(mine, theirs)),
        better=better,
        seeds=len(seeds),
        bounds=count_bounds(ours, plain, seeds),
        untold=len(set(ours) & set(plain)) - len(seeds),
    )


def comparable(ours: Efforts, plain: Efforts) -> list[int]:
    """Seeds whose pairs have a ratio: they tell, and neither run was there before it learned."""
    return [seed for seed in telling(ours, plain) if ours[seed].bounded > 0 < plain[seed].bounded]
