"""What runs needed, and pairs of runs of the same skill and seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pfmhr.experiments.statistics import paired_difference


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
"""Of one method's runs of a skill, by seed."""


def telling(ours: Efforts, plain: Efforts) -> list[int]:
    """Seeds of both of which at least one run got there: of the others nothing is known."""
    return [seed for seed in sorted(set(ours) & set(plain)) if ours[seed].reached or plain[seed].reached]


def bounds(ours: Efforts, plain: Efforts, seeds: list[int]) -> int:
    """In how many of these pairs one run never got there, so that what it needed is only known from below."""
    return sum(not (ours[seed].reached and plain[seed].reached) for seed in seeds)


def difference(ours: Efforts, plain: Efforts) -> dict[str, Any] | None:
    """Million samples less than the plain runs of the same seeds, with intervals and counts; None without such pairs.

    Returns:
        the figures of :func:`paired_difference`; ``better``, the share of pairs in which fewer were needed; ``seeds``,
        how many pairs; ``bounds``, how many of them are known from below only; ``untold``, pairs left out.
    """
    seeds = telling(ours, plain)
    if not seeds:
        return None
    # Not of bounds: who gets there with the last sample of the budget is before one who never does.
    better = sum(ours[seed].needed < plain[seed].needed for seed in seeds) / len(seeds)
    counts = {"better": better, "seeds": len(seeds), "bounds": bounds(ours, plain, seeds)}
    counts |= {"untold": len(set(ours) & set(plain)) - len(seeds)}
    mine, theirs = ([group[seed].bounded for seed in seeds] for group in (ours, plain))
    return paired_difference(mine, theirs) | counts
