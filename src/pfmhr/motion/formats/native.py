"""Our own format: an npz with names, units and frame rate in the file. Nothing to guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pfmhr.files import write_atomically
from pfmhr.motion.formats.clip import Clip, array, flag, names, rate
from pfmhr.motion.motion import Motion


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return {"joint_pos", "joint_names", "fps", "root_pos", "root_quat"} <= content.keys()


def read(content: dict[str, Any]) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    joints = array(content, "joint_pos", None, None)
    return [
        Clip(
            format="pfmhr",
            joint_pos=joints,
            root_pos=array(content, "root_pos", len(joints), 3),
            root_quat=array(content, "root_quat", len(joints), 4),
            joint_names=names(content),
            fps=rate(content),
            loop=flag(content, "loop") if "loop" in content else False,
        )
    ]


def write(motion: Motion, path: Path) -> None:
    """Write one motion in this format."""
    content = {
        "joint_pos": motion.joint_pos,
        "joint_names": np.array(motion.joint_names),
        "fps": np.float64(motion.fps),
        "root_pos": motion.root_pos,
        "root_quat": motion.root_quat,
        "loop": np.bool_(motion.loop),
        "robot": np.array(motion.robot),
    }
    write_atomically(path, lambda handle: np.savez_compressed(handle, **content))  # type: ignore[arg-type]
