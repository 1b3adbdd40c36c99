"""Rotations as unit quaternions (wxyz), in batches on any device."""

from __future__ import annotations

import torch
from torch import Tensor


def inverse(quat: Tensor) -> Tensor:
    """The opposite turn: ``(…, 4)`` → ``(…, 4)``."""
    return torch.cat([quat[..., :1], -quat[..., 1:]], dim=-1)


def compose(first: Tensor, second: Tensor) -> Tensor:
    """``first·second``: turn by ``second``, then by ``first``; ``(…, 4)`` each."""
    scalar, vector = first[..., :1], first[..., 1:]
    other, along = second[..., :1], second[..., 1:]
    vector, along = torch.broadcast_tensors(vector, along)
    real = scalar * other - (vector * along).sum(dim=-1, keepdim=True)
    return torch.cat([real, scalar * along + other * vector + torch.linalg.cross(vector, along)], dim=-1)


def rotate(quat: Tensor, vector: Tensor) -> Tensor:
    """Vectors ``(…, 3)`` turned by ``quat`` ``(…, 4)``."""
    axis, vector = torch.broadcast_tensors(quat[..., 1:], vector)
    twice = 2.0 * torch.linalg.cross(axis, vector)
    return vector + quat[..., :1] * twice + torch.linalg.cross(axis, twice)


def rotate_back(quat: Tensor, vector: Tensor) -> Tensor:
    """Vectors ``(…, 3)`` seen in the frame that ``quat`` turned."""
    return rotate(inverse(quat), vector)


def six_numbers(quat: Tensor) -> Tensor:
    """The turned x axis and the turned z axis: ``(…, 4)`` → ``(…, 6)``, continuous where angles jump."""
    w, x, y, z = quat.unbind(dim=-1)
    first = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    third = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    return torch.stack([*first, *third], dim=-1)


def hinge_six_numbers(angle: Tensor, axis: Tensor) -> Tensor:
    """The same for hinges: angles ``(…, J)`` rad about axes ``(J, 3)`` → ``(…, J, 6)``."""
    half = 0.5 * angle
    return six_numbers(torch.cat([half.cos()[..., None], half.sin()[..., None] * axis], dim=-1))


def angle_between(first: Tensor, second: Tensor) -> Tensor:
    """Geodesic angle in rad in [0, π]: ``(…, 4)``, ``(…, 4)`` → ``(…,)``."""
    relative = compose(first, inverse(second))
    return 2.0 * torch.atan2(torch.linalg.vector_norm(relative[..., 1:], dim=-1), relative[..., 0].abs())


def turn_vector(quat: Tensor) -> Tensor:
    """Axis times angle in rad, the shorter way round: ``(…, 4)`` → ``(…, 3)``."""
    quat = torch.where(quat[..., :1] < 0, -quat, quat)
    sine = torch.linalg.vector_norm(quat[..., 1:], dim=-1, keepdim=True)
    angle = 2.0 * torch.atan2(sine, quat[..., :1])
    return torch.where(sine < 1e-7, 2.0, angle / sine.clamp(min=1e-7)) * quat[..., 1:]
