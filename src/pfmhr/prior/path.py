"""The flow matching path between noise and poses, and how times along it are drawn.

Convention of the paper: flow time 0 is noise, flow time 1 is a clean pose.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pfmhr.errors import InputError

DELTA = 1e-3
"""δ: velocities are divided by max(1 − t, δ), and scores are refused beyond t = 1 − δ."""


def corrupt(clean_pose: Tensor, noise: Tensor, flow_time: Tensor | float) -> Tensor:
    """Eq. 5: ``z = t·x + (1 − t)·ε``. ``flow_time`` broadcasts over the last axis of the poses."""
    time = _column(flow_time, clean_pose)
    return time * clean_pose + (1.0 - time) * noise


def velocity_scale(flow_time: Tensor | float, like: Tensor, delta: float = DELTA) -> Tensor:
    """``max(1 − t, δ)`` as a column that broadcasts over the joints of ``like``; Eq. 7's denominator."""
    return (1.0 - _column(flow_time, like)).clamp_min(delta)


def _column(flow_time: Tensor | float, like: Tensor) -> Tensor:
    time = torch.as_tensor(flow_time, dtype=like.dtype, device=like.device)
    return time if time.ndim == 0 else time.unsqueeze(-1)


@dataclass(frozen=True)
class TimeSampling:
    """Logit-normal flow times: ``t = sigmoid(mean + std·n)``, n standard normal.

    The paper does not state its parameters. (0, 1) puts 13.6 % of the draws above t = 0.75, where
    scores are evaluated; JiT's (−0.8, 0.8) puts 0.9 % there.
    """

    mean: float = 0.0
    """Centre of the logits of flow times."""
    std: float = 1.0
    """Spread of the logits of flow times."""

    def __post_init__(self) -> None:
        if not self.std > 0:
            raise InputError("the spread of flow times must be positive", got=self.std, code="bad_config")

    def from_uniform(self, uniform: Tensor) -> Tensor:
        """Flow times whose ranks in the distribution are ``uniform`` in (0, 1); any shape."""
        tiny = 1e-6
        normal = torch.special.ndtri(uniform.clamp(tiny, 1.0 - tiny).double())
        return torch.sigmoid(self.mean + self.std * normal).to(uniform.dtype)

    def stratified(self, count: int, generator: torch.Generator) -> Tensor:
        """``count`` times, one from each of ``count`` equally likely slices: shape ``(count,)`` float32.

        A batch shares these few times among its rows. One per slice keeps the average over a batch
        at least as accurate as independent draws for every row would for a smooth loss.
        """
        jitter = torch.rand(count, generator=generator)
        return self.from_uniform((torch.arange(count) + jitter) / count)
