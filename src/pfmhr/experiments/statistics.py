"""What a matrix of runs says: paired over seeds, with intervals, whichever way it falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 2_000


def paired_difference(ours: Sequence[float], plain: Sequence[float], seed: int = 0) -> dict[str, float]:
    """Mean of ours − plain over the same seeds with a 95 % bootstrap interval, and the share of seeds below zero."""
    gaps = np.asarray(ours, dtype=float) - np.asarray(plain, dtype=float)
    rows = np.random.default_rng(seed).integers(len(gaps), size=(DRAWS, len(gaps)))
    low, high = np.quantile(gaps[rows].mean(axis=1), [0.025, 0.975])
    return {"mean": float(gaps.mean()), "low": float(low), "high": float(high), "better": float((gaps < 0).mean())}


def interquartile_mean(values: Sequence[float]) -> float:
    """Mean of the middle half: what a typical run gives, outliers aside."""
    ordered = np.sort(np.asarray(values, dtype=float))
    cut = len(ordered) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def probability_of_improvement(
    ours: Sequence[Sequence[float]], plain: Sequence[Sequence[float]], seed: int = 0
) -> dict[str, float]:
    """Chance that a random run of ours needs less than a random plain one, averaged over skills, 95 % interval.

    Args:
        ours: per skill the samples of every seed, lower is better. plain: likewise.
    """
    generator = np.random.default_rng(seed)

    def average(draw: bool) -> float:
        chances = []
        for mine, other in zip(ours, plain, strict=True):
            a, b = np.asarray(mine, dtype=float), np.asarray(other, dtype=float)
            if draw:  # resampled within each skill, so that skills keep their weight
                a, b = generator.choice(a, len(a)), generator.choice(b, len(b))
            chances.append(_chance(a, b))
        return float(np.mean(chances))

    draws = [average(True) for _ in range(DRAWS)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"probability": average(False), "low": float(low), "high": float(high)}


def _chance(ours: NDArray[np.float64], plain: NDArray[np.float64]) -> float:
    less = (ours[:, None] < plain[None]).mean()
    return float(less + 0.5 * (ours[:, None] == plain[None]).mean())


def success_at(result: dict[str, Any], samples: float) -> float:
    """Success rate of a run at a budget, interpolated between its evaluations."""
    seen = [each["samples"] for each in result["evaluations"]]
    return float(np.interp(samples, seen, [each["success"] for each in result["evaluations"]]))
