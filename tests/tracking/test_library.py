"""Reference motions by clip and time."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Slerp
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot, body_poses
from pfmhr.tracking import Frames, MotionLibrary

from .clips import cycle, moving


def first(*frames: int) -> tuple[Tensor, Tensor]:
    """Frames of the first clip."""
    return torch.zeros(len(frames), dtype=torch.long), torch.tensor(frames)


# Looking up


def test_the_table_is_linear_and_slerp_between_the_clips_frames(g1: Robot, walk: Motion) -> None:
    library = MotionLibrary(g1, [replace(walk, loop=False)], rate=120.0)
    frames = np.random.default_rng(0).integers(int(library.length[0]), size=200)
    found, times = library.at(*first(*frames.tolist())), frames / 120.0
    clock = np.arange(walk.num_frames) / walk.fps
    for column in range(3):
        assert np.allclose(found.root_pos[:, column], np.interp(times, clock, walk.root_pos[:, column]), atol=2e-6)
    for column in range(g1.num_joints):
        assert np.allclose(found.joint_pos[:, column], np.interp(times, clock, walk.joint_pos[:, column]), atol=2e-6)
    turns = Slerp(clock, walk.root_rotations())(times).as_quat(scalar_first=True)
    assert np.allclose(np.abs((found.root_quat.numpy() * turns).sum(axis=1)), 1.0, atol=1e-6)


def test_bodies_are_where_kinematics_puts_them(g1: Robot, walk: Motion) -> None:
    library = MotionLibrary(g1, [walk], rate=walk.fps)
    found = library.at(*first(0, 17, 60))
    root, turn, joints = (values.numpy() for values in (found.root_pos, found.root_quat, found.joint_pos))
    positions, quaternions = body_poses(g1, root, turn, joints)
    assert np.allclose(found.root_pos[:, None] + found.body_pos, positions, atol=1e-6)
    assert np.allclose(found.body_quat, quaternions, atol=1e-6)
    assert found.body_pos.shape == (3, 30, 3) and not found.body_pos[:, 0].any()


def test_poses_and_bodies_are_parts_of_the_frame(g1: Robot, walking: Motion) -> None:
    library = MotionLibrary(g1, [walking])
    where = first(-5, 0, 200, 700)
    whole = library.at(*where)
    for found, name in zip(library.poses(*where), ("root_pos", "root_quat", "joint_pos"), strict=True):
        assert torch.equal(found, getattr(whole, name))
    for found, name in zip(library.bodies(*where), ("root_pos", "body_pos"), strict=True):
        assert torch.equal(found, getattr(whole, name))


def test_a_frame_may_come_without_bodies(g1: Robot, walking: Motion) -> None:
    library = MotionLibrary(g1, [walking])
    whole, bare = library.at(*first(3, 300)), library.at(*first(3, 300), bodies=False)
    assert bare.body_pos.shape == (2, 0, 3) and bare.body_quat.shape == (2, 0, 4)
    for found, expected in zip(bare.states(), whole.states(), strict=True):
        assert torch.equal(found, expected)


def test_a_frame_becomes_a_state_of_mujoco(g1: Robot) -> None:
    positions, velocities = MotionLibrary(g1, [moving(g1, turning=0.5)]).at(*first(4)).states()
    assert positions.shape == (1, 36) and velocities.shape == (1, 35)
    assert positions[0, :3].tolist() == pytest.approx([0.02, 0.0, 0.8], abs=1e-6)
    assert positions[0, 3:7].tolist() == pytest.approx([1.0, 0.0, 0.0, 0.25 / 30], abs=1e-4)
    assert positions[0, 7].item() == pytest.approx(0.03, abs=1e-6)
    assert velocities[0, :7].tolist() == pytest.approx([0.6, 0.0, 0.0, 0.0, 0.0, 0.5, 0.9], abs=1e-3)


def test_several_clips_keep_apart(g1: Robot, walking: Motion) -> None:
    both = MotionLibrary(g1, [moving(g1), walking])
    alone = MotionLibrary(g1, [walking])
    frame = torch.tensor([0, 40, 254, 1000])
    found, expected = both.at(torch.ones(4, dtype=torch.long), frame), alone.at(torch.zeros(4, dtype=torch.long), frame)
    assert len(both) == 2
    for field in fields(Frames):
        assert torch.equal(getattr(found, field.name), getattr(expected, field.name))


# Ends


def test_a_looping_clip_carries_on_across_the_floor(g1: Robot) -> None:
    library = MotionLibrary(g1, [cycle(g1)])
    assert library.length.tolist() == [16] and library.loops.tolist() == [True]
    found = library.at(*first(0, 8, 16, 24, 40))
    assert found.root_pos[:, 0].tolist() == pytest.approx([0.0, 0.2, 0.4, 0.6, 1.0], abs=1e-6)
    assert found.root_pos[:, 2].tolist() == pytest.approx([0.8] * 5)
    assert found.joint_pos[:, 3].tolist() == pytest.approx([0.0, 0.4, 0.0, 0.4, 0.4], abs=1e-6)
    assert not library.ended(*first(16, 1000)).any()
    assert bool((library.remaining(*first(0, 1000)) > 1e15).all())


def test_a_looping_clip_that_sinks_begins_again_at_its_height(g1: Robot) -> None:
    sinking = cycle(g1)
    sinking.root_pos[:, 2] = [0.8, 0.79, 0.78, 0.77, 0.76]
    found = MotionLibrary(g1, [sinking]).at(*first(0, 8, 16, 24, 40))
    assert found.root_pos[:, 2].tolist() == pytest.approx([0.8, 0.78, 0.8, 0.78, 0.78], abs=1e-6)


def test_a_loop_goes_on_without_a_jump(g1: Robot, walking: Motion) -> None:
    library = MotionLibrary(g1, [walking])
    length = int(library.length[0])
    frames = library.at(torch.zeros(2 * length, dtype=torch.long), torch.arange(2 * length))
    for values, limit in ((frames.root_pos, 0.02), (frames.joint_pos, 0.1), (frames.root_quat, 0.01)):
        assert float(values.diff(dim=0).abs().max()) < limit
    assert float(frames.root_pos[-1, 0]) > 2.0


def test_other_clips_hold_their_end(g1: Robot) -> None:
    library = MotionLibrary(g1, [moving(g1)])
    assert library.length.tolist() == [24] and library.loops.tolist() == [False]
    found = library.at(*first(24, 25, 1000))
    assert found.root_pos[:, 0].tolist() == pytest.approx([0.12] * 3, abs=1e-6)
    assert found.joint_pos[:, 0].tolist() == pytest.approx([0.18] * 3, abs=1e-6)
    assert library.ended(*first(23, 24, 30)).tolist() == [False, True, True]
    assert library.remaining(*first(0, 20, 24)).tolist() == [24, 4, 0]


def test_before_the_start_is_the_start(g1: Robot) -> None:
    found = MotionLibrary(g1, [moving(g1), cycle(g1)]).at(torch.tensor([0, 1]), torch.tensor([-1, -3]))
    assert found.root_pos[:, 0].tolist() == [0.0, 0.0] and found.joint_pos[1, 9].item() == pytest.approx(0.2)


def test_a_cycle_that_turns_ends(g1: Robot) -> None:
    turn = embedded_motion("turn", g1)
    assert turn.loop
    library = MotionLibrary(g1, [turn])
    length = int(library.length[0])
    assert library.loops.tolist() == [False] and library.ended(*first(length)).tolist() == [True]
    frames = library.at(torch.zeros(length + 1, dtype=torch.long), torch.arange(length + 1))
    assert float(frames.root_quat.diff(dim=0).abs().max()) < 0.02
    assert float(frames.root_spin.abs().max()) < 5.0
    assert torch.equal(frames.joint_vel[-1], frames.joint_vel[-2])


# Velocities


def test_velocities_by_hand(g1: Robot) -> None:
    found = MotionLibrary(g1, [moving(g1, turning=0.5)]).at(*first(0, 11, 24))
    assert torch.allclose(found.root_velocity, torch.tensor([0.6, 0.0, 0.0]), atol=1e-4)
    assert torch.allclose(found.root_spin, torch.tensor([0.0, 0.0, 0.5]), atol=1e-3)
    expected = torch.zeros(29)
    expected[0] = 0.9
    assert torch.allclose(found.joint_vel, expected, atol=1e-4)


def test_spin_is_in_the_roots_own_frame(g1: Robot) -> None:
    """Lying on its side, what the world turns about z is the root's y axis."""
    found = MotionLibrary(g1, [moving(g1, tilt=math.pi / 2, turning=0.5)]).at(*first(0, 11))
    assert torch.allclose(found.root_spin, torch.tensor([0.0, 0.5, 0.0]), atol=1e-3)
