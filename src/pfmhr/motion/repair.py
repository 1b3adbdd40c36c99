"""Repairs, each done only when asked for, each returning a sentence that says what it did."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pfmhr.errors import InputError
from pfmhr.motion.checks.change import jump_frames
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot


def clip_limits(motion: Motion, robot: Robot) -> tuple[Motion, str]:
    """Move joints that are outside their limits onto the limit."""
    clipped = np.clip(motion.joint_pos, robot.lower, robot.upper)
    excess = np.abs(clipped - motion.joint_pos)
    frames = int((excess > 0).any(axis=1).sum())
    if not frames:
        return motion, "no joint was outside its limits"
    joint = robot.joint_names[int(excess.max(axis=0).argmax())]
    said = (
        f"clipped {frames} of {motion.num_frames} frames to the joint limits, {joint} by up to {excess.max():.2f} rad"
    )
    return replace(motion, joint_pos=clipped), said


def drop_jumps(motion: Motion, jump_speed: float) -> tuple[Motion, str]:
    """Keep the longest stretch of frames without a single-frame jump.

    Gluing the stretches together would only make new jumps, so the others are left out.
    """
    jumps = jump_frames(motion, jump_speed)
    if not len(jumps):
        return motion, "no single-frame jump found"
    edges = np.concatenate([[0], jumps + 1, [motion.num_frames]])
    longest = int(np.diff(edges).argmax())
    start, stop = int(edges[longest]), int(edges[longest + 1])
    said = (
        f"cut at {len(jumps)} jump(s); kept frames {start} to {stop - 1}, {stop - start} of {motion.num_frames} "
        f"({(stop - start) / motion.fps:.1f} s)"
    )
    return motion.frames(start, stop), said


def trim(motion: Motion, start: float, stop: float) -> tuple[Motion, str]:
    """Keep the time from ``start`` to ``stop`` in s."""
    finite = math.isfinite(start) and math.isfinite(stop)
    first, last = (round(start * motion.fps), round(stop * motion.fps)) if finite else (0, -1)
    if not (0 <= first < last <= motion.num_frames - 1):
        raise InputError(
            "cannot trim to that time",
            where=motion.source or motion.name,
            expected=f"0 ≤ start < stop ≤ {motion.duration:.2f} s",
            got=f"{start:g} to {stop:g} s",
            code="bad_trim",
        )
    said = f"kept frames {first} to {last} of {motion.num_frames} ({start:g} to {stop:g} s)"
    return motion.frames(first, last + 1), said
