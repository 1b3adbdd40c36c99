"""Errors of two policies over the frames that both tracked.

A policy that is lost early is only measured where tracking is easy. Where two runs were evaluated from the same
starting frames, their errors over the stretch that both tracked can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.foreign import read_file, unpack_npz


@dataclass(frozen=True, eq=False)
class Episodes:
    """Errors at every control step of N episodes; NaN from the step on at which an episode was lost or over."""

    clip: NDArray
    """(N,) number of the clip."""
    frame: NDArray
    """(N,) frame of the clip at which the episode began."""
    position_error: NDArray
    """(N, T) E_pos in m."""
    rotation_error: NDArray
    """(N, T) E_rot in rad."""

    def save(self, path: Path) -> None:
        """As npz, errors in half precision: 0.05 % of an error matters to nobody, the size of the file does."""
        errors = self.position_error.astype(np.float16), self.rotation_error.astype(np.float16)
        arrays = {"clip": self.clip, "frame": self.frame, "position_error": errors[0], "rotation_error": errors[1]}
        write_atomically(path, lambda handle: np.savez_compressed(handle, **arrays))

    @staticmethod
    def read(path: Path) -> Episodes | None:
        """None where there is no such file, as in runs of earlier versions."""
        try:
            arrays = unpack_npz(read_file(path))
            parts = [arrays[name] for name in ("clip", "frame", "position_error", "rotation_error")]
        except FileNotFoundError:
            return None
        except KeyError as error:
            raise InputError(f"no {error} in the episodes of a run", where=path, code="bad_run") from None
        except InputError as error:
            raise error.at(path, code="bad_run") from error
        clip, frame, position, rotation = parts
        if not (len(clip) == len(frame) == len(position) and position.shape == rotation.shape and position.ndim == 2):
            shapes = ", ".join(str(part.shape) for part in parts)
            raise InputError("episodes of different numbers", where=path, got=shapes, code="bad_run")
        return Episodes(clip, frame, position.astype(np.float32), rotation.astype(np.float32))


@dataclass(frozen=True, kw_only=True)
class CommonErrors:
    """Errors of two policies over all frames that both tracked."""

    frames: float
    position_error: float
    rotation_error: float
    plain_position_error: float
    plain_rotation_error: float
    seeds: int = 1
    """Pairs of runs over which these are means."""


def common_errors(ours: Episodes, plain: Episodes) -> CommonErrors | None:
    """None if the episodes began elsewhere, or if there is no frame that both tracked."""
    if not (np.array_equal(ours.clip, plain.clip) and np.array_equal(ours.frame, plain.frame)):
        return None
    steps = min(ours.position_error.shape[1], plain.position_error.shape[1])
    both = np.isfinite(ours.position_error[:, :steps]) & np.isfinite(plain.position_error[:, :steps])
    if not both.any():
        return None

    def mean(errors: NDArray) -> float:
        return float(errors[:, :steps][both].mean(dtype=np.float64))

    return CommonErrors(
        frames=float(both.sum()),
        position_error=mean(ours.position_error),
        rotation_error=mean(ours.rotation_error),
        plain_position_error=mean(plain.position_error),
        plain_rotation_error=mean(plain.rotation_error),
    )


def mean_of_pairs(pairs: list[CommonErrors]) -> CommonErrors | None:
    """Means over pairs of runs; None without pairs."""
    if not pairs:
        return None
    names = ("frames", "position_error", "rotation_error", "plain_position_error", "plain_rotation_error")
    means = {name: float(np.mean([getattr(pair, name) for pair in pairs])) for name in names}
    return CommonErrors(seeds=len(pairs), **means)
