"""npz with rows of qpos (holosoma's retargeter, OmniRetarget): root, joints, perhaps an object; names or none.

The root is MuJoCo's, xyz and wxyz. The OmniRetarget dataset has Drake's instead, wxyz and xyz: it is known by which
four of the seven columns are of length one. Columns behind the robot's joints are an object's pose and are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import Clip, array, names, rate

ROOT_COLUMNS = 7
OBJECT_COLUMNS = 7
UNIT_TOLERANCE = 0.01
"""The length of a quaternion may be off by so much; a position hardly is of length one in all frames."""


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
    root_pos, root_quat, notes = _root(table[:, :ROOT_COLUMNS])
    ignored = (f"ignored {extra} columns behind the joints: the pose of an object",) if extra else ()
    return [
        Clip(
            format="qpos",
            joint_pos=table[:, ROOT_COLUMNS : ROOT_COLUMNS + count],
            root_pos=root_pos,
            root_quat=root_quat,
            joint_names=named,
            fps=rate(content) if "fps" in content else None,
            notes=(*notes, *ignored),
        )
    ]


def _root(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Position (T, 3), wxyz quaternion (T, 4), and a note where the quaternion comes first."""
    if _unit(columns[:, :4]) and not _unit(columns[:, 3:]):
        note = "took the root as quaternion, then position (OmniRetarget): the first four columns are of length one"
        return columns[:, 4:], columns[:, :4], (note,)
    return columns[:, :3], columns[:, 3:], ()


def _unit(quaternion: NDArray[np.float64]) -> bool:
    """Whether those that are finite are of length one."""
    lengths = np.linalg.norm(quaternion, axis=1)
    known = lengths[np.isfinite(lengths)]
    return bool(known.size and (np.abs(known - 1.0) <= UNIT_TOLERANCE).all())
