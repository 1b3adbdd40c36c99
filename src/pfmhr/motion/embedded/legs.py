"""Inverse kinematics of both legs, all frames of a clip at once."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.embedded.curves import Array
from pfmhr.robots import Robot

SIDES = ("left", "right")
LEG_JOINTS = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
LEGS = tuple(f"{side}_{joint}_joint" for side in SIDES for joint in LEG_JOINTS)
LIMIT_MARGIN = 0.005
"""Joints stay this far inside their limits, in rad."""
DAMPING = 1e-6
"""Keeps the step finite where the leg is stretched and the Jacobian loses rank."""


@dataclass(frozen=True, eq=False)
class Legs:
    """The two chains from the pelvis to the soles; left first. All joint axes are coordinate axes."""

    columns: NDArray[np.intp]
    """(2, 6) positions of the leg joints in the robot's joint order."""
    offset: Array
    """(2, 6, 3) each link's origin in its parent, in m."""
    frame: Array
    """(2, 6, 3, 3) each link's orientation in its parent at angle 0."""
    tilted: tuple[bool, ...]
    """For each joint, whether that orientation is not the parent's own."""
    axis: tuple[int, ...]
    """For each joint, which coordinate axis it turns about."""
    sole: Array
    """(2, 3) centre of the sole in the last link."""
    lower: Array
    """(2, 6) limits less the margin, in rad."""
    upper: Array

    @staticmethod
    def of(robot: Robot) -> Legs:
        """Read the legs from the robot's MJCF; it needs the G1's leg joints and a site under each foot."""
        columns = np.array(robot.joint_indices(LEGS), dtype=np.intp).reshape(2, 6)
        model = robot.compile()
        soles = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, f"{side}_sole") for side in SIDES]
        joints = [model.joint(name).id for name in LEGS]
        if min(soles) < 0 or not (np.sort(model.jnt_axis[joints], axis=1) == (0.0, 0.0, 1.0)).all():
            raise InputError(
                "not the legs the embedded motions are made for",
                where=robot.path,
                expected="sites left_sole and right_sole, and hinges about the axes x, y and z",
                fix="Use the bundled robot 'g1'.",
                code="wrong_robot",
            )
        bodies = model.jnt_bodyid[joints]
        frames = np.empty((12, 9))
        for row, body in enumerate(bodies):
            mujoco.mju_quat2Mat(frames[row], model.body_quat[body])
        return Legs(
            columns=columns,
            offset=model.body_pos[bodies].reshape(2, 6, 3),
            frame=frames.reshape(2, 6, 3, 3),
            tilted=tuple(not np.allclose(frame, np.eye(3).ravel()) for frame in frames[:6]),
            axis=tuple(int(index) for index in model.jnt_axis[joints[:6]].argmax(axis=1)),
            sole=model.site_pos[soles].copy(),
            lower=robot.lower[columns].astype(np.float64) + LIMIT_MARGIN,
            upper=robot.upper[columns].astype(np.float64) - LIMIT_MARGIN,
        )

    @property
    def hip(self) -> Array:
        """(2, 3) where the hip roll axes sit in the pelvis: the upper ends of thigh and reach."""
        return self.offset[:, 0] + self.offset[:, 1]


