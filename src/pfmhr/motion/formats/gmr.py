"""GMR's and GMT's pickle: fps, root_pos, root_rot xyzw, dof_pos (29 or 23 joints, no names)."""

from __future__ import annotations

from typing import Any

from pfmhr.motion.formats.clip import Clip, array, rate, wxyz


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return {"fps", "root_pos", "root_rot", "dof_pos"} <= content.keys()


def read(content: dict[str, Any]) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    joints = array(content, "dof_pos", None, None)
    return [
        Clip(
            format="gmr",
            joint_pos=joints,
            root_pos=array(content, "root_pos", len(joints), 3),
            root_quat=wxyz(array(content, "root_rot", len(joints), 4)),
            joint_names=None,
            fps=rate(content),
        )
    ]
