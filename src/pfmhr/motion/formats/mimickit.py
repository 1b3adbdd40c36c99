"""MimicKit's pickle: loop_mode, fps, frames of root xyz, root exponential map and joints."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from pfmhr import spatial
from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.motion.formats.clip import Clip, array, rate
from pfmhr.motion.formats.spherical import from_hinges
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

CLAMP, WRAP = 0, 1


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return {"frames", "fps", "loop_mode"} <= content.keys()


def read(content: dict[str, Any]) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    frames = array(content, "frames", None, None)
    if frames.shape[1] < 7:
        raise InputError("too few columns", expected="root 3 + 3 and joints", got=frames.shape[1], code="bad_width")
    loop_mode = content["loop_mode"]
    if not isinstance(loop_mode, (int, float)) or loop_mode not in (CLAMP, WRAP):
        raise InputError("unknown loop_mode", expected="0 (clamp) or 1 (wrap)", got=loop_mode, code="damaged")
    return [
        Clip(
            format="mimickit",
            joint_pos=frames[:, 6:],
            root_pos=frames[:, :3],
            root_quat=spatial.Rotation.from_rotvec(frames[:, 3:6]).as_quat(scalar_first=True),
            joint_names=None,
            fps=rate(content),
            loop=loop_mode == WRAP,
        )
    ]


def write(motion: Motion, path: Path, robot: Robot) -> None:
    """Write one motion in this format; bodies with three hinges as spherical joints."""
    root = motion.root_rotations().as_rotvec()
    frames = np.concatenate([motion.root_pos, root, from_hinges(robot, motion.joint_pos)], axis=1).astype(np.float64)
    fps = int(motion.fps) if motion.fps == int(motion.fps) else motion.fps
    content = {"loop_mode": WRAP if motion.loop else CLAMP, "fps": fps, "frames": frames.tolist()}
    write_atomically(path, lambda handle: pickle.dump(content, handle, protocol=4))
