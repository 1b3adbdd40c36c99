"""Statistics of runs, by scipy: paired differences, bootstrap intervals, chances, power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import root_scalar

DRAWS = 2_000
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Mean and population deviation of several runs, as the paper reports them."""

    mean: float
    deviation: float | None
    """None where a stored result does not tell."""

    @staticmethod
    def of(values: Sequence[float | None]) -> Spread | None:
        """Of the values that are there; None if there is none."""
        there = [value for value in values if value is not None]
        return Spread(float(np.mean(there)), float(np.std(there))) if there else None


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """Mean difference of pairs, ours − theirs, with 95 % intervals."""

    mean: float
    low: float | None = None
    """Student's interval, which a single pair has none of."""
    high: float | None = None
    bootstrap_low: float | None = None
    """Percentile bootstrap: of three pairs it is no more than the least and the largest."""
    bootstrap_high: float | None = None
    deviation: float | None = None
    """Sample standard deviation of the differences."""
    detectable: float | None = None
    """The true difference that as many pairs would find in four experiments of five, given this deviation."""


def paired_difference(ours: Sequence[float], theirs: Sequence[float], seed: int = 0) -> PairedDifference:
    """Of at least one pair; of one there is neither interval nor deviation."""
    gaps = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    mean = float(gaps.mean())
    if len(gaps) == 1:
        return PairedDifference(mean=mean, bootstrap_low=mean, bootstrap_high=mean)
    low = high = mean
    if np.ptp(gaps) > 0:  # of equal differences Student's t is 0 / 0
        low, high = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    bootstrap_low, bootstrap_high = bootstrap_interval([gaps], _mean, seed=seed)
    deviation = float(gaps.std(ddof=1))
    return PairedDifference(
        mean=mean,
        low=float(low),
        high=float(high),
        bootstrap_low=bootstrap_low,
        bootstrap_high=bootstrap_high,
        deviation=deviation,
        detectable=detectable_difference(deviation, len(gaps)),
    )


def power_of_pairs(difference: float, deviation: float, pairs: int, level: float = 0.05) -> float:
    """Chance that a paired two-sided t-test finds a true ``difference``.

    Args:
        deviation: standard deviation of the differences, above 0. pairs: at least 2. level: of the test.
    """
    freedom, shift = pairs - 1, abs(difference) / deviation * math.sqrt(pairs)
    if shift == 0:
        return level
    # Both tails of the noncentral t are one tail of its square, the noncentral F, which scipy computes everywhere.
    return float(stats.ncf.sf(stats.f.ppf(1 - level, 1, freedom), 1, freedom, shift**2))


def detectable_difference(deviation: float, pairs: int, power: float = 0.8, level: float = 0.05) -> float | None:
    """The least true difference that so many pairs find with this power; None of a single pair."""
    if pairs < 2:
        return None
    if deviation == 0:
        return 0.0

    def lacking(difference: float) -> float:
        return power_of_pairs(difference, 1.0, pairs, level) - power

    most = 1.0
    while lacking(most) < 0:
        most *= 2.0
    return deviation * root_scalar(lacking, bracket=(0.0, most), xtol=1e-9).root


def _mean(*samples: Values, axis: int = -1) -> Values:
    return samples[0].mean(axis=axis)


class Statistic(Protocol):
    """A figure of several samples, along an axis of each."""

    def __call__(self, *samples: Values, axis: int = -1) -> ArrayLike:
        """The figure; each sample ``(..., n)``."""
        ...


def bootstrap_interval(
    samples: Sequence[Values], statistic: Statistic, paired: bool = False, draws: int = DRAWS, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile interval of a statistic when each sample ``(n,)`` is drawn anew from itself.

    Unless ``paired``, samples are drawn independently, so that each (a skill, a method) keeps its weight. A sample of
    one value does not vary; scipy refuses those, so at least two values of each are needed.
    """
    drawn = stats.bootstrap(
        samples, statistic, paired=paired, vectorized=True, method="percentile", n_resamples=draws, rng=seed
    )
    return float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)


def interval_of_mean(values: ArrayLike, weights: ArrayLike) -> tuple[float, float]:
    """95 % bootstrap interval of a weighted mean over episodes; both ``(N,)``."""
    first, second = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    if len(first) == 1:
        return float(first[0]), float(first[0])

    def mean(*samples: Values, axis: int = -1) -> Values:
        return (samples[0] * samples[1]).sum(axis=axis) / np.maximum(samples[1].sum(axis=axis), 1e-9)

    return bootstrap_interval([first, second], mean, paired=True, draws=500)


def interquartile_mean(values: ArrayLike, axis: int = -1) -> Values:
    """Mean of the middle half: what a typical run gives, outliers aside."""
    return np.asarray(stats.trim_mean(np.asarray(values), 0.25, axis=axis))


@dataclass(frozen=True)
class Interval:
    """A figure and 95 % of it."""

    value: float
    low: float
    high: float


def typical_ratio(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Interval:
    """Interquartile mean over all skills and seeds of log(ours / theirs), paired by seed, as a ratio.

    The mean of the ratios themselves would be above one where nothing differs, and would change with the order.

    Args:
        ours: per skill the samples of every seed, lower is better. theirs: likewise, the same seeds.
    """
    logs = [np.log(np.asarray(mine) / np.asarray(other)) for mine, other in zip(ours, theirs, strict=True)]

    def typical(*samples: Values, axis: int = -1) -> Values:
        return np.exp(interquartile_mean(np.concatenate(samples, axis=axis), axis=axis))

    return Interval(float(typical(*logs)), *bootstrap_interval(logs, typical))


def probability_of_improvement(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Interval:
    """Chance that a random run of ours needs less than a random one of theirs, averaged over skills.

    Args:
        ours: per skill the samples of every seed, lower is better. theirs: likewise.
    """
    groups = [np.asarray(group, dtype=float) for pair in zip(ours, theirs, strict=True) for group in pair]

    def average(*samples: Values, axis: int = -1) -> Values:
        pairs = zip(samples[::2], samples[1::2], strict=True)
        return np.mean([chance_above(other, mine, axis) for mine, other in pairs], axis=0)

    return Interval(float(average(*groups)), *bootstrap_interval(groups, average))


def chance_above(first: ArrayLike, second: ArrayLike, axis: int = -1) -> Values:
    """Chance that a value of ``first`` lies above one of ``second``, ties half: the area under the ROC curve."""
    above, below = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    count = stats.mannwhitneyu(above, below, axis=axis, method="asymptotic").statistic
    return np.asarray(count / (above.shape[axis] * below.shape[axis]))
