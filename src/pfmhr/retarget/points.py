"""npz files of joint positions with names: from a camera, a simulation, a program of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import array, names, rate
from pfmhr.retarget.bvh import UP
from pfmhr.retarget.human import Human


def matches(content: Mapping[str, Any]) -> bool:
    """Whether this is such a file."""
    return "positions" in content and "names" in content


def read(content: dict[str, Any], fps: float | None, name: str, source: str) -> Human:
    """``positions`` ``(T, J, 3)``, ``names`` ``(J,)``, ``fps``; ``rotations`` ``(T, J, 3, 3)`` and ``up`` ("z" unless
    there) may be left away."""
    positions = array(content, "positions", None, None, 3)
    joints = names(content, "names")
    if len(joints) != positions.shape[1]:
        raise InputError("names and positions differ", expected=positions.shape[1], got=len(joints), code="bad_shape")
    rotations = None
    if "rotations" in content:
        rotations = array(content, "rotations", len(positions), len(joints), 3, 3)
    up = str(np.asarray(content["up"]).reshape(-1)[0]) if "up" in content else "z"
    if up not in UP:
        raise InputError("unknown axis in 'up'", expected=", ".join(UP), got=up, code="damaged")
    stated = rate(content) if "fps" in content else fps
    if stated is None:
        raise InputError("the file holds no frame rate", fix="Store it as 'fps'.", code="no_fps")
    turned = None if rotations is None else np.einsum("ik,tjkl->tjil", UP[up], rotations)
    return Human(joints, positions @ UP[up].T, turned, stated, name=name, source=source)
