"""What a matrix of runs says: paired over seeds, with intervals, whichever way it falls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from scipy.stats import trim_mean

DRAWS = 2_000
Values = NDArray[np.float64]


def paired_difference(ours: Sequence[float], plain: Sequence[float], seed: int = 0) -> dict[str, Any]:
    """Mean of ours − plain over the same seeds, and 95 % of the mean, twice.

    ``low`` and ``high`` are Student's, which a single seed has none of. The bootstrap's are beside them: of three
    seeds it is no more than the least and the largest, which holds the truth in three cases of four.
    """
    gaps = np.asarray(ours, dtype=float) - np.asarray(plain, dtype=float)
    mean, count = float(gaps.mean()), len(gaps)
    rows = np.random.default_rng(seed).integers(count, size=(DRAWS, count))
    low, high = np.quantile(gaps[rows].mean(axis=1), [0.025, 0.975])
    bootstrap = {"bootstrap_low": float(low), "bootstrap_high": float(high)}
    bounds: dict[str, float | None] = {"low": None, "high": None}
    if count > 1:
        reach = float(student.ppf(0.975, count - 1) * gaps.std(ddof=1) / math.sqrt(count))
        bounds = {"low": mean - reach, "high": mean + reach}
    return {"mean": mean, **bounds, **bootstrap}


def interquartile_mean(values: Sequence[float] | Values) -> float:
    """Mean of the middle half: what a typical run gives, outliers aside."""
    return float(trim_mean(values, 0.25))


def typical_ratio(ours: Sequence[Sequence[float]], plain: Sequence[Sequence[float]], seed: int = 0) -> dict[str, float]:
    """Interquartile mean over all skills and seeds of log(ours / plain), paired by seed, as a ratio, with its interval.

    Of the ratios themselves the mean would be above one where nothing differs, and another if both changed places.

    Args:
        ours: per skill the samples of every seed, lower is better. plain: likewise, the same seeds.
    """
    ratios = [
        np.log(np.asarray(mine, dtype=float) / np.asarray(other)) for mine, other in zip(ours, plain, strict=True)
    ]

    def typical(draw: Callable[[Values], Values]) -> float:
        return math.exp(interquartile_mean(np.concatenate([draw(each) for each in ratios])))

    low, high = _interval(typical, seed)
    return {"ratio": typical(lambda values: values), "ratio_low": low, "ratio_high": high}


def probability_of_improvement(
    ours: Sequence[Sequence[float]], plain: Sequence[Sequence[float]], seed: int = 0
) -> dict[str, float]:
    """Chance that a random run of ours needs less than a random plain one, averaged over skills, 95 % interval.

    Args:
        ours: per skill the samples of every seed, lower is better. plain: likewise.
    """
    skills = [
        (np.asarray(mine, dtype=float), np.asarray(other, dtype=float)) for mine, other in zip(ours, plain, strict=True)
    ]

    def average(draw: Callable[[Values], Values]) -> float:
        return float(np.mean([_chance(draw(mine), draw(other)) for mine, other in skills]))

    low, high = _interval(average, seed)
    return {"probability": average(lambda values: values), "low": low, "high": high}


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
