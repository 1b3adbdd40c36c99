"""Controls: factors that know nothing of their transition, to tell what a prior says from what any factor does."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pfmhr.inputs import as_reward_and_factor
from pfmhr.reward.modulators import Modulator


class RandomModulation:
    """A control that knows nothing: factors drawn evenly from [exp(−α), 1]."""

    def __init__(self, alpha: float) -> None:
        self._lowest = math.exp(-alpha)
        self._sum, self._count = 0.0, 0

    def __call__(self, previous_pose: Any, pose: Any, dt: float, *, valid: Tensor | None = None, **_: Any) -> Tensor:
        """Factors ``(N,)``; 1 where ``valid`` is False."""
        factor = self._lowest + (1.0 - self._lowest) * torch.rand(len(pose))
        factor = factor if valid is None else torch.where(valid, factor, 1.0)
        self._sum, self._count = self._sum + float(factor.sum()), self._count + len(factor)
        return factor

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """The reward times the factor."""
        rewards, factors = as_reward_and_factor(reward, factor)
        return rewards * factors

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """The mean factor since the last reset."""
        mean = self._sum / max(1, self._count)
        if reset:
            self._sum, self._count = 0.0, 0
        return {"multiplier": mean}


class ShuffledModulation:
    """A prior's own factors, each on another transition of the rollout: as many cuts, as deep, on anyone."""

    def __init__(self, modulator: Modulator) -> None:
        self._modulator = modulator

    def __call__(
        self, previous_pose: Any, pose: Any, dt: float, *, valid: Tensor | None = None, **about: Any
    ) -> Tensor:
        """Factors ``(N,)``; those that are not ``valid`` keep theirs, which is 1."""
        factor = self._modulator(previous_pose, pose, dt, valid=valid, **about)
        there = torch.arange(len(factor)) if valid is None else valid.nonzero().flatten()
        factor[there] = factor[there[torch.randperm(len(there))]]
        return factor

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """As with the prior itself."""
        return self._modulator.combine(reward, factor)

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """As with the prior itself: shuffling changes none of them."""
        return self._modulator.statistics(reset)
