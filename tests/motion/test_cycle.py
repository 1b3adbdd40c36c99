"""Which clips repeat, and what their last frame is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.motion import Motion
from pfmhr.motion.cycle import SAME_HEADING, closed, repeats
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot


def swinging(robot: Robot, angles: Sequence[float], turn: float = 0.0, loop: bool = True) -> Motion:
    """Joints 0 and 1 swing, the root goes 0.1 m a frame and sinks by 0.01 m, turning evenly by ``turn`` rad in all."""
    frames = len(angles)
    poses = np.zeros((frames, robot.num_joints))
    poses[:, 0], poses[:, 1] = angles, np.roll(angles, 1)
    number = np.arange(frames)
    root = np.stack([0.1 * number, 0.05 * number, 0.8 - 0.01 * number], axis=1)
    heading = Rotation.from_euler("z", np.linspace(3.0, 3.0 + turn, frames)[:, None])
    return Motion.from_arrays(robot, poses, 30.0, root, heading.as_quat(scalar_first=True), loop=loop)


OPEN = [0.0, 0.3, 0.6, 0.6, 0.3]
SHUT = [0.0, 0.3, 0.6, 0.3, 0.0]


def test_an_open_cycle_gets_its_first_pose_as_the_last(g1: Robot) -> None:
    motion = swinging(g1, OPEN)
    whole = closed(motion)
    assert whole.num_frames == 6
    assert np.array_equal(whole.joint_pos[:5], motion.joint_pos)
    assert np.array_equal(whole.joint_pos[5], motion.joint_pos[0])
    assert np.array_equal(whole.root_quat[5], motion.root_quat[0])


def test_the_root_goes_on_by_a_step_at_the_height_it_began(g1: Robot) -> None:
    whole = closed(swinging(g1, OPEN))
    assert whole.root_pos[5].tolist() == pytest.approx([0.5, 0.25, 0.8], abs=1e-6)


def test_a_clip_is_not_closed_twice(g1: Robot) -> None:
    motion = swinging(g1, SHUT)
    motion.joint_pos[-1] = motion.joint_pos[0]
    assert closed(motion) is motion
    whole = closed(swinging(g1, OPEN))
    assert closed(whole) is whole


def test_a_clip_that_stands_still_is_closed(g1: Robot) -> None:
    motion = swinging(g1, [0.4] * 5)
    assert closed(motion) is motion and repeats(motion)


def test_clips_that_are_no_cycles_are_left_alone(g1: Robot) -> None:
    motion = swinging(g1, OPEN, loop=False)
    assert closed(motion) is motion and not repeats(motion)


def test_two_frames_are_no_cycle(g1: Robot) -> None:
    motion = swinging(g1, OPEN[:2])
    assert closed(motion) is motion and not repeats(motion)


@pytest.mark.parametrize(("turn", "again"), [(0.0, True), (0.25, True), (-0.25, True), (0.35, False), (3.0, False)])
def test_a_cycle_repeats_if_it_ends_in_the_direction_it_began(g1: Robot, turn: float, again: bool) -> None:
    assert repeats(swinging(g1, OPEN, turn)) is again
    assert abs(abs(turn) - SAME_HEADING) > 0.04


def test_a_whole_turn_is_the_same_direction(g1: Robot) -> None:
    assert repeats(swinging(g1, OPEN, 2 * np.pi))


def test_a_cycle_that_turns_is_not_closed_by_a_jump_back(g1: Robot) -> None:
    motion = swinging(g1, OPEN, 1.5)
    assert closed(motion) is motion
    turning = embedded_motion("turn", g1)
    assert turning.loop and not repeats(turning) and closed(turning) is turning


@pytest.mark.parametrize("name", ["walk", "run", "march", "step_dance"])
def test_embedded_cycles_close_smoothly(g1: Robot, name: str) -> None:
    motion = embedded_motion(name, g1)
    whole = closed(motion)
    assert repeats(motion) and whole.num_frames == motion.num_frames + 1
    steps = np.abs(np.diff(whole.joint_pos, axis=0)).max(axis=1)
    assert steps[-1] <= 1.5 * steps[:-1].max()


def test_closing_keeps_what_else_a_clip_says(g1: Robot) -> None:
    motion = replace(swinging(g1, OPEN), name="swing", source="a.csv")
    whole = closed(motion)
    assert (whole.name, whole.source, whole.fps, whole.loop) == ("swing", "a.csv", 30.0, True)


def test_a_clip_that_would_jump_at_its_seam_does_not_repeat(g1: Robot) -> None:
    """Back from 0.9 to 0 is three of its steps, from 0.6 two."""
    poses = np.zeros((4, g1.num_joints))
    poses[:, 0] = [0.0, 0.3, 0.6, 0.9]
    assert not repeats(Motion.from_arrays(g1, poses, 30.0, loop=True))
    assert repeats(Motion.from_arrays(g1, poses[:3], 30.0, loop=True))


@pytest.mark.parametrize("angles", [OPEN, SHUT], ids=["open", "shut"])
@pytest.mark.parametrize("fps", [15.0, 60.0, 120.0, 50.0])
def test_a_cycle_keeps_its_period_at_another_rate(g1: Robot, angles: list[float], fps: float) -> None:
    """Five frames at 30 Hz, the sixth or the fifth being the first again: 5/30 or 4/30 s, to half a new frame."""
    motion = swinging(g1, angles)
    period = (closed(motion).num_frames - 1) / 30.0
    sampled = motion.resample(fps)
    assert sampled.loop and abs(sampled.num_frames / fps - period) <= 0.5 / fps + 1e-9
    turns = np.arange(sampled.num_frames) / fps
    wanted = np.interp(turns, np.arange(closed(motion).num_frames) / 30.0, closed(motion).joint_pos[:, 0])
    assert np.allclose(sampled.joint_pos[:, 0], wanted, atol=1e-6)
    assert motion.resample(30.0) is motion


def test_a_cycle_resampled_finely_still_repeats(g1: Robot) -> None:
    walk = embedded_motion("walk", g1)
    fine = walk.resample(8 * walk.fps)
    assert repeats(walk) and repeats(fine)
    steps = np.linalg.norm(np.diff(fine.joint_pos, axis=0), axis=1)
    assert np.linalg.norm(fine.joint_pos[0] - fine.joint_pos[-1]) < 1.5 * steps.max()
