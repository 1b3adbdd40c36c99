"""Score → percentile → factor: the whole chain by hand."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.reward import Calibration, NoModulation, Ramp, ReconstructionModulator, RewardModulator
from pfmhr.score import PoseGeometryScore, ReconstructionScore

from ..score.priors import random_prior, refused, seeded
from .gauge import DT, clip_scoring, gauge, percents, steps_scoring

HALF = math.exp(-0.5)


def test_the_chain_by_hand() -> None:
    """Score k/100 has percentile k/100; ρ = (0.05 − u)/0.04."""
    modulator = RewardModulator(gauge(), percents())
    factors = modulator(*steps_scoring([0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.5, 1.0]), DT)
    exponents = [-0.5, -0.5, -0.375, -0.25, -0.125, 0.0, 0.0, 0.0]
    assert factors.tolist() == pytest.approx([math.exp(exponent) for exponent in exponents], abs=1e-6)
    assert factors.dtype == torch.float32


def test_the_chain_by_hand_with_another_ramp() -> None:
    """α = 2 between the percentiles 0.2 and 0.6."""
    modulator = RewardModulator(gauge(), percents(), Ramp(alpha=2.0, p_good=0.6, p_bad=0.2))
    factors = modulator(*steps_scoring([0.1, 0.3, 0.5, 0.7]), DT)
    assert factors.tolist() == pytest.approx([math.exp(-2 * rho) for rho in (1.0, 0.75, 0.25, 0.0)], abs=1e-5)


def test_the_chain_follows_from_the_calibrations_own_values() -> None:
    """A network's scores, noise drawn twice from the same seed, counted one by one."""
    made = PoseGeometryScore(random_prior(2, dtype=torch.float32), samples=2)
    motion = clip_scoring(np.linspace(0.0, 1.0, 60).tolist())
    calibration = Calibration.fit(made, [motion], DT, seeded(1))
    before, after = steps_scoring(np.linspace(0.0, 1.0, 25).tolist())
    modulator = RewardModulator(made, calibration, Ramp(1.0, 0.9, 0.1))
    factors = modulator(before, after, DT, generator=seeded(2))
    scores, reference = made(before, after, DT, generator=seeded(2)).numpy(), calibration.values[0][0].numpy()
    percentiles = (reference[None] <= scores[:, None]).mean(axis=1)
    expected = np.exp(-np.clip((0.9 - percentiles) / 0.8, 0.0, 1.0))
    assert factors.tolist() == pytest.approx(expected.tolist(), abs=1e-5)
    assert len(set(factors.tolist())) > 5


def test_where_nothing_moves_there_is_nothing_to_judge() -> None:
    """As in the reference: slower than 10⁻⁴ rad/s is standing still."""
    modulator = RewardModulator(gauge(), percents())
    before = torch.zeros(3, 2)
    after = torch.tensor([[0.0, 0.0], [0.0, 0.9e-4 * DT], [0.0, 1.1e-4 * DT]])
    assert modulator(before, after, DT).tolist() == pytest.approx([1.0, 1.0, math.exp(-0.5)])
    assert modulator.statistics()["masked"] == 2


def test_invalid_transitions_are_left_alone() -> None:
    modulator = RewardModulator(gauge(), percents())
    before, after = steps_scoring([0.0, 0.0, 0.0])
    before[1] = math.nan  # what a reset leaves behind
    factors = modulator(before, after, DT, valid=torch.tensor([True, False, True]))
    assert factors.tolist() == pytest.approx([HALF, 1.0, HALF], abs=1e-6)
    assert modulator(before, after, DT, valid=torch.zeros(3, dtype=torch.bool)).tolist() == [1.0] * 3


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_broken_poses_are_left_alone_and_counted(broken: float) -> None:
    modulator = RewardModulator(gauge(), percents())
    before, after = steps_scoring([0.0, 0.0, 0.0, 0.0])
    before[0, 1], after[2, 0] = broken, broken
    assert modulator(before, after, DT).tolist() == pytest.approx([1.0, HALF, 1.0, HALF], abs=1e-6)
    assert modulator.statistics()["not_finite"] == 2


