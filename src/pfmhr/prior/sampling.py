"""New poses: the flow from noise to data, integrated step by step."""

from __future__ import annotations

import torch
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.prior.denoiser import ROWS_PER_PASS, Denoiser


@torch.no_grad()
def sample_poses(
    denoiser: Denoiser, count: int, joints: int, generator: torch.Generator | None = None, steps: int = 50
) -> Tensor:
    """Normalised poses ``(count, J)`` by Heun's method on ``dz/dt = (F(z, t) − z)/(1 − t)``, the last step Euler.

    The last Euler step lands on the clean-pose estimate itself, so nothing is ever divided by zero
    and no clamp leaves noise behind.
    """
    if count < 1 or steps < 1:
        raise InputError("count and steps must be at least 1", got=f"{count}, {steps}", code="bad_config")
    device = next(denoiser.parameters()).device
    poses = torch.randn(count, joints, generator=generator, device=generator.device if generator else device).to(device)

    for part in poses.split(ROWS_PER_PASS):
        part.copy_(_integrated(denoiser, part, steps))
    return poses


def _integrated(denoiser: Denoiser, poses: Tensor, steps: int) -> Tensor:
    """From noise ``(n, J)`` to poses."""

    def velocity(at: Tensor, time: float) -> Tensor:
        return (denoiser(at, torch.tensor(time, device=at.device)) - at) / (1.0 - time)

    for step in range(steps):
        now, then = step / steps, (step + 1) / steps
        first = velocity(poses, now)
        ahead = poses + (then - now) * first
        if step + 1 < steps:
            ahead = poses + (then - now) * 0.5 * (first + velocity(ahead, then))
        poses = ahead
    return poses
