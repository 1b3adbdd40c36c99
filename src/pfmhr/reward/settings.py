"""The settings of each modulator; reading them needs no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pfmhr.errors import InputError
from pfmhr.learning.limits import require_numbers
from pfmhr.reward.ramp import Ramp
from pfmhr.score.defaults import T_EVAL

if TYPE_CHECKING:
    from torch import Tensor

DRAWS = 16
"""Draws of the noise per transition of a reference: enough that on short clips the share of clean transitions below
p_good differs between seeds by less than a tenth of itself (one draw: a third); see `Calibration.fit`."""


@dataclass(frozen=True)
class NoSettings:
    """Of a modulator without settings."""


@dataclass(frozen=True)
class RandomSettings:
    """Of random factors."""

    alpha: float = 0.5
    """Factors lie between exp(−α) and 1."""

    def __post_init__(self) -> None:
        require_numbers(self, not_negative=("alpha",))


@dataclass(frozen=True)
class CalibratedSettings:
    """Of a modulator that ranks a score among the reference's own."""

    ramp: Ramp = field(default_factory=Ramp)
    pooled: bool = False
    """One reference distribution for all clips instead of one per clip."""
    phases: int = 4
    """Reference steps begin this often per control step; short clips would give a coarse distribution otherwise."""
    draws: int = DRAWS
    """Draws of the noise per transition of the reference."""

    def __post_init__(self) -> None:
        require_numbers(self, at_least_one=("phases", "draws"))


@dataclass(frozen=True)
class PoseGeometrySettings(CalibratedSettings):
    """Of PFM-HR."""

    t_eval: float = T_EVAL
    """Flow time of the score."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_numbers(self, shares=("t_eval",))


@dataclass(frozen=True)
class DistanceReward:
    """PDF-HR's own numbers; ``combine`` decides what becomes of them."""

    good: Literal["dynamic", "static"] = "dynamic"
    """What counts as near enough: the distance of the reference pose at the same time, or the clip's largest."""
    combine: Literal["multiply", "add"] = "multiply"
    """Multiply exp(−α·s) onto the tracking reward, as this paper's equation; or add 0.2·exp(−s), as PDF-HR's code."""
    tolerance: float = 0.05
    """rad added to what counts as near enough."""
    bad: float = 0.4
    """rad from the corpus from which on a pose is as bad as it gets; more for a sparse corpus."""
    alpha: float = 0.5
    """Strength of the factor exp(−α·s)."""
    weight: float = 0.2
    """Weight of what is added."""

    def __post_init__(self) -> None:
        known = self.good in ("dynamic", "static") and self.combine in ("multiply", "add")
        if not (known and self.bad > 0 and self.tolerance >= 0 and 0 <= self.alpha < math.inf and self.weight >= 0):
            raise InputError("impossible distance reward", got=self, code="bad_config")

    def badness(self, distance: Tensor, reference: Tensor) -> Tensor:
        """0 up to the reference's distance plus the tolerance, 1 from ``bad`` on; any shape."""
        good = (reference + self.tolerance).clamp(0.0, 0.9875 * self.bad)  # 0.395 of 0.4
        return ((distance - good) / (self.bad - good)).clamp(0.0, 1.0)