def test_an_exploded_pose_has_a_percentile_between_0_and_1() -> None:
    """A change from −3e38 to 3e38 rad is finite at both ends and infinite in between."""
    motions = [clip_scoring([0.2, 0.4]), clip_scoring([0.6, 0.8])]
    modulator = RewardModulator(gauge(), Calibration.fit(gauge(), motions, DT))
    far = torch.full((1, 2), 3e38)
    factor = modulator(-far, far, DT, motion_id=1)
    assert HALF - 1e-6 <= factor.item() <= 1.0
    assert 0.0 <= modulator.statistics()["percentile"] <= 1.0


def test_statistics_by_hand() -> None:
    """Judged: u = 0.03, 0.01 and 0.5. Not judged: one invalid, one not finite."""
    modulator = RewardModulator(gauge(), percents())
    before, after = steps_scoring([0.03, 0.01, 0.5, 0.0, 0.0])
    after[4, 1] = math.nan
    modulator(before, after, DT, valid=torch.tensor([True, True, True, False, True]))
    expected = {
        "multiplier": (math.exp(-0.25) + HALF + 1.0) / 3,
        "percentile": 0.18,
        "share_good": 1 / 3,
        "share_between": 1 / 3,
        "share_bad": 1 / 3,
        "masked": 2.0,
        "not_finite": 1.0,
    }
    assert modulator.statistics(reset=False) == pytest.approx(expected, abs=1e-6)
    modulator(before, after, DT, valid=torch.tensor([True, True, True, False, True]))
    assert modulator.statistics() == pytest.approx({**expected, "masked": 4.0, "not_finite": 2.0}, abs=1e-6)
    assert modulator.statistics() == {}


def test_statistics_start_again_after_they_were_read() -> None:
    modulator = RewardModulator(gauge(), percents())
    modulator(*steps_scoring([0.0]), DT)
    assert modulator.statistics()["share_bad"] == 1.0
    modulator(*steps_scoring([1.0]), DT)
    shares = {"share_good": 1.0, "share_between": 0.0, "share_bad": 0.0}
    assert modulator.statistics() == {"multiplier": 1.0, "percentile": 1.0, **shares, "masked": 0.0, "not_finite": 0.0}
    modulator(*steps_scoring([0.0]), DT, valid=torch.tensor([False]))
    assert modulator.statistics()["multiplier"] == 1.0  # nothing was judged


def test_environments_on_different_motions_are_what_each_is_alone() -> None:
    motions = [clip_scoring(np.linspace(low, low + 0.2, 30).tolist()) for low in (0.0, 0.3, 0.7)]
    calibration = Calibration.fit(gauge(), motions, DT)
    modulator = RewardModulator(gauge(), calibration, Ramp(p_good=0.9, p_bad=0.1))
    scores = np.random.default_rng(0).uniform(size=200).tolist()
    ids = torch.randint(3, (200,), generator=seeded(0))
    before, after = steps_scoring(scores)
    together = modulator(before, after, DT, motion_id=ids)
    for number in range(3):
        mine = ids == number
        alone = RewardModulator(gauge(), Calibration.fit(gauge(), [motions[number]], DT), Ramp(p_good=0.9, p_bad=0.1))
        assert torch.allclose(together[mine], alone(before[mine], after[mine], DT), rtol=1e-4, atol=1e-6)
        assert torch.allclose(
            together[mine], modulator(before[mine], after[mine], DT, motion_id=number), rtol=1e-4, atol=1e-6
        )
    assert len(together.unique()) > 15


