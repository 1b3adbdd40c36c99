"""What a tracker's step leaves out to be fast changes nothing of what it gives."""

from __future__ import annotations

import torch

from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment


def made(robot: Robot, body_motion: bool = False) -> TrackingEnvironment:
    config = EnvironmentConfig(environments=8, termination_distance=0.2)
    return TrackingEnvironment(robot, [embedded_motion("walk", robot)], config, threads=1, body_motion=body_motion)


def test_without_the_motion_of_bodies_nothing_else_differs(g1: Robot) -> None:
    with_it, without = made(g1, True), made(g1)
    generator, ended = torch.Generator().manual_seed(0), 0
    for _ in range(15):
        actions = torch.randn(8, 29, generator=generator)
        seen, _, dones, extras = with_it.step(actions)
        other, _, also, more = without.step(actions)
        assert torch.equal(seen["policy"], other["policy"]) and torch.equal(dones, also)
        kept, bare = extras["transitions"], more["transitions"]
        for part in ("state", "reference"):
            for name, values in vars(getattr(kept, part)).items():
                assert torch.equal(values, getattr(getattr(bare, part), name))
        assert kept.bodies.quat.shape == (8, 30, 4) and bare.bodies is None and bare.reference_bodies is None
        ended += int(dones.sum())
    assert ended  # resets too


def test_a_step_leaves_torch_the_threads_it_had(g1: Robot) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        made(g1).step(torch.zeros(8, 29))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_frames_without_bodies_are_the_same_otherwise(g1: Robot) -> None:
    environment = made(g1)
    clip, frame = torch.zeros(5, dtype=torch.long), torch.tensor([0, 3, 50, 200, 1000])
    whole, bare = environment.library.at(clip, frame), environment.library.at(clip, frame, bodies=False)
    for name in ("root_pos", "root_quat", "joint_pos", "root_velocity", "root_spin", "joint_vel"):
        assert torch.equal(getattr(whole, name), getattr(bare, name))
    assert whole.body_pos.shape == (5, 30, 3) and bare.body_pos.shape == (5, 0, 3)
    assert whole.body_quat.shape == (5, 30, 4) and bare.body_quat.shape == (5, 0, 4)
