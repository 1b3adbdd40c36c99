"""The ramp from percentile to factor, Eq. 17, by hand and as a law."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.reward import Ramp

from ..score.priors import refused

SHARES = st.floats(0.0, 1.0, width=32)


@pytest.mark.parametrize(
    ("percentile", "exponent"),
    [(1.0, 0.0), (0.5, 0.0), (0.05, 0.0), (0.04, -0.125), (0.03, -0.25), (0.02, -0.375), (0.01, -0.5), (0.0, -0.5)],
)
def test_the_factor_by_hand(percentile: float, exponent: float) -> None:
    """α = 0.5 and ρ = (0.05 − u)/0.04."""
    assert Ramp().multiplier(torch.tensor(percentile)).item() == pytest.approx(math.exp(exponent), abs=1e-6)


def test_from_p_good_on_the_reward_is_left_alone_exactly() -> None:
    assert Ramp().multiplier(torch.tensor([0.05, 0.051, 0.3, 1.0])).tolist() == [1.0] * 4


def test_other_ramps_by_hand() -> None:
    """α = 2, from 0.2 to 0.6: ρ(0.3) = 0.75."""
    factors = Ramp(2.0, 0.6, 0.2).multiplier(torch.tensor([0.1, 0.2, 0.3, 0.5, 0.6]))
    assert factors.tolist() == pytest.approx([math.exp(-2.0 * rho) for rho in (1.0, 1.0, 0.75, 0.25, 0.0)])


def test_a_ramp_of_no_strength_changes_nothing() -> None:
    assert Ramp(alpha=0.0).multiplier(torch.tensor([0.0, 0.02, 1.0])).tolist() == [1.0] * 3


def test_the_widest_ramp_goes_from_nothing_to_everything() -> None:
    factors = Ramp(1.0, p_good=1.0, p_bad=0.0).multiplier(torch.tensor([0.0, 0.25, 1.0]))
    assert factors.tolist() == pytest.approx([math.exp(-1.0), math.exp(-0.75), 1.0])


def test_regions_by_hand() -> None:
    percentiles = torch.tensor([0.0, 0.0099, 0.01, 0.03, 0.0499, 0.05, 1.0])
    assert Ramp().region(percentiles).tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_counted_percentiles_fall_on_the_edges_of_regions() -> None:
    """1 of 100 and 5 of 100, divided in float32 as percentiles are."""
    shares = torch.tensor([1, 5]).float() / torch.tensor([100, 100])
    assert Ramp().region(shares).tolist() == [1, 2]
    assert Ramp().multiplier(shares).tolist() == pytest.approx([math.exp(-0.5), 1.0], abs=1e-6)


def test_shapes_are_kept() -> None:
    ramp = Ramp()
    for shape in ((), (0,), (4,), (2, 3)):
        assert ramp.multiplier(torch.zeros(shape)).shape == ramp.region(torch.zeros(shape)).shape == shape


@pytest.mark.parametrize(
    ("alpha", "p_good", "p_bad"),
    [
        (-0.1, 0.05, 0.01),
        (math.nan, 0.05, 0.01),
        (math.inf, 0.05, 0.01),
        (0.5, 0.05, 0.05),
        (0.5, 0.01, 0.05),
        (0.5, 0.05, -0.01),
        (0.5, 1.01, 0.01),
        (0.5, math.nan, 0.01),
        (0.5, 0.05, math.nan),
    ],
)
def test_impossible_ramps_are_refused(alpha: float, p_good: float, p_bad: float) -> None:
    with refused("bad_config", "impossible ramp"):
        Ramp(alpha, p_good, p_bad)


@given(st.lists(SHARES, min_size=2, max_size=20), st.floats(0.0, 5.0), st.lists(SHARES, min_size=2, max_size=2))
def test_a_higher_percentile_never_lowers_the_factor(
    percentiles: list[float], alpha: float, edges: list[float]
) -> None:
    low, high = sorted(edges)
    if high - low < 1e-4:
        high, low = 1.0, 0.5
    ramp, ordered = Ramp(alpha, high, low), torch.tensor(sorted(percentiles))
    factors = ramp.multiplier(ordered)
    assert bool((factors.diff() >= -1e-6).all())
    assert bool((factors >= math.exp(-alpha) - 1e-6).all()) and bool((factors <= 1.0).all())
    assert bool((ramp.region(ordered).diff() >= 0).all())
