"""A modulator that fades away in the course of training."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from pfmhr.inputs import check_count
from pfmhr.reward.modulators import Modulator


class Fading:
    """Another modulator's factors ``exp(−α·ρ)``, whose α falls evenly to zero over so many transitions."""

    def __init__(self, modulator: Modulator, samples: int) -> None:
        self.modulator, self.samples = modulator, check_count(samples, "samples")
        self.seen = 0
        """Transitions so far; whoever goes on from a checkpoint sets it."""
        self._sum, self._count = 0.0, 0.0

    @property
    def strength(self) -> float:
        """What is left of α: 1 at the beginning, 0 from ``samples`` transitions on."""
        return max(0.0, 1.0 - self.seen / self.samples)

    def __call__(
        self, previous_pose: Any, pose: Any, dt: float, *, valid: Tensor | None = None, **about: Any
    ) -> Tensor:
        """Faded factors ``(N,)``."""
        self._strength = self.strength  # of the batch that statistics are about
        factor = self.modulator(previous_pose, pose, dt, valid=valid, **about) ** self._strength
        self.seen += len(factor)
        counted = factor if valid is None else factor[valid]
        self._sum, self._count = self._sum + float(counted.sum()), self._count + len(counted)
        return factor

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """As without fading."""
        return self.modulator.combine(reward, factor)

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """The modulator's figures, its mean factor after fading, and the strength of the last batch."""
        figures = self.modulator.statistics(reset)
        if self._count:
            figures |= {"multiplier": self._sum / self._count, "strength": self._strength}
        if reset:
            self._sum, self._count = 0.0, 0.0
        return figures
