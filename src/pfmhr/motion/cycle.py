"""Cycles: clips whose end leads back to their beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pfmhr import spatial
from pfmhr.motion.motion import Motion

SAME_HEADING = 0.3
"""rad: a cycle that turns further than this cannot be repeated in place."""
LARGEST_SEAM = 2.0
"""A cycle's way from its last frame back to its first, in multiples of its largest step; beyond this it would jump."""


SMALL_SEAM = 0.2
"""rad of the joint furthest away; a clip that says it repeats is closed by spreading a seam up to this."""
NO_SEAM = 0.01
"""rad that nobody would see."""


def closed(motion: Motion) -> Motion:
    """A clip that repeats, with a last frame that is the first of the next cycle; others as they are.

    Files differ: in some the last frame already is the first one again, in others it is the one before.
    It is the one before if going on from it by a usual step leads nearer to the first frame than staying.
    Where the last frame is meant to be the first one again and is not quite, the seam is spread over the cycle, and
    the clip's notes say so.
    """
    if not repeats(motion):
        return motion
    if _jumps_back(motion) or _is_closed(motion):
        return _spread(motion) if NO_SEAM < _seam(motion) <= SMALL_SEAM else motion
    stride = 0.5 * (motion.root_pos[1] - motion.root_pos[0] + motion.root_pos[-1] - motion.root_pos[-2])
    root = motion.root_pos[-1] + stride
    root[2] = motion.root_pos[0, 2]  # height is where the cycle began; only the floor plane is travelled
    return replace(
        motion,
        joint_pos=np.concatenate([motion.joint_pos, motion.joint_pos[:1]]),
        root_pos=np.concatenate([motion.root_pos, root[None]]),
        root_quat=np.concatenate([motion.root_quat, motion.root_quat[:1]]),
    )


def repeats(motion: Motion) -> bool:
    """Whether a clip can be played again and again in one direction."""
    if not motion.loop or motion.num_frames < 3:
        return False
    if _jumps_back(motion) and _seam(motion) > SMALL_SEAM:
        return False
    turn = motion.root_rotations().as_euler("ZYX")[:, 0]
    change = (turn[-1] - turn[0] + np.pi) % (2 * np.pi) - np.pi
    return abs(float(change)) < SAME_HEADING


def _seam(motion: Motion) -> float:
    """rad by which the joint furthest away is not where it began."""
    return float(np.abs(motion.joint_pos[0] - motion.joint_pos[-1]).max())


def _jumps_back(motion: Motion) -> bool:
    """Whether the way from the last frame to the first is longer than a cycle's steps explain."""
    steps = np.linalg.norm(np.diff(motion.joint_pos, axis=0), axis=1)
    return bool(np.linalg.norm(motion.joint_pos[0] - motion.joint_pos[-1]) > LARGEST_SEAM * steps.max())


def _spread(motion: Motion) -> Motion:
    """The clip with its last pose made the first again, by a change that grows evenly from frame to frame."""
    share = np.linspace(0.0, 1.0, motion.num_frames)
    joints = motion.joint_pos + share[:, None] * (motion.joint_pos[0] - motion.joint_pos[-1])
    root = motion.root_pos.copy()
    root[:, 2] += share * (root[0, 2] - root[-1, 2])
    turns = motion.root_rotations()
    back = (turns[0] * turns[-1].inv()).as_rotvec()
    turned = spatial.Rotation.from_rotvec(share[:, None] * back) * turns
    note = f"its seam of {_seam(motion):.2f} rad is spread over the cycle"
    return replace(
        motion,
        joint_pos=joints,
        root_pos=root,
        root_quat=turned.as_quat(scalar_first=True),
        notes=(*motion.notes, note),
    )


def _is_closed(motion: Motion) -> bool:
    poses = motion.joint_pos
    step = 0.5 * (poses[1] - poses[0] + poses[-1] - poses[-2])
    return bool(np.linalg.norm(poses[0] - poses[-1]) <= np.linalg.norm(poses[0] - (poses[-1] + step)))
