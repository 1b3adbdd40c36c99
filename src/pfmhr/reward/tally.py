"""Counting what a modulator does, without waiting for the device at every step."""

from __future__ import annotations

import torch
from torch import Tensor


class Tally:
    """Sums over transitions; read once per logging interval."""

    def __init__(self) -> None:
        self._sums: Tensor | None = None

    def add(self, multiplier: Tensor, percentile: Tensor, shortfall: Tensor, judged: Tensor, finite: Tensor) -> None:
        """Take in one batch; all ``(N,)``. ``shortfall``: 0 where nothing is cut, 1 where as much as ever is."""
        weight = judged.float()
        sums = torch.stack(
            [
                weight.sum(),
                (multiplier * weight).sum(),
                (percentile * weight).sum(),
                ((shortfall <= 0.0) & judged).sum(),
                ((shortfall >= 1.0) & judged).sum(),
                (~judged).sum(),
                (~finite).sum(),
            ]
        )
        if sums.device.type != "mps":  # which has no float64
            sums = sums.double()  # a float32 stops counting at 16 million
        self._sums = sums if self._sums is None else self._sums + sums

    def figures(self, reset: bool) -> dict[str, float]:
        """Means over the judged transitions, and how many were masked, among them those that were not finite."""
        if self._sums is None:
            return {}
        count, multiplier, percentile, good, bad, masked, broken = self._sums.tolist()
        if reset:
            self._sums = None
        judged = max(count, 1.0)
        return {
            "multiplier": multiplier / judged if count else 1.0,
            "percentile": percentile / judged,
            "share_good": good / judged,
            "share_between": (count - good - bad) / judged,
            "share_bad": bad / judged,
            "masked": masked,
            "not_finite": broken,
        }
