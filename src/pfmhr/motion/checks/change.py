"""Checks on how poses change: jumps, garbage at the start, frozen stretches, implausible frame rates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pfmhr.motion.checks.report import Fault, Severity
from pfmhr.motion.motion import Motion

STILL = 1e-6
"""Joint changes below this, in rad, count as no change at all."""
SLOWEST_RATE = 5.0
"""Hz: no recording of movement has fewer frames, and nobody could follow one that had."""


def jump_frames(motion: Motion, jump_speed: float) -> NDArray[np.intp]:
    """Indices k where the change from frame k to k + 1 is faster than ``jump_speed`` in some joint."""
    change = np.abs(np.diff(motion.joint_pos, axis=0)).max(axis=1)
    return np.flatnonzero(change * motion.fps > jump_speed)


def check_change(motion: Motion, jump_speed: float, fast_speed: float, frozen_seconds: float) -> list[Fault]:
    """Faults of the frame-to-frame changes of a finite motion of at least 2 frames."""
    change = np.abs(np.diff(motion.joint_pos, axis=0))
    largest = change.max(axis=1)
    faults = _frame_rate(largest, motion.fps)
    if not faults:  # with a wrong rate every frame is a jump: one verdict is enough
        faults += _jumps(change, largest, motion, jump_speed, fast_speed)
    return faults + _first_frame(largest) + _frozen(largest, motion.fps, frozen_seconds)


def _jumps(
    change: NDArray[np.float32], largest: NDArray[np.float32], motion: Motion, jump_speed: float, fast_speed: float
) -> list[Fault]:
    speed = largest * motion.fps
    fastest = float(speed.max())
    if fastest <= fast_speed:
        return []
    frame = int(speed.argmax())
    joint = motion.joint_names[int(change[frame].argmax())]
    threshold = jump_speed if fastest > jump_speed else fast_speed
    count = int((speed > threshold).sum())
    detail = {"count": count, "frame": frame, "joint": joint, "speed": round(fastest, 1)}
    where = f"fastest {joint} at {fastest:.0f} rad/s after frame {frame}"
    if fastest > jump_speed:
        return [Fault("jump", f"{count} single-frame jump(s); {where}", detail=detail)]
    message = f"{count} change(s) faster than any motor of the robot; {where}"
    return [Fault("fast", message, Severity.WARNING, detail)]


def _frame_rate(largest: NDArray[np.float32], fps: float) -> list[Fault]:
    """Half of all frames faster than people move, or steps longer than a recording's: a wrong rate, or lost frames."""
    if fps < SLOWEST_RATE:
        message = f"{1 / fps:.3g} s from frame to frame: is {fps:g} Hz the right frame rate?"
        return [Fault("frame_rate", message, Severity.WARNING, {"seconds": 1 / fps})]
    median = float(np.median(largest)) * fps
    if median <= 20.0:
        return []
    message = f"joints move at {median:.0f} rad/s half of the time: is {fps:g} Hz the right frame rate?"
    return [Fault("frame_rate", message, detail={"median_speed": round(median, 1), "fps": fps})]


def _first_frame(largest: NDArray[np.float32]) -> list[Fault]:
    """Retargeters often leave their initial guess in the first frame: a leap, then calm."""
    if len(largest) < 6:
        return []
    leap, after = float(largest[0]), float(largest[1:6].max())
    if leap < 0.25 or leap < 4.0 * after:
        return []
    message = f"the first frame does not belong: {leap:.2f} rad to the second, then at most {after:.2f} rad per frame"
    return [Fault("first_frame", message, Severity.WARNING, {"change": round(leap, 3), "after": round(after, 3)})]


def _frozen(largest: NDArray[np.float32], fps: float, frozen_seconds: float) -> list[Fault]:
    moving = np.flatnonzero(largest > STILL)
    still = len(largest) - len(moving)
    if still < 2:
        return []
    edges = np.concatenate([[-1], moving, [len(largest)]])
    gaps = np.diff(edges) - 1
    longest, start = int(gaps.max()), int(edges[gaps.argmax()]) + 1
    if longest / fps >= frozen_seconds:
        message = f"frozen for {longest / fps:.1f} s from frame {start}; {still} of {len(largest)} changes are zero"
        return [Fault("frozen", message, Severity.WARNING, {"seconds": round(longest / fps, 2), "frame": start})]
    if still > 0.2 * len(largest):
        message = f"{still} of {len(largest)} changes are zero: was the frame rate raised by repeating frames?"
        return [Fault("repeated_frames", message, Severity.WARNING, {"repeated": still})]
    return []
