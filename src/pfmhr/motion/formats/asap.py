"""ASAP's and PBHC's joblib pickle: {clip: {dof, root_trans_offset, root_rot xyzw, fps, …}}, 23 joints."""

from __future__ import annotations

from typing import Any

from pfmhr.motion.formats.clip import Clip, array, rate, wxyz

_KEYS = {"dof", "root_trans_offset", "root_rot", "fps"}


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return bool(content) and all(isinstance(clip, dict) and clip.keys() >= _KEYS for clip in content.values())


def read(content: dict[str, Any]) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    return [_read_clip(str(name), clip) for name, clip in content.items()]


def _read_clip(name: str, clip: dict[str, Any]) -> Clip:
    joints = array(clip, "dof", None, None)
    return Clip(
        format="asap",
        joint_pos=joints,
        root_pos=array(clip, "root_trans_offset", len(joints), 3),
        root_quat=wxyz(array(clip, "root_rot", len(joints), 4)),
        joint_names=None,
        fps=rate(clip),
        name=name,
    )