def forward(legs: Legs, angles: Array) -> tuple[Array, Array, Array, Array]:
    """Kinematics of both legs in the pelvis frame; vectors lead, the batch trails, for speed.

    Args:
        angles: ``(6, 2, T)`` in rad.

    Returns:
        joint origins ``(6, 3, 2, T)``, joint axes ``(6, 3, 2, T)``, sole position ``(3, 2, T)`` and
        sole orientation ``(3, 3, 2, T)``.
    """
    _, sides, frames = angles.shape
    origins, axes = np.empty((6, 3, sides, frames)), np.empty((6, 3, sides, frames))
    place = np.zeros((3, sides, frames))
    turn = np.broadcast_to(np.eye(3)[:, :, None, None], (3, 3, sides, frames))
    sines, cosines = np.sin(angles), np.cos(angles)
    for joint in range(6):
        place = place + np.einsum("ijst,sj->ist", turn, legs.offset[:, joint])
        if legs.tilted[joint]:
            turn = np.einsum("ijst,sjk->ikst", turn, legs.frame[:, joint])
        about = legs.axis[joint]
        first, second = (about + 1) % 3, (about + 2) % 3
        origins[joint], axes[joint] = place, turn[:, about]
        turned = np.empty((3, 3, sides, frames))
        turned[:, about] = turn[:, about]
        turned[:, first] = cosines[joint] * turn[:, first] + sines[joint] * turn[:, second]
        turned[:, second] = cosines[joint] * turn[:, second] - sines[joint] * turn[:, first]
        turn = turned
    return origins, axes, place + np.einsum("ijst,sj->ist", turn, legs.sole), turn


def solve(legs: Legs, position: Array, rotation: Array, iterations: int = 12) -> tuple[Array, Array]:
    """Joint angles that bring the soles to their targets, by damped Gauss-Newton steps.

    Args:
        position: ``(2, T, 3)`` sole centres in the pelvis frame, in m, left first.
        rotation: ``(2, T, 3, 3)`` sole orientations in the pelvis frame.

    Returns:
        angles ``(2, T, 6)`` within the limits, and what remains of position (m) and rotation (rad)
        errors, ``(2, T, 6)``.
    """
    goal, facing = np.moveaxis(position, 2, 0), np.moveaxis(rotation, (2, 3), (0, 1))
    lower, upper = legs.lower.T[:, :, None], legs.upper.T[:, :, None]
    angles = np.clip(_guess(legs, goal, facing), lower, upper)
    error = np.full(angles.shape, np.inf)
    for _ in range(iterations):
        origins, axes, place, turn = forward(legs, angles)
        error = np.concatenate([goal - place, 0.5 * sum(np.cross(turn[:, k], facing[:, k], axis=0) for k in range(3))])
        if np.abs(error).max() < 1e-5:
            break
        jacobian = np.concatenate([np.cross(axes, place - origins, axis=1), axes], axis=1)
        step = _least_squares(np.moveaxis(jacobian, (1, 0), (2, 3)), np.moveaxis(error, 0, 2))
        angles = np.clip(angles + np.clip(np.moveaxis(step, 2, 0), -0.5, 0.5), lower, upper)
    return np.moveaxis(angles, 0, 2), np.moveaxis(error, 0, 2)


def _guess(legs: Legs, goal: Array, facing: Array) -> Array:
    """``(6, 2, T)``: the closed solution of a leg whose hip axes meet in one point and whose yaw is small."""
    ankle = goal - np.einsum("ijst,sj->ist", facing, legs.sole + legs.offset[:, 5])
    x, y, z = ankle - legs.hip.T[:, :, None]
    thigh = np.linalg.norm(legs.offset[0, 2] + legs.offset[0, 3])
    shank = np.linalg.norm(legs.offset[0, 4])
    fold = (x * x + y * y + z * z - thigh**2 - shank**2) / (2.0 * thigh * shank)
    knee = np.arccos(np.clip(fold, -1.0, 0.999))
    hip_pitch = -np.arctan2(x, -z) - 0.5 * knee
    hip_roll = np.arctan2(y, np.hypot(x, z))
    yaw = np.arctan2(facing[1, 0], facing[0, 0])
    pitch = np.arcsin(np.clip(-facing[2, 0], -1.0, 1.0))
    return np.stack([hip_pitch, hip_roll, yaw, knee, pitch - hip_pitch - knee, -hip_roll])


def _least_squares(jacobian: Array, error: Array) -> Array:
    transposed = np.swapaxes(jacobian, -1, -2)
    normal = transposed @ jacobian + DAMPING * np.eye(6)
    return np.asarray(np.linalg.solve(normal, transposed @ error[..., None])[..., 0], dtype=np.float64)
