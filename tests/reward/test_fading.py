"""A modulator that fades, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.reward import Fading, RewardModulator

from .gauge import DT, gauge, percents, steps_scoring


def test_factors_and_statistics_fade_over_so_many_transitions() -> None:
    """u = 0.01 and 0.5: factors exp(−½) and 1 to the powers 1, ½ and 0."""
    made = Fading(RewardModulator(gauge(), percents()), samples=4)
    for power in (1.0, 0.5, 0.0, 0.0):
        assert made.strength == power
        factors = made(*steps_scoring([0.01, 0.5]), DT)
        assert factors.tolist() == pytest.approx([math.exp(-0.5 * power), 1.0])
        figures = made.statistics()
        assert figures["multiplier"] == pytest.approx((math.exp(-0.5 * power) + 1.0) / 2)
        assert (figures["strength"], figures["share_bad"], figures["percentile"]) == (power, 0.5, pytest.approx(0.255))
    assert made.statistics() == {}


def test_transitions_that_are_not_valid_count_for_time_but_not_for_the_mean() -> None:
    made = Fading(RewardModulator(gauge(), percents()), samples=8)
    made(*steps_scoring([0.01, 0.0]), DT, valid=torch.tensor([True, False]))
    assert made.seen == 2 and made.statistics(reset=False)["multiplier"] == pytest.approx(math.exp(-0.5))
    made(*steps_scoring([0.01, 0.01]), DT)
    expected = (math.exp(-0.5) + 2 * math.exp(-0.375)) / 3
    assert made.statistics()["multiplier"] == pytest.approx(expected)


def test_going_on_from_a_checkpoint_is_going_on() -> None:
    made = Fading(RewardModulator(gauge(), percents()), samples=4)
    made.seen = 3
    assert made(*steps_scoring([0.01]), DT).item() == pytest.approx(math.exp(-0.125))
    assert made.combine(torch.tensor([2.0]), torch.tensor([0.5])).item() == 1.0


@pytest.mark.parametrize("samples", [0, -1, 2.5])
def test_it_fades_over_at_least_one_transition(samples: float) -> None:
    with pytest.raises(InputError, match="samples must be a whole number"):
        Fading(RewardModulator(gauge(), percents()), samples)  # type: ignore[arg-type]
