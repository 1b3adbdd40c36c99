"""From a reference percentile to the factor on the reward (Eq. 17)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pfmhr.errors import InputError

if TYPE_CHECKING:  # settings are read where torch is not
    from torch import Tensor


@dataclass(frozen=True)
class Ramp:
    """``r = exp(−α·ρ)``, ``ρ = clip((p_good − u)/(p_good − p_bad), 0, 1)``."""

    alpha: float = 0.5
    """Strength: the factor never falls below exp(−α)."""
    p_good: float = 0.05
    """From this percentile of the reference on, the reward is left alone."""
    p_bad: float = 0.01
    """At and below this one, it is cut as much as it ever is."""

    def __post_init__(self) -> None:
        if not (0 <= self.alpha < math.inf and 0 <= self.p_bad < self.p_good <= 1):
            raise InputError(
                "impossible ramp", expected="alpha ≥ 0 and finite, 0 ≤ p_bad < p_good ≤ 1", got=self, code="bad_config"
            )

    def multiplier(self, percentile: Tensor) -> Tensor:
        """Percentiles in [0, 1], any shape → factors in [exp(−α), 1]."""
        return (-self.alpha * self.shortfall(percentile)).exp()

    def shortfall(self, percentile: Tensor) -> Tensor:
        """ρ: 0 from p_good on, 1 at and below p_bad."""
        return ((self.p_good - percentile) / (self.p_good - self.p_bad)).clamp(0.0, 1.0)

    def region(self, percentile: Tensor) -> Tensor:
        """0 below p_bad, 1 on the ramp, 2 from p_good on."""
        return (percentile >= self.p_bad).long() + (percentile >= self.p_good).long()
