"""The denoiser's full Jacobian, for looking at it; scores never build it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import jvp

from pfmhr.prior.denoiser import Denoiser


def jacobian(denoiser: Denoiser, noisy_pose: Tensor, flow_time: float, chunk: int = 256) -> Tensor:
    """∂F/∂z at each pose: noisy_pose ``(N, J)`` → ``(N, J, J)``, column j the response to joint j."""
    joints = noisy_pose.shape[-1]
    at = torch.tensor(flow_time, dtype=noisy_pose.dtype, device=noisy_pose.device)
    directions = torch.eye(joints, dtype=noisy_pose.dtype, device=noisy_pose.device)
    pieces = []
    for part in noisy_pose.split(chunk):
        repeated = part.unsqueeze(1).repeat(1, joints, 1)  # forward mode needs memory of its own for every row
        along = directions.repeat(len(part), 1, 1)
        with torch.no_grad():
            response = jvp(lambda poses: denoiser(poses, at), (repeated,), (along,))[1]
        pieces.append(response.transpose(1, 2))
    return torch.cat(pieces)
