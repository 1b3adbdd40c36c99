"""What the network's output means: one clean-pose map, whichever quantity was predicted."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from pfmhr.prior.gaussians import MixtureNetwork
from pfmhr.prior.network import PoseNetwork
from pfmhr.prior.path import DELTA, corrupt, velocity_scale

Prediction = Literal["clean", "velocity"]

ROWS_PER_PASS = 16_384
"""Poses that go through the network at once where many are given: in between it needs a hundred times as much."""


class Denoiser(nn.Module):
    """The clean-pose map ``F(z, t)`` on normalised poses, Eq. 10 or, for velocity prediction, Eq. 22."""

    def __init__(self, network: PoseNetwork | MixtureNetwork, prediction: Prediction, delta: float = DELTA) -> None:
        super().__init__()
        self.network = network
        self.prediction = prediction
        self.delta = delta

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        """Clean pose estimate, shape of ``noisy_pose`` ``(…, J)``; ``flow_time`` broadcasts to ``(…)``."""
        out = self.network(noisy_pose, flow_time)
        if self.prediction == "clean":
            return out
        return noisy_pose + (1.0 - flow_time.unsqueeze(-1)) * out

    def loss(self, clean_pose: Tensor, noise: Tensor, flow_time: Tensor) -> Tensor:
        """Squared velocity error summed over joints, Eq. 8, shape ``(…)``.

        For clean-pose prediction the residual ``(x − F)/max(1 − t, δ)`` is the velocity error wherever
        t ≤ 1 − δ; using the same clamp for target and prediction keeps it finite beyond.
        """
        noisy_pose = corrupt(clean_pose, noise, flow_time)
        out = self.network(noisy_pose, flow_time)
        if self.prediction == "clean":
            error = (clean_pose - out) / velocity_scale(flow_time, clean_pose, self.delta)
        else:
            error = clean_pose - noise - out
        return error.square().sum(dim=-1)


@torch.no_grad()
def denoise_by_parts(denoiser: nn.Module, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
    """The clean-pose map of poses ``(…, J)`` at one flow time or ``(…)``, in memory that does not grow with them."""
    if noisy_pose.numel() <= ROWS_PER_PASS * noisy_pose.shape[-1]:
        return denoiser(noisy_pose, flow_time)
    rows, out = (
        noisy_pose.reshape(-1, noisy_pose.shape[-1]),
        torch.empty_like(noisy_pose, memory_format=torch.contiguous_format),
    )
    into = out.view(-1, out.shape[-1]).split(ROWS_PER_PASS)
    parts = rows.split(ROWS_PER_PASS)
    times = flow_time.reshape(-1).split(ROWS_PER_PASS) if flow_time.ndim else [flow_time] * len(parts)
    for part, time, here in zip(parts, times, into, strict=True):
        here.copy_(denoiser(part, time))
    return out
