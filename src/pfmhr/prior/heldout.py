"""The held-out velocity loss, by flow time and on average."""

from __future__ import annotations

import torch
from torch import Tensor

from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.path import TimeSampling

GRID = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95)
SEED = 12345


@torch.no_grad()
def held_out_loss(denoiser: Denoiser, poses: Tensor, time: TimeSampling, groups: int = 64) -> float:
    """Expected loss per joint under the training times, on normalised poses ``(N, J)``; the same noise every time."""
    generator = torch.Generator().manual_seed(SEED)
    rows = len(poses) - len(poses) % groups if len(poses) >= groups else len(poses)
    groups = groups if len(poses) >= groups else 1
    order = torch.randperm(len(poses), generator=generator)  # as they come, each clip would have times of its own
    mixed = poses[order.to(poses.device)]
    shaped = mixed[:rows].reshape(groups, -1, poses.shape[1])
    times = time.stratified(groups, generator).unsqueeze(1).to(poses.device)
    noise = torch.randn(shaped.shape, generator=generator).to(poses.device)
    return float(denoiser.loss(shaped, noise, times).mean()) / poses.shape[1]


@torch.no_grad()
def loss_by_time(denoiser: Denoiser, poses: Tensor, grid: tuple[float, ...] = GRID) -> dict[float, float]:
    """Loss per joint at each flow time of the grid, on normalised poses ``(N, J)``."""
    losses = {}
    for flow_time in grid:
        generator = torch.Generator().manual_seed(SEED)
        noise = torch.randn(poses.shape, generator=generator).to(poses.device)
        at = torch.tensor(flow_time, device=poses.device)
        losses[flow_time] = float(denoiser.loss(poses, noise, at).mean()) / poses.shape[1]
    return losses
