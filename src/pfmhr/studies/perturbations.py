"""The paper's ways of spoiling a joint change while keeping its size: rotate, permute, flip signs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

ANGLES = (15.0, 30.0, 45.0, 60.0, 75.0, 90.0)
FRACTIONS = (0.25, 0.5, 0.75, 1.0)


def rotate(direction: Tensor, degrees: float, generator: torch.Generator) -> Tensor:
    """Turn each direction ``(N, J)`` by an angle towards a random perpendicular one."""
    other = torch.randn(direction.shape, generator=generator, dtype=direction.dtype)
    length = direction.norm(dim=1, keepdim=True)
    unit = direction / length.clamp_min(1e-12)
    other = other - (other * unit).sum(dim=1, keepdim=True) * unit
    other = other / other.norm(dim=1, keepdim=True)
    angle = torch.deg2rad(torch.tensor(degrees, dtype=direction.dtype))
    return torch.cos(angle) * direction + torch.sin(angle) * length * other


def permute(direction: Tensor, fraction: float, generator: torch.Generator) -> Tensor:
    """Shuffle a random share of the joints' changes among themselves, anew for each row of ``(N, J)``."""
    chosen = _random_joints(direction, fraction, generator)  # (N, m)
    shuffled = chosen.gather(1, torch.rand(chosen.shape, generator=generator).argsort(dim=1))
    return direction.scatter(1, chosen, direction.gather(1, shuffled))


def flip(direction: Tensor, fraction: float, generator: torch.Generator) -> Tensor:
    """Reverse a random share of the joints' changes, anew for each row of ``(N, J)``."""
    chosen = _random_joints(direction, fraction, generator)
    return direction.scatter(1, chosen, -direction.gather(1, chosen))


def _random_joints(direction: Tensor, fraction: float, generator: torch.Generator) -> Tensor:
    """Indices of ``round(fraction·J)`` joints per row, without repetition: ``(N, m)``."""
    count = round(fraction * direction.shape[1])
    return torch.rand(direction.shape, generator=generator).argsort(dim=1)[:, :count]


Perturbation = Callable[[Tensor, float, torch.Generator], Tensor]

FAMILIES: dict[str, tuple[Perturbation, tuple[float, ...]]] = {
    "angular": (rotate, ANGLES),
    "permutation": (permute, FRACTIONS),
    "sign_flip": (flip, FRACTIONS),
}
"""Family → how to perturb, and the severities over which it is averaged."""
