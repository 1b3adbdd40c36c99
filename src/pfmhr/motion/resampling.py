"""Changing a motion's frame rate by interpolation; never by relabelling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pfmhr import spatial
from pfmhr.errors import InputError
from pfmhr.foreign import MAX_FILE_BYTES
from pfmhr.motion.cycle import closed, repeats
from pfmhr.motion.frame_rate import HIGHEST_RATE, require_rate
from pfmhr.motion.motion import Motion

SHORTEST_CYCLE = 3
"""Frames without which a clip cannot say that it repeats."""


def resample(motion: Motion, fps: float) -> Motion:
    """The same movement sampled at ``fps``: joints and root position linear, root orientation slerp.

    The first frame is kept; the new last frame is the last multiple of 1/fps inside the clip. A clip that repeats is
    sampled over its whole period, with the way from its last frame back to its first, and stays as long to within
    half a new frame; its last new frame is one before the first.
    """
    require_rate(fps)
    _refuse_too_many(motion, fps)
    if motion.num_frames < 2 or fps == motion.fps:
        return replace(motion, fps=float(fps)) if motion.num_frames < 2 else motion
    if repeats(motion):
        cycle = closed(motion)
        return sample(cycle, np.arange(max(SHORTEST_CYCLE, round(cycle.duration * fps))) / fps, fps)
    # The tolerance keeps the last frame when duration · fps is whole up to rounding.
    count = int(np.floor(motion.duration * fps + 1e-6)) + 1
    # One that is said to be a cycle and is none does not become one because a step is longer now.
    return sample(replace(motion, loop=False), np.arange(count) / fps, fps)


def require_kept_duration(motion: Motion, fps: float) -> None:
    """Refuse a rate so low that hardly a frame, or more time than the clip has, would be left of it."""
    require_rate(fps)
    if motion.num_frames < 2:
        return  # a pose has no duration
    # Half a frame less than the fewest of a cycle is rounded up to them.
    lowest = (SHORTEST_CYCLE - 0.5) / closed(motion).duration if repeats(motion) else 1.0 / motion.duration
    if fps < lowest * (1.0 - 1e-6):
        raise InputError(
            "too low a frame rate for so short a clip",
            where=motion.source or motion.name,
            expected=f"{lowest:.3g} to {_highest(motion):.6g} Hz for {motion.duration:.2f} s",
            got=f"{fps:g} Hz",
            code="bad_fps",
        )


def _refuse_too_many(motion: Motion, fps: float) -> None:
    if fps > _highest(motion):
        raise InputError(
            "too high a frame rate to resample to",
            where=motion.source or motion.name,
            expected=f"at most {_highest(motion):.6g} Hz for {motion.duration:.2f} s",
            got=f"{fps:g} Hz",
            code="bad_fps",
        )


def _highest(motion: Motion) -> float:
    """Hz up to which the clip stays one that could be read from a file again; its own rate is always fine."""
    frames = MAX_FILE_BYTES / (4 * (motion.joint_pos.shape[1] + 7))
    return max(motion.fps, min(HIGHEST_RATE, frames / max(motion.duration, 1e-9)))


def sample(motion: Motion, times: NDArray[np.floating], fps: float) -> Motion:
    """The motion at given times in s from its first frame, held at both ends."""
    position = np.clip(np.asarray(times, dtype=np.float64) * motion.fps, 0, motion.num_frames - 1)
    low = np.minimum(position.astype(np.int64), motion.num_frames - 2)
    blend = (position - low)[:, None]

    def linear(values: NDArray[np.float32]) -> NDArray[np.float64]:
        return values[low] * (1.0 - blend) + values[low + 1] * blend

    rotations = motion.root_rotations()
    turned = spatial.Slerp(np.arange(motion.num_frames), rotations)(position)
    return replace(
        motion,
        joint_pos=linear(motion.joint_pos),
        root_pos=linear(motion.root_pos),
        root_quat=turned.as_quat(scalar_first=True),
        fps=float(fps),
    )
