"""qpos-style npz (holosoma and others): MuJoCo's qpos rows, root xyz, wxyz, joints; names beside it.

Columns behind the robot's joints (an object's pose in holosoma) are left away.
"""

from __future__ import annotations

from typing import Any

from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import Clip, array, names, rate

ROOT_COLUMNS = 7
OBJECT_COLUMNS = 7


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return "qpos" in content


def read(content: dict[str, Any], joints: int) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    table = array(content, "qpos", None, None)
    named = names(content) if "joint_names" in content else None
    count = len(named) if named else joints
    extra = table.shape[1] - ROOT_COLUMNS - count
    if extra not in (0, OBJECT_COLUMNS):
        raise InputError(
            "qpos has the wrong width",
            expected=f"{ROOT_COLUMNS} + {count} joints, or {OBJECT_COLUMNS} more for an object",
            got=table.shape[1],
            code="bad_width",
        )
    return [
        Clip(
            format="qpos",
            joint_pos=table[:, ROOT_COLUMNS : ROOT_COLUMNS + count],
            root_pos=table[:, :3],
            root_quat=table[:, 3:7],
            joint_names=named,
            fps=rate(content) if "fps" in content else None,
        )
    ]
