"""Spherical joints of MimicKit: three hinges of one body whose numbers in a file are a rotation vector, not angles.

MuJoCo turns a body by its hinges one after another, ``R = R1(q1) · R2(q2) · R3(q3)``. MimicKit takes the same three
hinges for one spherical joint and stores the rotation vector of R. Taken for angles they put hands up to 0.6 m away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pfmhr import spatial
from pfmhr.errors import InputError
from pfmhr.robots import Robot

_RIGHT_ANGLE = 1e-3
"""Cosine up to which two axes are at right angles."""


def to_hinges(robot: Robot, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Joint values ``(T, J)`` of a MimicKit file as angles of hinges; rows that are not finite stay as they are.

    Of the two ways to make a rotation with three hinges, a clip goes on with the one nearer to the frame before.
    """
    angles = np.array(values, dtype=np.float64)
    for joints in robot.three_hinges:
        axes = _axes(robot, joints)
        good = np.isfinite(angles[:, joints]).all(axis=1)
        rotations = spatial.Rotation.from_rotvec(angles[good][:, joints])
        if good.any():
            angles[good, joints[0] : joints[0] + 3] = _followed(_decomposed(rotations, axes), axes)
    return angles


def from_hinges(robot: Robot, angles: NDArray[np.floating]) -> NDArray[np.floating]:
    """Angles of hinges ``(T, J)`` as a MimicKit file has them."""
    values = np.array(angles, dtype=np.float64)
    for joints in robot.three_hinges:
        axes = _axes(robot, joints)
        good = np.isfinite(values[:, joints]).all(axis=1)
        turned = spatial.Rotation.identity(int(good.sum()))
        for joint, axis in zip(joints, axes, strict=True):
            turned = turned * spatial.Rotation.from_rotvec(values[good][:, [joint]] * axis)
        values[good, joints[0] : joints[0] + 3] = turned.as_rotvec()
    return values


def _axes(robot: Robot, joints: list[int]) -> NDArray[np.float64]:
    axes = robot.joint_axes[joints].astype(np.float64)
    if np.abs((axes[:-1] * axes[1:]).sum(axis=1)).max() > _RIGHT_ANGLE:
        raise InputError(
            f"three hinges of one body, '{robot.joint_names[joints[0]]}' and on, cannot hold a spherical joint",
            where=robot.path,
            expected="axes at right angles to each other",
            code="bad_robot",
        )
    return axes


def _decomposed(rotations: spatial.Rotation, axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles ``(T, 3)`` of hinges with these axes."""
    frame = np.stack([axes[0], axes[1], np.cross(axes[0], axes[1])])  # rows: the axes of an "XY…" sequence
    across = float(frame[2] @ axes[2])
    same = abs(float(frame[0] @ axes[2])) > 0.5
    matrices = frame @ rotations.as_matrix() @ frame.T
    angles = spatial.Rotation.from_matrix(matrices).as_euler("XYX" if same else "XYZ")
    sign = float(frame[0] @ axes[2]) if same else across
    return angles * [1.0, 1.0, np.sign(sign)]


def _followed(angles: NDArray[np.float64], axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same rotations without leaps from one way of making them to the other."""
    same = abs(float(axes[0] @ axes[2])) > 0.5
    other = np.stack([angles[:, 0] + np.pi, (0.0 if same else np.pi) - angles[:, 1], angles[:, 2] + np.pi], axis=1)
    ways = np.stack([angles, other])
    out = np.empty_like(angles)
    before = np.zeros(3)
    for frame in range(len(angles)):
        near = before + (ways[:, frame] - before + np.pi) % (2.0 * np.pi) - np.pi
        out[frame] = before = near[int(np.argmin(((near - before) ** 2).sum(axis=1)))]
    return out
