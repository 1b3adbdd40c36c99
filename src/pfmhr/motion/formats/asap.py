"""ASAP's and PBHC's joblib pickle: {clip: {dof, root_trans_offset, root_rot xyzw, fps, …}}, 23 joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import MAX_CELLS, Clip, array, rate, wxyz

_KEYS = {"dof", "root_trans_offset", "root_rot", "fps"}


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return bool(content) and all(isinstance(clip, dict) and clip.keys() >= _KEYS for clip in content.values())


def read(content: dict[str, Any]) -> Iterator[Clip]:
    """All clips in the content, one by one, in the file's own joint order.

    Many names may share one clip, or its arrays: what all of them would hold together is bounded.
    """
    cells = 0
    for name, content_of_one in content.items():
        clip = _read_clip(str(name), content_of_one)
        cells += clip.joint_pos.size + clip.root_pos.size + clip.root_quat.size
        if cells > MAX_CELLS:
            raise InputError(
                "too many numbers in the clips of one file",
                expected=f"at most {MAX_CELLS:,}",
                got=f"more by clip '{clip.name}' of {len(content)}",
                fix="Split it into several files.",
                code="too_large",
            )
        yield clip


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
