"""Several clips with one policy: what is hard must not starve next to what is easy."""

from __future__ import annotations

import torch
from torch import Tensor


class ClipMeans:
    """A forgetful mean per clip, of whatever is told of them."""

    def __init__(self, clips: int, memory: float) -> None:
        """``memory``: how many values of a clip it takes to forget most of what was known of it."""
        self.memory = memory
        self.means = torch.zeros(clips)
        """(M,) above zero; zero where nothing was told yet."""

    def learn(self, clip: Tensor, values: Tensor) -> None:
        """``values`` ``(N,)`` of clips ``(N,)``; the first ones of a clip are its mean."""
        told = torch.bincount(clip, minlength=len(self.means))
        sums = torch.zeros_like(self.means).index_add_(0, clip, values)
        new = sums / told.clamp(min=1)
        rate = 1.0 - torch.exp(-told / self.memory)
        known = torch.where(self.means == 0, new, self.means + rate * (new - self.means))
        self.means = torch.where(told > 0, known, self.means)

    def relative(self) -> Tensor:
        """(M,) each clip's mean as a multiple of the average over clips, at least 0.01; 1 where nothing is known."""
        known = self.means > 0
        average = self.means.sum() / known.sum().clamp(min=1)
        return torch.where(known, (self.means / average).clamp(min=0.01), 1.0)
