"""What is played: frames and their scores belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore
from pfmhr.viewer.takes import FrameScores, Judge, Take, motion_takes


def scores(take: Take) -> FrameScores:
    assert take.scores is not None
    return take.scores


def test_the_score_at_a_frame_is_that_of_the_step_that_ends_there(prior: PosePrior, takes: list[Take]) -> None:
    """A step's direction is the same whatever the noise; with the judge's noise the score is, too."""
    poses = torch.from_numpy(takes[0].positions[:, 7:].astype(np.float32))
    noise = torch.randn(1, 59, 29, generator=torch.Generator().manual_seed(1))
    expected = PoseGeometryScore(prior)(poses[:-1], poses[1:], 1 / 30, noise=noise)
    got = scores(takes[0])
    assert np.isnan(got.score[0]) and np.isnan(got.percentile[0]) and np.isnan(got.multiplier[0])
    assert got.score[1:] == pytest.approx(expected.numpy(), rel=1e-4)
    assert got.parts[1:].sum(axis=1) == pytest.approx(got.score[1:], rel=1e-5)
    assert not got.parts[0].any()


def test_percentiles_are_those_of_the_first_clip(takes: list[Take]) -> None:
    first, second = (scores(take) for take in takes)
    assert 0.4 < np.nanmean(first.percentile) < 0.6  # among its own scores, of another noise
    cut = first.percentile[1:] < 0.05
    assert ((first.multiplier[1:] < 1.0) == cut).all()
    together = np.r_[first.score[1:], second.score[1:]]
    ranks = np.r_[first.percentile[1:], second.percentile[1:]]
    assert (np.diff(ranks[together.argsort()]) >= 0).all()  # one scale for both


def test_clips_are_resampled_to_the_control_rate(prior: PosePrior, g1: Robot, make_walk: Callable[..., Motion]) -> None:
    take = motion_takes(prior, [make_walk(frames=101, fps=50.0)], g1, 30.0)[0]
    assert (len(take.positions), take.rate) == (61, 30.0)
    assert len(scores(take).score) == 61


def test_a_cycle_has_a_score_at_every_frame_but_the_first(prior: PosePrior, g1: Robot) -> None:
    walk = embedded_motion("walk", g1)
    assert walk.loop
    got = scores(motion_takes(prior, [walk], g1, 30.0)[0])
    assert np.isnan(got.score).tolist() == [True] + [False] * (len(got.score) - 1)


def test_still_frames_have_no_score(prior: PosePrior, g1: Robot, walk: Motion) -> None:
    frames = [*range(20), *[19] * 10, *range(20, 90)]
    held = Motion.from_arrays(g1, walk.joint_pos[frames], 30.0)
    got = scores(motion_takes(prior, [held], g1, 30.0)[0])
    assert np.flatnonzero(np.isnan(got.score)).tolist() == [0, *range(20, 30)]


def test_frames_that_are_not_finite_are_counted_and_hold_the_one_before(
    prior: PosePrior, g1: Robot, walk: Motion
) -> None:
    poses = walk.joint_pos.copy()
    poses[0], poses[40:42, 3] = np.nan, np.inf
    take = motion_takes(prior, [replace(walk, joint_pos=poses)], g1, 30.0)[0]
    assert take.broken == 3
    assert np.isfinite(take.positions).all()
    assert (take.positions[40:42] == take.positions[39]).all()
    assert (take.positions[0] == take.positions[1]).all()
    assert np.isnan(scores(take).score[[1, 40, 41, 42]]).all()
    with pytest.raises(InputError, match="no frame of this motion is finite"):
        motion_takes(prior, [replace(walk, joint_pos=np.full_like(poses, np.nan))], g1, 30.0)


def test_a_pose_can_be_looked_at_although_it_cannot_be_scored(prior: PosePrior, g1: Robot) -> None:
    one = Motion.from_arrays(g1, g1.default_pose[None], 30.0, name="pose")
    take = motion_takes(prior, [one], g1, 30.0)[0]
    assert len(take.positions) == 1
    assert take.scores is None
    assert "no transition to calibrate on" in take.note


def test_another_robots_motion_is_refused(prior: PosePrior, walk: Motion) -> None:
    other = replace(walk, joint_names=tuple(f"joint{number}" for number in range(29)))
    with pytest.raises(InputError, match="the motion is for other joints"):
        Judge(prior, other, 30.0)
