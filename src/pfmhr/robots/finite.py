"""NaN and infinity in a compiled robot: MuJoCo takes them from the file as they stand."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from pfmhr.errors import InputError

_FIX = "Write a number there."
_LARGEST = float(np.finfo(np.float32).max)
"""Poses are in single precision."""
_PARTS = ("qpos0", "body", "jnt", "dof", "geom", "site", "tendon", "actuator", "eq", "mesh", "hfield", "pair")
"""Parts of a model that decide how a robot stands and moves."""


def require_finite(model: mujoco.MjModel, path: Path) -> None:
    """Refuse a model with NaN anywhere, or with a number in a keyframe or limit that is none in single precision."""
    for key, joint, value in _keyframes(model):
        if not abs(value) <= _LARGEST:
            where = f"keyframe {_named(model.key(key).name, key)}, joint {joint}"
            raise InputError(f"{where}: not a finite number", where=path, got=f"{value:g}", fix=_FIX, code="not_finite")
    for joint in np.flatnonzero(~(np.abs(model.jnt_range) <= _LARGEST).all(axis=1)):
        what = f"range of joint {_named(model.joint(int(joint)).name, int(joint))}: not a finite number"
        fix = f"{_FIX[:-1]}, or leave out the range of a joint without limits."
        raise InputError(what, where=path, got=str(model.jnt_range[joint].tolist()), fix=fix, code="not_finite")
    for name in _arrays_with_nan(model):
        raise InputError(f"NaN in the robot's {name}", where=path, fix=_FIX, code="not_finite")


def _keyframes(model: mujoco.MjModel) -> list[tuple[int, str, float]]:
    """(keyframe, joint, number) for every number of every keyframe's positions."""
    owners = np.searchsorted(model.jnt_qposadr, np.arange(model.nq), side="right") - 1
    names = [_named(model.joint(int(joint)).name, int(joint)) for joint in owners]
    return [
        (key, name, float(value))
        for key in range(model.nkey)
        for name, value in zip(names, model.key_qpos[key], strict=True)
    ]


def _arrays_with_nan(model: mujoco.MjModel) -> list[str]:
    arrays = {name: getattr(model, name) for name in dir(model) if name.partition("_")[0] in _PARTS}
    return [
        name
        for name, value in arrays.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.isnan(value).any()
    ]


def _named(name: str, number: int) -> str:
    return f"'{name}'" if name else f"number {number}"
