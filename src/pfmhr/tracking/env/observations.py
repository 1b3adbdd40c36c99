"""What the policy sees."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pfmhr.robots import Robot
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.library import Frames
from pfmhr.tracking.env.rotations import (
    compose,
    hinge_six_numbers,
    inverse,
    rotate,
    rotate_back,
    six_numbers,
)

AHEAD = ("next", "next2", "next3")
"""Names of the reference frames in a world observation."""


@dataclass(frozen=True)
class RobotState:
    """N simulated robots at one moment; float32, world frame unless said."""

    root_pos: Tensor
    """(N, 3)."""
    root_quat: Tensor
    """(N, 4) wxyz."""
    joint_pos: Tensor
    """(N, J)."""
    root_velocity: Tensor
    """(N, 3)."""
    root_spin: Tensor
    """(N, 3) in the root's frame."""
    joint_vel: Tensor
    """(N, J)."""
    body_pos: Tensor
    """(N, B, 3) relative to the root, one physics step ago: MuJoCo senses before it integrates."""

    @staticmethod
    def zeros(count: int, robot: Robot) -> RobotState:
        """Nothing but zeros, to see what sizes follow."""
        joints, bodies = robot.num_joints, len(robot.body_names)
        shapes = ((3,), (4,), (joints,), (3,), (3,), (joints,), (bodies, 3))
        return RobotState(*(torch.zeros(count, *shape) for shape in shapes))


def local_observation(state: RobotState, target: Frames, last_action: Tensor) -> Tensor:
    """(N, 25 + 5·J): robot and next reference frame, everything in the robot's root frame."""
    gravity = torch.zeros_like(state.root_pos)
    gravity[:, 2] = -1.0
    spin = rotate(target.root_quat, target.root_spin)
    into = torch.stack(
        [target.root_pos - state.root_pos, state.root_velocity, target.root_velocity, gravity, spin], dim=1
    )
    error, own, wanted, down, turning = rotate_back(state.root_quat[:, None], into).unbind(dim=1)
    relative = six_numbers(compose(inverse(state.root_quat), target.root_quat))
    joints = [
        state.joint_pos,
        0.1 * state.joint_vel,
        target.joint_pos - state.joint_pos,
        0.1 * target.joint_vel,
        last_action,
    ]
    height = state.root_pos[:, 2:]
    return torch.cat([error, own, wanted, relative, down, state.root_spin, turning, height, *joints], dim=1)


def world_observation(state: RobotState, targets: list[Frames], axes: Tensor, keys: Tensor) -> Tensor:
    """MimicKit's: the robot and some reference frames ahead, in world axes; ``keys``: rows of the key bodies."""
    count = len(state.root_pos)
    own = [
        state.root_pos[:, 2:],
        six_numbers(state.root_quat),
        state.root_velocity,
        rotate(state.root_quat, state.root_spin),
        hinge_six_numbers(state.joint_pos, axes).view(count, -1),
        state.joint_vel,
        state.body_pos[:, keys].reshape(count, -1),
    ]
    for target in targets:
        place = target.root_pos.clone()
        place[:, :2] -= state.root_pos[:, :2]
        own += [
            place,
            six_numbers(target.root_quat),
            hinge_six_numbers(target.joint_pos, axes).view(count, -1),
            target.body_pos[:, keys].reshape(count, -1),
        ]
    return torch.cat(own, dim=1)


def observation_layout(config: EnvironmentConfig, robot: Robot) -> list[tuple[str, int]]:
    """Names and widths of what an observation consists of, in order; the widths sum to its size.

    ``next`` is the reference one control step ahead, ``next2`` and ``next3`` two and three. Rotations are six
    numbers: the turned x axis, then the turned z axis. ``_tenth`` is a tenth of rad/s.

    ``local``: vectors in the robot's root frame. Errors are reference minus robot; ``next_root_rotation`` is
    relative to the robot's root; ``gravity`` points down; ``root_height`` is above the floor.

    ``world``: vectors in the world's frame. ``next_root_pos`` is relative to the robot's root but for its height,
    ``key_body_pos`` to the root it belongs to. The robot's own is as sensed one physics step ago.
    """
    joints = robot.num_joints
    if config.observation == "local":
        vectors = ("root_pos_error", "root_velocity", "next_root_velocity")
        more = ("gravity", "root_spin", "next_root_spin")
        per_joint = ("joint_pos", "joint_vel_tenth", "joint_pos_error", "next_joint_vel_tenth", "last_action")
        layout = [*((name, 3) for name in vectors), ("next_root_rotation", 6), *((name, 3) for name in more)]
        return [*layout, ("root_height", 1), *((name, joints) for name in per_joint)]
    keys = 3 * len(config.key_bodies_of(robot))
    layout = [("root_height", 1), ("root_rotation", 6), ("root_velocity", 3), ("root_spin", 3)]
    layout += [("joint_rotation", 6 * joints), ("joint_vel", joints), ("key_body_pos", keys)]
    widths = {"root_pos": 3, "root_rotation": 6, "joint_rotation": 6 * joints, "key_body_pos": keys}
    return layout + [(f"{ahead}_{name}", width) for ahead in AHEAD for name, width in widths.items()]
