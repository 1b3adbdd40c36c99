"""DeepMimic's tracking reward, with MimicKit's weights and scales."""

from __future__ import annotations

import torch
from torch import Tensor

from pfmhr.tracking.env.library import Frames
from pfmhr.tracking.env.observations import RobotState
from pfmhr.tracking.env.rotations import angle_between, rotate

HALF_WEIGHT = {"knee": 0.6, "elbow": 0.6, "ankle": 0.5, "wrist": 0.5}
"""By a part of the joint's name; every other joint counts 1."""


def joint_weights(names: tuple[str, ...]) -> Tensor:
    """(J,) how much each joint counts."""
    return torch.tensor([next((w for part, w in HALF_WEIGHT.items() if part in name), 1.0) for name in names])


def deepmimic_terms(
    state: RobotState, reference: Frames, body_pos: Tensor, weights: Tensor, keys: Tensor
) -> dict[str, Tensor]:
    """(N,) each, weight·exp(−scale·error²); their sum, in [0, 1], is the reward."""
    pose = (weights * (reference.joint_pos - state.joint_pos).square()).sum(dim=1)
    velocity = (weights * (reference.joint_vel - state.joint_vel).square()).sum(dim=1)
    turn = angle_between(reference.root_quat, state.root_quat)
    root = (reference.root_pos - state.root_pos).square().sum(dim=1) + 0.1 * turn.square()
    spin = rotate(reference.root_quat, reference.root_spin) - rotate(state.root_quat, state.root_spin)
    motion = (reference.root_velocity - state.root_velocity).square().sum(dim=1) + 0.1 * spin.square().sum(dim=1)
    key = (body_pos[:, keys] - state.body_pos[:, keys]).square().sum(dim=(1, 2))
    return {
        "pose": 0.5 * torch.exp(-0.25 * pose),
        "velocity": 0.1 * torch.exp(-0.01 * velocity),
        "root": 0.15 * torch.exp(-5.0 * root),
        "root_velocity": 0.1 * torch.exp(-1.0 * motion),
        "key_bodies": 0.15 * torch.exp(-10.0 * key),
    }
