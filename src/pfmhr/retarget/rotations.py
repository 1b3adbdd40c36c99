"""Rotations of many frames at once. Frames come last, so that numpy works on long rows.

A vector over time is ``(…, 3, T)``, a rotation ``(…, 3, 3, T)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

_TINY = 1e-12
_NEARLY_HALF_TURN = -0.99


def compose(first: Array, second: Array) -> Array:
    """``first · second``, each ``(…, 3, 3, T)``."""
    return np.einsum("...ijt,...jkt->...ikt", first, second)


def apply(rotations: Array, vectors: Array) -> Array:
    """``rotations · vectors``: ``(…, 3, 3, T)`` and ``(…, 3, T)``."""
    return np.einsum("...ijt,...jt->...it", rotations, vectors)


def turned(rotations: Array, vector: Array) -> Array:
    """One vector ``(3,)`` turned by every rotation ``(…, 3, 3, T)``: ``(…, 3, T)``."""
    return np.einsum("...ijt,j->...it", rotations, vector)


def inverse(rotations: Array) -> Array:
    """The transposed rotations."""
    return np.swapaxes(rotations, -3, -2)


def exponential(vectors: Array) -> Array:
    """Rotation vectors ``(…, 3, T)`` in rad to rotations ``(…, 3, 3, T)`` (Rodrigues)."""
    angle = np.sqrt((vectors**2).sum(axis=-2))
    safe = np.maximum(angle, _TINY)
    sine, versine = np.sin(safe) / safe, (1.0 - np.cos(safe)) / safe**2
    x, y, z = (vectors[..., axis, :] for axis in range(3))
    out = np.empty((*vectors.shape[:-2], 3, 3, vectors.shape[-1]))
    for row, column, value in ((0, 1, z), (0, 2, -y), (1, 2, x)):
        out[..., row, column, :] = -sine * value
        out[..., column, row, :] = sine * value
    for row, a in enumerate((x, y, z)):
        for column, b in enumerate((x, y, z)):
            if row == column:
                out[..., row, column, :] = 1.0 + versine * (a * a - angle**2)
            else:
                out[..., row, column, :] += versine * a * b
    return out


def logarithm(rotations: Array) -> Array:
    """Rotations ``(…, 3, 3, T)`` to rotation vectors ``(…, 3, T)`` of at most π."""
    r = rotations
    twice = np.stack(
        [
            r[..., 2, 1, :] - r[..., 1, 2, :],
            r[..., 0, 2, :] - r[..., 2, 0, :],
            r[..., 1, 0, :] - r[..., 0, 1, :],
        ],
        axis=-2,
    )
    sine = 0.5 * np.sqrt((twice**2).sum(axis=-2))
    cosine = 0.5 * (r[..., 0, 0, :] + r[..., 1, 1, :] + r[..., 2, 2, :] - 1.0)
    factor = np.where(sine > 1e-9, np.arctan2(sine, cosine) / np.maximum(sine, _TINY), 1.0)
    vectors = 0.5 * factor[..., None, :] * twice
    hard = cosine < _NEARLY_HALF_TURN  # where the sine is small and says little of the axis
    if hard.any():
        matrices = np.moveaxis(r, -1, -3)[hard]
        np.moveaxis(vectors, -1, -2)[hard] = Rotation.from_matrix(matrices).as_rotvec()
    return vectors


def unit(vectors: Array) -> Array:
    """Vectors ``(3, T)`` of length 1; zero stays zero."""
    return vectors / np.maximum(np.sqrt((vectors**2).sum(axis=0)), _TINY)


def cross(first: Array, second: Array) -> Array:
    """Cross products of ``(3, …)`` arrays, which may be broadcast."""
    a, b = first, second
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def frame_from(exact: str, along: Array, near: str, towards: Array) -> Array:
    """Rotations ``(3, 3, T)`` whose axis ``exact`` is ``along``, and whose axis ``near`` is as close to ``towards``
    as it can be. Axes are "x", "y" and "z"."""
    first = unit(along)
    second = unit(towards - first * (towards * first).sum(axis=0))
    a, b = "xyz".index(exact), "xyz".index(near)
    third = cross(first, second) if (b - a) % 3 == 1 else cross(second, first)
    out = np.empty((3, 3, along.shape[1]))
    out[:, a], out[:, b], out[:, 3 - a - b] = first, second, third
    return out


def shortest_turn(start: Array, end: Array) -> Array:
    """The smallest rotations ``(3, 3, T)`` from one direction ``(3,)`` to others ``(3, T)``."""
    begin, end = unit(np.broadcast_to(start[:, None], end.shape)), unit(end)
    axis, cosine = cross(begin, end), (begin * end).sum(axis=0)
    sine = np.sqrt((axis**2).sum(axis=0))
    return exponential(axis * (np.arctan2(sine, cosine) / np.maximum(sine, _TINY)))


def nearest_rotation(matrix: Array) -> Array:
    """The rotation ``(3, 3)`` nearest to a matrix, by its singular values."""
    left, _, right = np.linalg.svd(matrix)
    return left @ np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))]) @ right


def to_quaternions(rotations: Array) -> Array:
    """Rotations ``(3, 3, T)`` as wxyz quaternions ``(T, 4)`` without sign changes from frame to frame."""
    quaternions = Rotation.from_matrix(np.moveaxis(rotations, -1, 0)).as_quat(scalar_first=True)
    flips = np.cumsum((quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0) % 2
    quaternions[1:][flips == 1] *= -1.0
    return quaternions
