"""Empirical distributions of reference scores, one per motion, looked up for many environments at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pfmhr.errors import InputError


class ReferenceDistribution:
    """Sorted reference scores of M motions; ranks of N scores, each among its own motion's.

    Non-negative floats are ordered as their bits are. A motion's number in front of those bits makes one
    integer that sorts by motion and then by score, so that one search serves all motions, ties exact.
    """

    def __init__(self, scores: Sequence[Tensor]) -> None:
        """One ``(T_m,)`` tensor of non-negative scores per motion, in any order; none may be empty."""
        if not scores:
            raise InputError("a reference distribution needs at least one motion", code="bad_calibration")
        for number, values in enumerate(scores):
            if values.ndim != 1 or not len(values) or not bool((values >= 0).all()):
                raise InputError(
                    f"no reference distribution for motion {number}",
                    expected="at least one finite score",
                    got=f"{tuple(values.shape)} scores",
                    code="bad_calibration",
                )
        self.scores = tuple(values.detach().float().cpu().sort().values for values in scores)
        self._counts = torch.tensor([len(values) for values in self.scores])
        self._starts = self._counts.cumsum(0) - self._counts
        self._keys = torch.cat([_key(values, torch.tensor(n)) for n, values in enumerate(self.scores)])
        self._on: dict[torch.device, tuple[Tensor, Tensor, Tensor]] = {}

    def __len__(self) -> int:
        return len(self.scores)

    def not_above(self, score: Tensor, motion: Tensor) -> Tensor:
        """Share of the motion's reference scores ≤ each score: the empirical CDF. Shapes ``(N,)``, ``(N,)``."""
        keys, starts, counts = self._at(score.device)
        rank = torch.searchsorted(keys, _key(score, motion), right=True) - starts[motion]
        return rank.float() / counts[motion]

    def not_below(self, score: Tensor, motion: Tensor) -> Tensor:
        """Share of the motion's reference scores ≥ each score: the reverse percentile."""
        keys, starts, counts = self._at(score.device)
        rank = torch.searchsorted(keys, _key(score, motion), right=False) - starts[motion]
        return 1.0 - rank.float() / counts[motion]

    def _at(self, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        if device not in self._on:
            self._on[device] = (self._keys.to(device), self._starts.to(device), self._counts.to(device))
        return self._on[device]


def _key(score: Tensor, motion: Tensor) -> Tensor:
    # Scores are squares; anything else that comes along (NaN, −0) counts as 0 and so stays within its motion.
    clean = torch.nan_to_num(score.float(), nan=0.0, posinf=torch.inf, neginf=0.0).clamp_min(0.0) + 0.0
    return (motion.long() << 32) | clean.contiguous().view(torch.int32).long()
