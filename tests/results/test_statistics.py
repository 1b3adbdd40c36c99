"""Statistics by hand, and against experiments of which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from pfmhr.results.evaluation import Evaluation
from pfmhr.results.run_result import RunResult
from pfmhr.results.statistics import (
    Spread,
    chance_above,
    detectable_difference,
    interquartile_mean,
    interval_of_mean,
    paired_difference,
    power_of_pairs,
    probability_of_improvement,
    typical_ratio,
)


def test_statistics_by_hand() -> None:
    gap = paired_difference([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    assert gap.mean == 0.0 and gap.low < 0.0 < gap.high
    assert interquartile_mean([0.0, 1.0, 2.0, 100.0]) == 1.5
    assert probability_of_improvement([[1.0, 3.0]], [[2.0, 3.0]]).value == pytest.approx(0.625)


def test_a_typical_ratio_pairs_seeds_and_leaves_outliers_out() -> None:
    """Eight pairs: ratios 0.5 six times, one of 0.1 and one of 9, of which a quarter at each end is cut."""
    plain = [[2.0] * 4, [4.0] * 4]
    ours = [[1.0, 1.0, 1.0, 0.2], [2.0, 2.0, 2.0, 36.0]]
    typical = typical_ratio(ours, plain)
    assert typical.value == 0.5 and typical.low <= 0.5 <= typical.high
    assert typical == typical_ratio(ours, plain)  # drawn from a seed
    both = typical_ratio([[1.0, 3.0]], [[2.0, 2.0]])
    assert (both.value, both.low, both.high) == pytest.approx((0.75**0.5, 0.5, 1.5))
    turned = typical_ratio([[2.0, 2.0]], [[1.0, 3.0]])
    assert turned.value == pytest.approx(1.0 / both.value)


@pytest.mark.parametrize("pairs", [3, 5, 20])
def test_intervals_hold_the_truth_as_often_as_they_say(pairs: int) -> None:
    """400 experiments with a true difference of 1: a 95 % interval of the mean misses a few of them."""
    generator = np.random.default_rng(pairs)
    held = 0
    for number in range(400):
        gap = paired_difference(generator.normal(1.0, 1.0, pairs), np.zeros(pairs), seed=number)
        held += gap.low <= 1.0 <= gap.high
        assert gap.bootstrap_low <= gap.mean <= gap.bootstrap_high
    assert 0.92 <= held / 400 <= 0.98


def test_students_interval_by_hand() -> None:
    """Differences 0.1 and 0.5: mean 0.3, deviation 0.4 / √2, of which Student's 12.7062 over √2."""
    gap = paired_difference([1.1, 2.5], [1.0, 2.0])
    assert (gap.mean, gap.deviation) == pytest.approx((0.3, 0.4 / 2**0.5))
    assert (gap.low, gap.high) == pytest.approx((0.3 - 12.7062 * 0.2, 0.3 + 12.7062 * 0.2), rel=1e-5)
    alike = paired_difference([1.5, 2.5, 3.5], [1.0, 2.0, 3.0])
    assert (alike.low, alike.high, alike.bootstrap_low, alike.detectable) == (0.5, 0.5, 0.5, 0.0)
    single = paired_difference([1.0], [3.0])
    assert (single.mean, single.low, single.deviation, single.detectable) == (-2.0, None, None, None)


def test_power_is_what_tables_of_it_say() -> None:
    """Cohen: a difference of one deviation needs 10 pairs for a power of 0.80, one of a half needs 34."""
    assert power_of_pairs(1.0, 1.0, 10) == pytest.approx(0.803, abs=5e-4)
    assert power_of_pairs(0.5, 1.0, 33) < 0.8 < power_of_pairs(0.5, 1.0, 34)
    assert power_of_pairs(0.0, 1.0, 5) == 0.05 and power_of_pairs(-1.0, 2.0, 7) == power_of_pairs(1.0, 2.0, 7)


@pytest.mark.parametrize("pairs", [2, 3, 5, 20])
def test_what_is_detectable_is_found_four_times_of_five(pairs: int) -> None:
    """20,000 experiments of normal differences with just that mean."""
    least = detectable_difference(0.3, pairs)
    assert least is not None and power_of_pairs(least, 0.3, pairs) == pytest.approx(0.8, abs=1e-6)
    gaps = np.random.default_rng(pairs).normal(least, 0.3, (20_000, pairs))
    limit = {2: 12.7062, 3: 4.30265, 5: 2.77645, 20: 2.09302}[pairs]  # Student's, of a table
    found = np.abs(gaps.mean(axis=1)) * pairs**0.5 / gaps.std(axis=1, ddof=1) > limit
    assert found.mean() == pytest.approx(0.8, abs=0.012)
    assert detectable_difference(0.3, 1) is None and detectable_difference(0.0, 4) == 0.0


def test_a_chance_counts_ties_half() -> None:
    assert chance_above([1.0, 3.0], [2.0, 3.0]) == 0.375
    assert chance_above([np.inf, 1.0], [np.inf, 2.0]) == 0.375
    assert chance_above(np.array([[1.0, 3.0], [5.0, 6.0]]), np.array([[2.0, 3.0], [0.0, 0.0]])).tolist() == [0.375, 1.0]


def test_an_interval_of_a_weighted_mean_is_around_it() -> None:
    values, weights = np.arange(200.0), np.where(np.arange(200) < 100, 3.0, 1.0)
    low, high = interval_of_mean(values, weights)
    mean = (values * weights).sum() / weights.sum()
    error = np.sqrt((weights**2 * (values - mean) ** 2).sum()) / weights.sum()
    assert (mean - low, high - mean) == pytest.approx((1.96 * error, 1.96 * error), rel=0.15)
    assert interval_of_mean([0.7], [2.0]) == (0.7, 0.7)


def test_a_spread_is_of_what_is_there() -> None:
    assert Spread.of([1.0, None, 3.0]) == Spread(2.0, 1.0) and Spread.of([None]) is None


def run(*points: tuple[int, float]) -> RunResult:
    evaluations = tuple(Evaluation(samples=samples, success=success) for samples, success in points)
    final = {"random": evaluations[-1]}
    return RunResult(samples_to_80=None, samples=points[-1][0], grid=1, seconds=1, final=final, evaluations=evaluations)


def test_the_area_is_mean_success_up_to_a_budget() -> None:
    """0 to 1 over 10 samples, then 1: areas 5, 5 + 5 and, cut within the rise, 0.08 of 0.4."""
    curve = run((0, 0.0), (10, 1.0), (20, 1.0))
    assert (curve.area(10), curve.area(15), curve.area(20), curve.area(4)) == pytest.approx((0.5, 10 / 15, 0.75, 0.2))
    assert curve.success_at(4.0) == pytest.approx(0.4)
