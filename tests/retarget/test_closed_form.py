"""A human made of the robot's own skeleton comes back to the joint angles it was made from."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pfmhr.retarget import Body, Human, RetargetConfig, SkeletonMap, retarget
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.rotations import exponential
from pfmhr.retarget.solver import Weights

Swing = Callable[..., Pose]
Make = Callable[..., Human]
EXACT = RetargetConfig(
    hold_feet=False, weights=Weights(posture=0.0, smoothness=0.0, ground=0.0, overlap=0.0), iterations=8
)


def test_a_scaled_copy_of_the_robot_comes_back_to_its_joint_angles(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    pose = swinging()
    result = retarget(human_of(pose, scale=1.7), toy, EXACT, skeleton)
    assert np.abs(result.motion.joint_pos - pose.joints.T).max() < 1e-3
    turns = result.motion.root_rotations().as_matrix()
    assert np.abs(turns - np.moveaxis(pose.root_rot, -1, 0)).max() < 1e-3
    assert result.figures.scale == pytest.approx(1 / 1.7, abs=1e-5)
    assert result.figures.place_error < 1e-3 and result.figures.dropped == 0


def test_the_root_travels_by_the_share_of_the_legs(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    pose = swinging()
    result = retarget(human_of(pose, scale=1.7), toy, EXACT, skeleton)
    travelled = result.motion.root_pos - result.motion.root_pos[0]
    assert np.abs(travelled - (pose.root_pos - pose.root_pos[:, :1]).T)[:, :2].max() < 1e-3


def test_the_usual_weights_come_back_nearly(toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make) -> None:
    pose = swinging()
    result = retarget(human_of(pose), toy, RetargetConfig(), skeleton)
    assert np.abs(result.motion.joint_pos - pose.joints.T).mean() < 0.02


def test_units_do_not_matter(toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make) -> None:
    pose = swinging()
    metres, inches = (retarget(human_of(pose, scale), toy, None, skeleton).motion for scale in (1.0, 1 / 0.0254))
    assert np.abs(metres.joint_pos - inches.joint_pos).max() < 1e-5
    assert np.abs(metres.root_pos - inches.root_pos).max() < 1e-5


def test_heading_turns_the_root_and_nothing_else(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    pose = swinging()
    turn = exponential(np.array([[0.0], [0.0], [2.1]]))[..., 0]
    ahead = retarget(human_of(pose), toy, None, skeleton).motion
    aside = retarget(human_of(pose, turn=turn), toy, None, skeleton).motion
    assert np.abs(ahead.joint_pos - aside.joint_pos).max() < 1e-5
    assert np.abs(ahead.root_pos @ turn.T - aside.root_pos).max() < 1e-5


def test_the_place_where_a_clip_starts_moves_the_root_and_nothing_else(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    human = human_of(swinging())
    here = retarget(human, toy, None, skeleton).motion
    there = retarget(replace(human, positions=human.positions + np.array([3.0, -2.0, 5.0])), toy, None, skeleton).motion
    assert np.abs(here.joint_pos - there.joint_pos).max() < 1e-4
    assert np.abs(here.root_pos + np.array([3.0, -2.0, 0.0]) - there.root_pos).max() < 1e-4


def test_the_order_of_joints_in_a_file_does_not_matter(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    human = human_of(swinging())
    order = np.random.default_rng(0).permutation(len(human.names))
    assert human.rotations is not None and human.zero_positions is not None
    mixed = replace(
        human,
        names=tuple(human.names[index] for index in order),
        positions=human.positions[:, order],
        rotations=human.rotations[:, order],
        zero_positions=human.zero_positions[order],
    )
    one, other = (retarget(each, toy, None, skeleton).motion for each in (human, mixed))
    assert np.array_equal(one.joint_pos, other.joint_pos)


@pytest.mark.parametrize("frames", [1, 2, 3, 4])
def test_clips_of_few_frames(toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make, frames: int) -> None:
    pose = swinging(frames)
    result = retarget(human_of(pose), toy, EXACT, skeleton)
    assert np.abs(result.motion.joint_pos - pose.joints.T).max() < 1e-3


def test_a_clip_that_stands_still(toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make) -> None:
    one = swinging(1)
    pose = Pose(np.repeat(one.root_pos, 40, 1), np.repeat(one.root_rot, 40, 2), np.repeat(one.joints, 40, 1))
    result = retarget(human_of(pose), toy, RetargetConfig(), skeleton)
    assert np.abs(np.diff(result.motion.joint_pos, axis=0)).max() < 1e-4


def test_no_joint_leaves_its_limits_however_far_the_human_bends(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    wild = swinging()
    human = human_of(Pose(wild.root_pos, wild.root_rot, 5.0 * wild.joints))
    motion = retarget(human, toy, RetargetConfig(), skeleton).motion
    robot = toy.linkage.robot
    assert (motion.joint_pos <= robot.upper).all() and (motion.joint_pos >= robot.lower).all()


def test_frames_beside_a_step_faster_than_any_motor_are_cut_out(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    pose = swinging(90)
    joints = pose.joints.copy()
    joints[toy.linkage.robot.joint_names.index("left_upper_arm_z"), 41:] += 1.5  # 45 rad/s
    result = retarget(human_of(Pose(pose.root_pos, pose.root_rot, joints)), toy, EXACT, skeleton)
    assert np.flatnonzero(~result.usable).tolist() == [40, 41]
    assert (result.figures.dropped_speed, result.figures.dropped_turn) == (2, 0)
    before, after = result.pieces()
    assert np.array_equal(before.joint_pos, result.motion.joint_pos[:40])
    assert np.array_equal(after.joint_pos, result.motion.joint_pos[42:])


def test_windows_give_what_the_whole_clip_gives(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    human = human_of(swinging(400))
    whole = retarget(human, toy, RetargetConfig(), skeleton).motion
    monkeypatch.setattr("pfmhr.retarget.windows.WINDOW", 128)
    parts = retarget(human, toy, RetargetConfig(), skeleton).motion
    assert np.abs(whole.joint_pos - parts.joint_pos).max() < 2e-3
    assert np.abs(whole.root_pos - parts.root_pos).max() < 2e-3


@pytest.mark.slow
def test_ten_minutes_need_no_more_memory_than_their_own_numbers_and_one_window(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    human = human_of(swinging(18_000))
    tracemalloc.start()
    result = retarget(human, toy, RetargetConfig(), skeleton)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.motion.num_frames == 18_000
    assert peak < 800e6


def test_physical_time_lets_a_flight_fall_at_g(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    """A human twice as large falls at g in its own world; shrunk alone, it would fall at half of it."""
    time = np.arange(40) / 60.0
    one = swinging(1)
    place = np.stack([0 * time, 0 * time, 3.0 - 0.5 * 9.81 * time**2])
    pose = Pose(place / 2.0, np.repeat(one.root_rot, 40, 2), np.repeat(one.joints, 40, 1))
    human = human_of(pose, scale=2.0, fps=60.0)
    falls = {}
    for physical in (False, True):
        config = replace(EXACT, fps=None, physical_time=physical)
        motion = retarget(human, toy, config, replace(skeleton, metres=1.0)).motion
        high = motion.root_pos[:8, 2].astype(np.float64)  # at its end the clip reaches the floor
        falls[physical] = -np.mean(np.diff(high, 2)) * motion.fps**2
    assert falls[False] == pytest.approx(9.81 / 2, rel=0.02)
    assert falls[True] == pytest.approx(9.81, rel=0.02)
