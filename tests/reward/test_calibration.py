"""What is counted in a reference motion, and what the counts are worth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.reward import Calibration
from pfmhr.reward.calibration import Reference
from pfmhr.score import PoseGeometryScore, ReconstructionScore

from ..score.priors import random_prior, refused, seeded
from .gauge import DT, clip, clip_scoring, gauge, percents, prior

SQUARE = [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [0.2, 0.1], [0.2, 0.2], [0.1, 0.2], [0.0, 0.2], [0.0, 0.1]]


def fitted(motion: Motion, dt: float = DT) -> tuple[Reference, list[float]]:
    calibration = Calibration.fit(gauge(), [motion], dt, draws=1)
    return calibration.references[0], calibration.values[0][0].tolist()


def test_every_transition_is_scored_in_order() -> None:
    reference, scores = fitted(clip_scoring([0.3, 0.9, 0.1, 0.6], name="walk"))
    assert reference == Reference("walk", transitions=4, without_change=0, not_finite=0, loop=False)
    assert scores == pytest.approx([0.3, 0.9, 0.1, 0.6], abs=1e-4)


def test_a_cycle_counts_the_step_from_its_last_frame_to_its_first() -> None:
    """Around a square, two steps along each side: first joint, second, first, second."""
    reference, scores = fitted(clip(SQUARE))
    assert (reference.transitions, reference.loop) == (7, False)
    assert scores == pytest.approx([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0], abs=1e-5)
    reference, scores = fitted(clip(SQUARE, loop=True))
    assert (reference.transitions, reference.loop) == (8, True)
    assert scores == pytest.approx([1.0, 1.0, 0.0, 0.0] * 2, abs=1e-5)


def test_a_cycle_is_resampled_over_its_whole_period() -> None:
    """Eight frames at 30 Hz last 8/30 s with the way back: sixteen steps at 60 Hz, four along each side."""
    reference, scores = fitted(clip(SQUARE, loop=True), dt=1 / 60)
    assert reference.transitions == 16
    assert scores == pytest.approx([1.0] * 4 + [0.0] * 4 + [1.0] * 4 + [0.0] * 4, abs=1e-5)


@pytest.mark.parametrize("gap", [0.0, 0.02])
def test_a_cycle_that_ends_with_its_first_frame_has_no_step_back_to_it(gap: float) -> None:
    """However well it closes: the last frame is the first of the next cycle and not one before it.

    A gap is spread over the eight steps: each leans by a fortieth of its length, the last by a sixth.
    """
    reference, scores = fitted(clip([*SQUARE, [-gap, 0.0]], loop=True))
    assert (reference.transitions, reference.without_change) == (8, 0)
    assert scores == pytest.approx([1.0, 1.0, 0.0, 0.0] * 2, abs=0.03 if gap else 1e-5)


def test_a_clip_that_only_says_it_is_a_cycle_ends() -> None:
    """From its last frame to its first is five times its largest step: nothing that could be played moves so."""
    reference, scores = fitted(clip([[0.1 * step, 0.0] for step in range(6)], loop=True))
    assert (reference.transitions, reference.loop) == (5, False)
    assert scores == pytest.approx([1.0] * 5, abs=1e-5)


def test_frozen_frames_are_left_out_and_counted() -> None:
    angles = [0.0, 0.1, 0.1, 0.1, 0.2, 0.2, 0.3]
    reference, scores = fitted(clip([[angle, 0.0] for angle in angles]))
    assert reference == Reference("motion", transitions=3, without_change=3, not_finite=0, loop=False)
    assert scores == pytest.approx([1.0] * 3, abs=1e-4)


def test_a_step_is_still_below_a_ten_thousandth_of_a_rad_per_second() -> None:
    """In 1/30 s that is 3.3e-6 rad; one joint above it is enough."""
    reference, _ = fitted(clip([[0.0, 0.0], [3e-6, 3e-6], [3e-6, 7e-6], [3e-6, 9e-6]]))
    assert (reference.transitions, reference.without_change) == (1, 2)


def test_a_motion_is_resampled_to_the_time_step() -> None:
    """At 60 Hz the joints take turns; over two steps both move by as much: score 1/2."""
    poses = [[0.1 * ((step + 1) // 2), 0.1 * (step // 2)] for step in range(7)]
    reference, scores = fitted(clip(poses, fps=60.0), dt=1 / 60)
    assert reference.transitions == 6 and scores == pytest.approx([1.0, 0.0] * 3, abs=1e-5)
    reference, scores = fitted(clip(poses, fps=60.0), dt=1 / 30)
    assert reference.transitions == 3 and scores == pytest.approx([0.5] * 3, abs=1e-5)
    reference, scores = fitted(clip(poses, fps=60.0), dt=1 / 120)
    assert reference.transitions == 12 and scores == pytest.approx([1.0, 1.0, 0.0, 0.0] * 3, abs=1e-5)


def test_frames_that_are_not_finite_are_left_out_and_counted() -> None:
    poses = np.concatenate([np.zeros((1, 2)), np.cumsum(np.full((7, 2), 0.1), axis=0)])
    poses[3, 1], poses[7, 0] = math.nan, math.inf
    reference, scores = fitted(clip(poses))
    assert reference == Reference("motion", transitions=4, without_change=0, not_finite=3, loop=False)
    assert scores == pytest.approx([0.5] * 4, abs=1e-5)


def test_one_transition_is_enough() -> None:
    reference, scores = fitted(clip_scoring([0.7]))
    assert reference.transitions == 1 and scores == pytest.approx([0.7], abs=1e-5)


@pytest.mark.parametrize(
    "motion",
    [
        clip([[0.0, 0.0]]),
        clip(np.zeros((0, 2))),
        clip([[0.4, -0.2]] * 9),
        clip([[0.4, -0.2]] * 9, loop=True),
        clip([[math.nan, 0.0]] * 9),
    ],
    ids=["one frame", "no frame", "motionless", "motionless cycle", "not a number"],
)
def test_a_motion_without_a_transition_is_refused(motion: Motion) -> None:
    with refused("bad_calibration", "no transition"):
        Calibration.fit(gauge(), [clip_scoring([0.5]), motion], DT, draws=1)


def test_no_motion_at_all_is_refused() -> None:
    with refused("bad_calibration"):
        Calibration.fit(gauge(), [], DT, draws=1)


@pytest.mark.parametrize("names", [("joint_1", "joint_0"), ("hip", "knee")])
def test_a_motion_for_other_joints_is_refused(names: tuple[str, ...]) -> None:
    with refused("wrong_robot", "somebody"):
        Calibration.fit(gauge(), [clip(SQUARE, joint_names=names, name="somebody")], DT, draws=1)


@pytest.mark.parametrize("dt", [0.0, -0.1, math.nan, math.inf])
def test_an_impossible_time_step_is_refused(dt: float) -> None:
    with pytest.raises(InputError, match="positive"):
        Calibration.fit(gauge(), [clip(SQUARE)], dt, draws=1)


def test_percentiles_by_hand() -> None:
    scores = torch.tensor([0.0, 0.01, 0.02, 0.5, 0.98, 1.0])
    assert percents().percentile(scores).tolist() == pytest.approx([0.0, 0.01, 0.02, 0.5, 0.98, 1.0])


def test_the_best_score_of_the_reference_has_percentile_one_and_the_worst_one_over_their_number() -> None:
    made = PoseGeometryScore(random_prior(2, dtype=torch.float32))
    calibration = Calibration.fit(made, [clip_scoring(np.linspace(0, 1, 40).tolist())], DT, seeded(0), draws=1)
    values = calibration.values[0][0]
    assert calibration.percentile(torch.stack([values.max(), values.min()])).tolist() == pytest.approx([1.0, 1 / 40])
    assert calibration.percentile(values.sort().values).tolist() == pytest.approx([k / 40 for k in range(1, 41)])


def test_motions_have_distributions_of_their_own_unless_pooled() -> None:
    motions = [clip_scoring([0.1, 0.2, 0.3, 0.4], name="low"), clip_scoring([0.6, 0.7, 0.8, 0.9], name="high")]
    apart, pooled = (Calibration.fit(gauge(), motions, DT, pooled=pooled, draws=1) for pooled in (False, True))
    scores, ids = torch.tensor([0.5, 0.5, 0.25, 0.75]), torch.tensor([0, 1, 0, 1])
    assert apart.percentile(scores, ids).tolist() == [1.0, 0.0, 0.5, 0.5]
    assert pooled.percentile(scores, ids).tolist() == [0.5, 0.5, 0.25, 0.75]
    assert pooled.percentile(scores).tolist() == pooled.percentile(scores, 1).tolist() == [0.5, 0.5, 0.25, 0.75]
    assert [reference.name for reference in pooled.references] == ["low", "high"]


def test_one_motion_number_serves_all() -> None:
    motions = [clip_scoring([0.2, 0.4]), clip_scoring([0.6, 0.8])]
    calibration = Calibration.fit(gauge(), motions, DT, draws=1)
    scores = torch.tensor([0.3, 0.7])
    for number in (1, torch.tensor(1), torch.tensor([1, 1]), torch.tensor([1, 1], dtype=torch.int32)):
        assert calibration.percentile(scores, number).tolist() == [0.0, 0.5]
    assert calibration.percentile(scores[:0], 1).shape == (0,)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("number", [2, -1, [0, 2], [-1, 0]])
def test_unknown_motion_numbers_are_refused(number: Any, pooled: bool) -> None:
    calibration = Calibration.fit(gauge(), [clip_scoring([0.2]), clip_scoring([0.6])], DT, pooled=pooled, draws=1)
    with refused("unknown_name", "0 to 1"):
        calibration.percentile(torch.zeros(2), torch.tensor(number))


@pytest.mark.parametrize("number", [0.0, [0.0, 1.0], [0], [0, 1, 1], [[0, 1]], [True, False], True])
def test_motion_numbers_of_another_kind_or_shape_are_refused(number: Any) -> None:
    calibration = Calibration.fit(gauge(), [clip_scoring([0.2]), clip_scoring([0.6])], DT, draws=1)
    with refused("bad_shape"):
        calibration.percentile(torch.zeros(2), torch.tensor(number))


def test_motion_numbers_may_be_any_whole_numbers() -> None:
    calibration = Calibration.fit(gauge(), [clip_scoring([0.2]), clip_scoring([0.6])], DT, draws=1)
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        ids = torch.tensor([1, 0, 1], dtype=dtype)
        assert calibration.percentile(torch.tensor([0.5, 0.5, 0.7]), ids).tolist() == [0.0, 1.0, 1.0], dtype


def test_a_generator_makes_a_calibration_repeatable() -> None:
    made, motion = PoseGeometryScore(random_prior(2, dtype=torch.float32)), clip_scoring([0.1, 0.5, 0.8])
    first, again, other = (Calibration.fit(made, [motion], DT, seeded(seed)).values[0][0] for seed in (1, 1, 2))
    assert torch.allclose(first, again, rtol=1e-4, atol=1e-6) and not torch.allclose(first, other, rtol=1e-3)


def test_the_same_score_is_accepted_and_another_one_refused_by_name() -> None:
    percents().require(PoseGeometryScore(prior()))
    with refused("wrong_calibration", "t_eval", "[0.75]", "[0.5]"):
        percents().require(gauge(t_eval=0.5))
    with refused("wrong_calibration", "samples 1", "samples 4"):
        percents().require(gauge(samples=4))
    with refused("wrong_calibration", "stabiliser 1e-06", "stabiliser 1e-05"):
        percents().require(gauge(stabiliser=1e-5))
    with refused("wrong_calibration", "prior", prior().hash[:12], prior(2.0).hash[:12]):
        percents().require(gauge(gain=2.0))
    with refused("wrong_calibration", "pose geometry", "reconstruction"):
        percents().require(ReconstructionScore(prior(), (0.75,)))


def test_another_time_step_is_refused() -> None:
    percents().require_dt(1 / 30)
    percents().require_dt(0.0333333333)
    with refused("wrong_calibration", "0.02 s", "0.0333333 s"):
        percents().require_dt(0.02)


def test_a_time_step_that_is_no_number_is_refused() -> None:
    with refused("wrong_calibration"):
        percents().require_dt(math.nan)


def test_reconstruction_errors_have_a_channel_for_each_level() -> None:
    motions = [clip_scoring([0.1, 0.5]), clip_scoring([0.3])]
    calibration = Calibration.fit(ReconstructionScore(prior()), motions, DT, draws=1)
    assert [[len(motion) for motion in channel] for channel in calibration.values] == [[2, 1]] * 3
    assert len(calibration.distributions) == 3


def test_every_draw_enters_the_distribution_and_percentiles_are_their_mean() -> None:
    """Four draws from one generator are four calibrations, one after another from the same generator."""
    made, noise = PoseGeometryScore(random_prior(2, dtype=torch.float32)), seeded(3)
    motion = clip_scoring(np.linspace(0, 1, 40).tolist())
    single = [Calibration.fit(made, [motion], DT, noise, draws=1) for _ in range(4)]
    together = Calibration.fit(made, [motion], DT, seeded(3), draws=4)
    assert together.draws == 4 and together.references == single[0].references
    assert torch.equal(together.values[0][0], torch.cat([each.values[0][0] for each in single]))
    scores = torch.linspace(0.0, 1.0, 30)
    mean = torch.stack([each.percentile(scores) for each in single]).mean(dim=0)
    assert torch.allclose(together.percentile(scores), mean, atol=1e-6)


def test_more_draws_make_the_threshold_depend_less_on_the_seed() -> None:
    """The share of clean transitions below the fifth percentile, over ten seeds."""
    made, motion = PoseGeometryScore(random_prior(2, dtype=torch.float32)), clip_scoring(np.linspace(0, 1, 40).tolist())
    clean = Calibration.fit(made, [motion], DT, seeded(99), draws=100).values[0][0]
    spread = {}
    for draws in (1, 16):
        fits = [Calibration.fit(made, [motion], DT, seeded(seed), draws=draws) for seed in range(10)]
        spread[draws] = float(torch.stack([(fit.percentile(clean) < 0.05).float().mean() for fit in fits]).std())
    assert spread[16] < 0.5 * spread[1]


@pytest.mark.parametrize("draws", [0, -1, 1.5])
def test_at_least_one_draw_is_needed(draws: float) -> None:
    with pytest.raises(InputError, match="draws must be a whole number"):
        Calibration.fit(gauge(), [clip(SQUARE)], DT, draws=draws)  # type: ignore[arg-type]
