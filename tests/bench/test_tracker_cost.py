"""What a tracker's step leaves out to be fast changes nothing of what it gives."""

from __future__ import annotations

import torch

from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment


def made(robot: Robot, deepmimic: bool) -> TrackingEnvironment:
    config = EnvironmentConfig(environments=8, termination_distance=0.2)
    return TrackingEnvironment(robot, [embedded_motion("walk", robot)], config, threads=1, deepmimic=deepmimic)


def test_without_deepmimic_only_the_rewards_differ(g1: Robot) -> None:
    with_it, without = made(g1, True), made(g1, False)
    generator, ended = torch.Generator().manual_seed(0), 0
    for _ in range(15):
        actions = torch.randn(8, 29, generator=generator)
        seen, rewards, dones, extras = with_it.step(actions)
        other, nothing, also, more = without.step(actions)
        assert torch.equal(seen["policy"], other["policy"]) and torch.equal(dones, also)
        assert all(torch.equal(value, more["tracking"][name]) for name, value in extras["tracking"].items())
        assert (rewards > 0).all() and not nothing.any()
        ended += int(dones.sum())
    assert ended  # resets too


def test_a_step_leaves_torch_the_threads_it_had(g1: Robot) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        made(g1, False).step(torch.zeros(8, 29))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_frames_without_bodies_are_the_same_otherwise(g1: Robot) -> None:
    environment = made(g1, False)
    clip, frame = torch.zeros(5, dtype=torch.long), torch.tensor([0, 3, 50, 200, 1000])
    whole, bare = environment.library.at(clip, frame), environment.library.at(clip, frame, bodies=False)
    for name in ("root_pos", "root_quat", "joint_pos", "root_velocity", "root_spin", "joint_vel"):
        assert torch.equal(getattr(whole, name), getattr(bare, name))
    assert whole.body_pos.shape == (5, 30, 3) and bare.body_pos.shape == (5, 0, 3)
    assert whole.body_quat.shape == (5, 30, 4) and bare.body_quat.shape == (5, 0, 4)
