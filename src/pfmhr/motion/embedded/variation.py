"""What differs between two clips of one name: a seeded draw of parameters, and the clip's clock."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pfmhr.motion.embedded.curves import Array


@dataclass(frozen=True)
class Clock:
    """The instants of one clip. A loop ends one frame before it would repeat its first."""

    fps: float
    frames: int
    loop: bool

    @staticmethod
    def lasting(seconds: float, fps: float, loop: bool = False) -> Clock:
        """About ``seconds``, rounded to whole frames; at least two frames."""
        return Clock(fps, max(2, round(seconds * fps) + (0 if loop else 1)), loop)

    @property
    def duration(self) -> float:
        """Length of the movement in s: for a loop one whole period."""
        return (self.frames if self.loop else self.frames - 1) / self.fps

    @property
    def time(self) -> Array:
        """``(T,)`` in s from 0."""
        return np.arange(self.frames) / self.fps


class Variation:
    """Draws the parameters of one clip. Seed 0 gives the middle of every range, others vary."""

    def __init__(self, name: str, seed: int) -> None:
        self.typical = seed == 0
        self._generator = np.random.default_rng([zlib.crc32(name.encode()), seed])

    def between(self, low: float, high: float) -> float:
        """A number of the range; its middle for the typical clip."""
        drawn = float(self._generator.uniform(low, high))
        return 0.5 * (low + high) if self.typical else drawn

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high`` inclusive; the middle for the typical clip."""
        drawn = int(self._generator.integers(low, high + 1))
        return (low + high) // 2 if self.typical else drawn

    def chance(self) -> bool:
        """Heads or tails; tails for the typical clip."""
        return bool(self._generator.random() < 0.5) and not self.typical

    def around(self, amounts: ArrayLike) -> Array:
        """Independent offsets within ± ``amounts``, of its shape; zeros for the typical clip."""
        spread = np.asarray(amounts, dtype=np.float64)
        drawn = self._generator.uniform(-1.0, 1.0, spread.shape) * spread
        return np.zeros_like(drawn) if self.typical else drawn

    def wander(self, clock: Clock, amounts: ArrayLike) -> Array:
        """Slow drift within ± ``amounts`` ``(C,)``: ``(T, C)``, never at rest, closing over a loop.

        People never hold a joint perfectly still; this applies to the typical clip as well.
        """
        spread = np.asarray(amounts, dtype=np.float64)
        slowest = max(1, round(0.3 * clock.duration))
        waves = slowest + np.arange(2)[:, None] + self._generator.integers(0, 2, (2, len(spread)))
        offsets = self._generator.uniform(0.0, 2.0 * np.pi, waves.shape)
        # A clip that is no loop must not come back to the very pose it started from.
        period = clock.duration if clock.loop else 1.3 * clock.duration
        angle = 2.0 * np.pi * clock.time[:, None, None] / period
        return 0.5 * spread * np.sin(angle * waves + offsets).sum(axis=1)
