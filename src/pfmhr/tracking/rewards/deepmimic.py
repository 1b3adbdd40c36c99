"""DeepMimic's tracking reward, with MimicKit's weights and scales."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pfmhr.robots import Robot
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.library import Frames
from pfmhr.tracking.env.observations import RobotState
from pfmhr.tracking.env.rotations import angle_between, rotate
from pfmhr.tracking.env.transitions import Transitions
from pfmhr.tracking.rewards.reward import TrackingReward

HALF_WEIGHT = {"knee": 0.6, "elbow": 0.6, "ankle": 0.5, "wrist": 0.5}
"""By a part of the joint's name; every other joint counts 1."""


class DeepMimicReward(TrackingReward):
    """Five parts, each larger the nearer the robot is; nothing is learned."""

    def __init__(self, settings: Any, robot: Robot, environment: EnvironmentConfig) -> None:
        self.weights = joint_weights(robot.joint_names)
        self.keys = torch.tensor(robot.body_indices(environment.key_bodies_of(robot)), dtype=torch.long)
        self._parts: dict[str, Tensor] = {}

    def compute(self, rollout: Transitions) -> Tensor:
        """The sum of the parts ``(N,)``, in [0, 1]."""
        parts = deepmimic_terms(rollout.state, rollout.reference, self.weights, self.keys)
        self._parts = {name: part.nan_to_num(0.0) for name, part in parts.items()}
        return sum(self._parts.values(), torch.zeros(len(rollout)))

    def statistics(self) -> dict[str, float]:
        """Mean of each part."""
        return {name: float(part.mean()) for name, part in self._parts.items()}


def joint_weights(names: tuple[str, ...]) -> Tensor:
    """(J,) how much each joint counts."""
    return torch.tensor([next((w for part, w in HALF_WEIGHT.items() if part in name), 1.0) for name in names])


def deepmimic_terms(state: RobotState, reference: Frames, weights: Tensor, keys: Tensor) -> dict[str, Tensor]:
    """(N,) each, weight·exp(−scale·error²); their sum, in [0, 1], is the reward."""
    pose = (weights * (reference.joint_pos - state.joint_pos).square()).sum(dim=1)
    velocity = (weights * (reference.joint_vel - state.joint_vel).square()).sum(dim=1)
    turn = angle_between(reference.root_quat, state.root_quat)
    root = (reference.root_pos - state.root_pos).square().sum(dim=1) + 0.1 * turn.square()
    spin = rotate(reference.root_quat, reference.root_spin) - rotate(state.root_quat, state.root_spin)
    motion = (reference.root_velocity - state.root_velocity).square().sum(dim=1) + 0.1 * spin.square().sum(dim=1)
    key = (reference.body_pos[:, keys] - state.body_pos[:, keys]).square().sum(dim=(1, 2))
    return {
        "pose": 0.5 * torch.exp(-0.25 * pose),
        "velocity": 0.1 * torch.exp(-0.01 * velocity),
        "root": 0.15 * torch.exp(-5.0 * root),
        "root_velocity": 0.1 * torch.exp(-1.0 * motion),
        "key_bodies": 0.15 * torch.exp(-10.0 * key),
    }
