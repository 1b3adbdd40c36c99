"""What every reader returns: the numbers of one clip as the file has them, units and axes made ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError

MAX_CELLS = 2**27
"""More numbers than this in one table would not fit the memory bound of a build."""

Format = Literal["pfmhr", "unitree_csv", "bones_seed", "mimickit", "gmr", "asap", "mjlab", "qpos"]
"""The names of the formats."""


@dataclass(frozen=True)
class Clip:
    """One clip in the file's own joint order; rad, m, wxyz."""

    format: Format
    joint_pos: NDArray[Any]
    root_pos: NDArray[Any]
    root_quat: NDArray[Any]
    joint_names: tuple[str, ...] | None
    """The file's joint names, None for formats that have none and use their documented order."""
    fps: float | None
    """None for formats without one."""
    loop: bool = False
    name: str = ""
    notes: tuple[str, ...] = ()
    """What the reader left out or found out."""


def array(content: dict[str, Any], key: str, *shape: int | None) -> NDArray[np.float64]:
    """``content[key]`` as a float array of the given shape, None meaning any size there."""
    _refuse_unfolding(content[key], key, len(shape))
    values = _real(content, key)
    fits = values.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, values.shape, strict=True)
    )
    if not fits:
        wanted = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
        raise InputError(f"'{key}' has the wrong shape", expected=wanted, got=values.shape, code="bad_shape")
    return values


def _real(content: dict[str, Any], key: str) -> NDArray[np.float64]:
    try:
        values = np.asarray(content[key])
        if values.dtype.kind not in "fiub":  # complex numbers and text would be cast without a word
            raise TypeError(f"its type is {values.dtype}")
        return values.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"'{key}' is not an array of numbers: {error}", code="damaged") from None


def _refuse_unfolding(rows: Any, key: str, dimensions: int) -> None:
    """Lists from a pickle may share their rows: a few bytes would unfold to gigabytes."""
    depth, inner, cells = 0, rows, 1
    while isinstance(inner, (list, tuple)) and inner:
        depth, cells, inner = depth + 1, cells * len(inner), inner[0]
    if depth and isinstance(inner, np.ndarray):
        depth, cells = depth + inner.ndim, cells * inner.size
    if depth > dimensions or cells > MAX_CELLS:
        raise InputError(
            f"'{key}' has the wrong shape", expected=f"{dimensions} dimensions", got=depth, code="bad_shape"
        )


def rate(content: dict[str, Any], key: str = "fps") -> float:
    """A frame rate stored as a number or a one-element array."""
    _refuse_unfolding(content[key], key, 1)
    values = _real(content, key).reshape(-1)
    if len(values) != 1 or not np.isfinite(values[0]) or values[0] <= 0:
        got = values[0] if len(values) == 1 else f"{len(values)} numbers"
        raise InputError("impossible frame rate", expected="one positive number", got=got, code="bad_fps")
    return float(values[0])


def flag(content: dict[str, Any], key: str) -> bool:
    """A truth value stored as one, or as 0 or 1; texts such as "False" are none."""
    _refuse_unfolding(content[key], key, 1)
    values = np.asarray(content[key]).reshape(-1)
    if len(values) != 1 or values.dtype.kind not in "bif" or values[0] not in (0, 1):
        got = values[0] if len(values) == 1 else f"{len(values)} values"
        raise InputError(f"'{key}' is not a truth value", expected="one of false and true", got=got, code="damaged")
    return bool(values[0])


def names(content: dict[str, Any], key: str = "joint_names") -> tuple[str, ...]:
    """Names stored as text or bytes."""
    _refuse_unfolding(content[key], key, 1)
    values = np.asarray(content[key]).reshape(-1)
    if values.dtype.kind not in "SU":
        raise InputError(f"'{key}' is not text", expected="names", got=values.dtype, code="damaged")
    return tuple(name.decode() if isinstance(name, bytes) else name for name in values.tolist())


def wxyz(xyzw: NDArray[Any]) -> NDArray[Any]:
    """Scalar-last quaternions to scalar-first."""
    return xyzw[:, [3, 0, 1, 2]]
