"""What a matrix of runs says: paired over seeds, with intervals, whichever way it falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 2_000
Values = NDArray[np.float64]


def paired_difference(ours: Sequence[float], plain: Sequence[float], seed: int = 0) -> dict[str, float]:
    """Mean of ours − plain over the same seeds with a 95 % bootstrap interval, and the share of seeds below zero."""
    gaps = np.asarray(ours, dtype=float) - np.asarray(plain, dtype=float)
    rows = np.random.default_rng(seed).integers(len(gaps), size=(DRAWS, len(gaps)))
    low, high = np.quantile(gaps[rows].mean(axis=1), [0.025, 0.975])
    return {"mean": float(gaps.mean()), "low": float(low), "high": float(high), "better": float((gaps < 0).mean())}


def interquartile_mean(values: Sequence[float] | Values) -> float:
    """Mean of the middle half: what a typical run gives, outliers aside."""
    ordered = np.sort(np.asarray(values, dtype=float))
    cut = len(ordered) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def typical_ratio(ours: Sequence[Sequence[float]], plain: Sequence[Sequence[float]], seed: int = 0) -> dict[str, float]:
    """Interquartile mean over all skills and seeds of ours / plain, paired by seed, with a 95 % interval.

    Args:
        ours: per skill the samples of every seed, lower is better. plain: likewise, the same seeds.
    """
    ratios = [np.asarray(mine, dtype=float) / np.asarray(other, dtype=float) for mine, other in _pairs(ours, plain)]

    def typical(draw: Callable[[Values], Values]) -> float:
        return interquartile_mean(np.concatenate([draw(each) for each in ratios]))

    low, high = _interval(typical, seed)
    return {"ratio": typical(lambda values: values), "ratio_low": low, "ratio_high": high}


def probability_of_improvement(
    ours: Sequence[Sequence[float]], plain: Sequence[Sequence[float]], seed: int = 0
) -> dict[str, float]:
    """Chance that a random run of ours needs less than a random plain one, averaged over skills, 95 % interval.

    Args:
        ours: per skill the samples of every seed, lower is better. plain: likewise.
    """
    skills = [(np.asarray(mine, dtype=float), np.asarray(other, dtype=float)) for mine, other in _pairs(ours, plain)]

    def average(draw: Callable[[Values], Values]) -> float:
        return float(np.mean([_chance(draw(mine), draw(other)) for mine, other in skills]))

    low, high = _interval(average, seed)
    return {"probability": average(lambda values: values), "low": low, "high": high}


def _pairs(
    ours: Sequence[Sequence[float]], plain: Sequence[Sequence[float]]
) -> list[tuple[Sequence[float], Sequence[float]]]:
    return list(zip(ours, plain, strict=True))


def _interval(statistic: Callable[[Callable[[Values], Values]], float], seed: int) -> tuple[float, float]:
    """95 % of a statistic when runs are drawn anew within each skill, so that skills keep their weight."""
    generator = np.random.default_rng(seed)
    draws = [statistic(lambda values: generator.choice(values, len(values))) for _ in range(DRAWS)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _chance(ours: Values, plain: Values) -> float:
    less = (ours[:, None] < plain[None]).mean()
    return float(less + 0.5 * (ours[:, None] == plain[None]).mean())


def success_at(result: dict[str, Any], samples: float) -> float:
    """Success rate of a run at a budget, interpolated between its evaluations."""
    seen = [each["samples"] for each in result["evaluations"]]
    return float(np.interp(samples, seen, [each["success"] for each in result["evaluations"]]))
