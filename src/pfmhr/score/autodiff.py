"""The reference: forward-mode differentiation of whatever the denoiser is."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.func import jvp


class AutodiffEngine:
    """``torch.func.jvp`` of a module ``(noisy_pose, flow_time) → clean pose``, at one flow time."""

    def __init__(self, denoiser: nn.Module, flow_time: float, device: torch.device, dtype: torch.dtype) -> None:
        self._denoiser = copy.deepcopy(denoiser).to(device, dtype).requires_grad_(False)
        self._flow_time = torch.tensor(flow_time, device=device, dtype=dtype)

    def clean_pose(self, noisy_pose: Tensor) -> Tensor:
        """F(z): ``(N, J)`` → ``(N, J)``."""
        with torch.no_grad():
            return self._denoiser(noisy_pose, self._flow_time)

    def respond(self, noisy_pose: Tensor, directions: Tensor) -> Tensor:
        """``J(z)·d``: ``(N, J)``, ``(D, N, J)`` → ``(D, N, J)``."""
        if directions.numel() == 0:
            return torch.zeros_like(directions)
        # Forward mode makes views of its inputs, which tensors born in inference mode do not allow.
        with torch.inference_mode(False), torch.no_grad():
            poses = noisy_pose.clone().expand(directions.shape).contiguous()
            return jvp(lambda at: self._denoiser(at, self._flow_time), (poses,), (directions.clone(),))[1]
