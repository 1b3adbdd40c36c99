"""A human motion: where the joints of a skeleton are and how they are turned, z up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.frame_rate import require_rate

_WHOLE = 0.01
"""Rates whose ratio is this near to a whole number need no interpolation: frame times in files are rounded."""


@dataclass(frozen=True, eq=False)
class Human:
    """T frames of J joints. Lengths are of any unit; only their ratios are used."""

    names: tuple[str, ...]
    positions: NDArray[np.floating]
    """``(T, J, 3)``."""
    rotations: NDArray[np.floating] | None
    """``(T, J, 3, 3)`` orientation of the frame each joint carries; None where only positions are known."""
    fps: float
    zero_positions: NDArray[np.floating] | None = None
    """``(J, 3)`` the same with all joints at 0, in which all orientations are the unit matrix."""
    name: str = "motion"
    source: str = ""
    loop: bool = False
    """Whether the last frame leads into the first."""
    notes: tuple[str, ...] = field(default=())
    """What the reader had to decide."""

    def __post_init__(self) -> None:
        joints = len(self.names)
        shape = np.shape(self.positions)
        if len(shape) != 3 or shape[1:] != (joints, 3) or not shape[0]:
            raise InputError(
                "positions have the wrong shape", expected=f"(frames, {joints}, 3)", got=shape, code="bad_shape"
            )
        turns = None if self.rotations is None else np.shape(self.rotations)
        if turns not in (None, (*shape, 3)):
            raise InputError("rotations have the wrong shape", expected=(*shape, 3), got=turns, code="bad_shape")
        require_rate(self.fps)

    @property
    def num_frames(self) -> int:
        """T."""
        return len(self.positions)

    def from_frame(self, start: int) -> Human:
        """The motion from a frame on."""
        turns = None if self.rotations is None else self.rotations[start:]
        return replace(self, positions=self.positions[start:], rotations=turns)

    def resample(self, fps: float) -> Human:
        """The same movement at another rate: every n-th frame where that fits, else interpolated."""
        require_rate(fps)
        stride = round(self.fps / fps)
        if stride >= 1 and abs(self.fps / fps - stride) <= _WHOLE * stride:
            turns = None if self.rotations is None else self.rotations[::stride]
            return replace(self, positions=self.positions[::stride], rotations=turns, fps=self.fps / stride)
        return self._interpolated(fps)

    def _interpolated(self, fps: float) -> Human:
        last = self.num_frames - 1
        place = np.arange(int(np.floor(last / self.fps * fps + 1e-6)) + 1) * (self.fps / fps)
        low = np.minimum(place.astype(np.intp), max(last - 1, 0))
        high = np.minimum(low + 1, last)
        blend = (place - low)[:, None, None]
        positions = self.positions[low] * (1.0 - blend) + self.positions[high] * blend
        turns = None
        if self.rotations is not None:
            mixed = self.rotations[low] * (1.0 - blend[..., None]) + self.rotations[high] * blend[..., None]
            left, _, right = np.linalg.svd(mixed)  # the rotation nearest to the mixture
            turns = left @ right
        return replace(self, positions=positions, rotations=turns, fps=float(fps))
