"""What ADD's discriminator compares."""

from __future__ import annotations

import torch
from torch import Tensor

from pfmhr.tracking.env.library import Frames
from pfmhr.tracking.env.observations import RobotState
from pfmhr.tracking.env.rotations import hinge_six_numbers, rotate, six_numbers


def difference(state: RobotState, reference: Frames | RobotState, axes: Tensor | None) -> Tensor:
    """Reference minus robot ``(N, D)``, both with bodies of the same moment; ``axes`` if joints enter as rotations."""
    count = len(state.root_pos)

    def features(moment: RobotState | Frames) -> Tensor:
        joints = moment.joint_pos if axes is None else hinge_six_numbers(moment.joint_pos, axes).view(count, -1)
        spin = rotate(moment.root_quat, moment.root_spin)
        bodies = moment.body_pos[:, 1:].reshape(count, -1)
        parts = [moment.root_pos, six_numbers(moment.root_quat), joints, bodies]
        return torch.cat([*parts, moment.root_velocity, spin, moment.joint_vel], dim=1)

    return features(reference) - features(state)