@given(st.lists(st.floats(0.0, 1.0), max_size=12), st.floats(0.0, 3.0), st.integers(0, 1000))
def test_factors_stay_within_their_bounds(scores: list[float], alpha: float, seed: int) -> None:
    modulator = RewardModulator(gauge(), percents(), Ramp(alpha, p_good=0.8, p_bad=0.2))
    factors = modulator(*steps_scoring(scores), DT, generator=seeded(seed))
    assert factors.shape == (len(scores),)
    assert bool((factors >= math.exp(-alpha) - 1e-6).all()) and bool((factors <= 1.0).all())


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_factors_need_no_gradients(mode: Any) -> None:
    modulator = RewardModulator(gauge(), percents())
    with mode():
        factors = modulator(*steps_scoring([0.03, 0.5]), DT)
    assert factors.tolist() == pytest.approx([math.exp(-0.25), 1.0], abs=1e-6) and not factors.requires_grad
    modulator(*steps_scoring([0.03, 0.5]), DT)
    assert modulator.statistics()["share_between"] == 0.5


def test_poses_may_be_arrays_of_numpy() -> None:
    before, after = steps_scoring([0.03, 0.5])
    modulator = RewardModulator(gauge(), percents())
    factors = modulator(before.numpy(), after.double().numpy(), DT)
    assert factors.tolist() == pytest.approx([math.exp(-0.25), 1.0], abs=1e-6)
    backwards = modulator(before.numpy()[::-1], after.numpy()[::-1], DT)  # arrays that torch cannot look into
    assert backwards.tolist() == pytest.approx([1.0, math.exp(-0.25)], abs=1e-6)


@cache
def modulators() -> tuple[RewardModulator | ReconstructionModulator, ...]:
    error = ReconstructionScore(gauge().prior)
    other = Calibration.fit(error, [clip_scoring([0.1, 0.9])], DT, seeded(0))
    return RewardModulator(gauge(), percents()), ReconstructionModulator(error, other)


@pytest.mark.parametrize("which", [0, 1], ids=["pose geometry", "reconstruction"])
def test_what_does_not_fit_is_refused(which: int) -> None:
    modulator, (before, after) = modulators()[which], steps_scoring([0.1, 0.9])
    for number in (1, -1, torch.tensor([0, 1])):
        with refused("unknown_name", "motion number"):
            modulator(before, after, DT, motion_id=number)
    for number in (torch.tensor([0.0, 0.0]), torch.tensor([0]), torch.tensor([[0, 0]])):
        with refused("bad_shape", "motion number"):
            modulator(before, after, DT, motion_id=number)
    for valid in (torch.ones(2), torch.ones(3, dtype=torch.bool), torch.ones(2, 1, dtype=torch.bool)):
        with refused("bad_shape", "valid"):
            modulator(before, after, DT, valid=valid)
    with refused("wrong_calibration", "0.02 s", "0.0333333 s"):
        modulator(before, after, 0.02)
    with refused("bad_shape", "(N, 2)"):
        modulator(before[:, :1], after[:, :1], DT)
    assert modulator.statistics() == {}


def test_a_time_step_that_is_no_number_is_refused() -> None:
    for modulator in modulators():
        with pytest.raises(InputError, match="time step"):
            modulator(*steps_scoring([0.1]), math.nan)


def test_a_calibration_of_another_score_is_refused() -> None:
    with refused("wrong_calibration", "t_eval [0.5]", "t_eval [0.75]"):
        RewardModulator(gauge(t_eval=0.5), percents())
    with refused("wrong_calibration"):
        ReconstructionModulator(ReconstructionScore(gauge().prior), percents())
    with refused("bad_config"):
        RewardModulator(gauge(), percents(), Ramp(p_good=0.01, p_bad=0.05))


def test_no_modulation_is_one() -> None:
    for poses in (torch.zeros(4, 2), np.zeros((4, 2))):
        factors = NoModulation()(poses, poses, DT, motion_id=7, valid=torch.zeros(4, dtype=torch.bool))
        assert factors.tolist() == [1.0] * 4
    assert NoModulation()(torch.zeros(0, 2), torch.zeros(0, 2), DT).shape == (0,)
    assert NoModulation().statistics() == {}
