"""One item on its way into the corpus: read, checked, repaired where that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus.items import BuildConfig, Item
from pfmhr.corpus.manifest import Rejected, Source
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import Fault, Severity, check_motion
from pfmhr.motion.checks.change import jump_frames
from pfmhr.motion.checks.copies import digest
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.robots import Robot


@dataclass(frozen=True)
class Accepted:
    """The poses of one clip, (n, J) float32, and their description (row numbers still to be filled in)."""

    poses: NDArray[np.float32]
    source: Source


def read_item(item: Item, robot: Robot, config: BuildConfig) -> list[Accepted | Rejected]:
    """Every clip of an item, accepted or rejected. Never raises for what is in a file."""
    try:
        motions = _motions(item, robot, config)
    except InputError as error:
        reason = str(error)
        if isinstance(item.content, Path):
            reason = reason.removeprefix(f"{item.content}: ")
        return [Rejected(item.label, error.code, reason)]
    several = len(motions) > 1
    return [_judge(motion, item, motion.name if several else "", robot, config) for motion in motions]


def _motions(item: Item, robot: Robot, config: BuildConfig) -> list[Motion]:
    if isinstance(item.content, Motion):
        robot.require_joints(item.content.joint_names, "the motion")
        return [item.content]
    options = ReadOptions(
        robot,
        csv_fps=config.fps,
        fill_missing=config.fill_missing,
        assume_fps=True,
        max_bytes=config.max_file_mb * 2**20,
    )
    return read_motions(item.content, options)


def _judge(motion: Motion, item: Item, clip: str, robot: Robot, config: BuildConfig) -> Accepted | Rejected:
    faults = [fault for fault in check_motion(motion, robot, config.checks) if fault.severity is Severity.ERROR]
    poses, repairs, left = motion.joint_pos, [], []
    for fault in faults:
        repaired = _repair(fault, motion, poses, robot, config)
        if repaired is None:
            left.append(fault)
        else:
            poses, note = repaired
            repairs.append(note)
    if left:
        return Rejected(item.label, left[0].code, "; ".join(fault.message for fault in left), clip)
    if not len(poses):
        return Rejected(item.label, faults[0].code if faults else "empty", "no pose is left", clip)
    source = Source(
        path=item.label,
        category=item.category,
        start=0,
        rows=len(poses),
        fps=motion.fps,
        digest=digest(motion.joint_pos),
        clip=clip,
        notes=(*motion.notes, *repairs),
    )
    return Accepted(poses, source)


def _repair(
    fault: Fault, motion: Motion, poses: NDArray[np.float32], robot: Robot, config: BuildConfig
) -> tuple[NDArray[np.float32], str] | None:
    """The poses without this fault and a note saying what was done, or None if that was not asked for."""
    if fault.code == "joint_limits" and config.clip_limits:
        return np.clip(poses, robot.lower, robot.upper), f"clipped to the joint limits: {fault.message}"
    if fault.code == "jump" and config.drop_jumps:
        jumps = jump_frames(motion, config.checks.jump_speed)
        bad = np.union1d(jumps, jumps + 1)
        return np.delete(poses, bad, axis=0), f"dropped {len(bad)} poses at {len(jumps)} jump(s)"
    return None
