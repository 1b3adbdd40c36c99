"""Where the bodies are: MuJoCo's own forward kinematics over many frames."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfmhr import spatial
from pfmhr.robots.robot import Robot


def body_poses(
    robot: Robot,
    root_pos: NDArray[np.floating],
    root_quat: NDArray[np.floating],
    joint_pos: NDArray[np.floating],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """World positions and wxyz quaternions of all bodies but the world.

    Args:
        root_pos: shape ``(T, 3)`` in m. root_quat: ``(T, 4)`` wxyz. joint_pos: ``(T, J)`` in rad.

    Returns:
        positions ``(T, B, 3)`` and quaternions ``(T, B, 4)``; link frames, MuJoCo's body order.
    """
    model = robot.compile()
    data = mujoco.MjData(model)
    frames = len(joint_pos)
    positions = np.empty((frames, model.nbody - 1, 3), dtype=np.float32)
    quaternions = np.empty((frames, model.nbody - 1, 4), dtype=np.float32)
    offset = 7 if robot.floating_base else 0
    for frame in range(frames):
        if offset:
            data.qpos[:3] = root_pos[frame]
            data.qpos[3:7] = root_quat[frame]
        data.qpos[offset:] = joint_pos[frame]
        mujoco.mj_kinematics(model, data)
        positions[frame] = data.xpos[1:]
        quaternions[frame] = data.xquat[1:]
    return positions, quaternions


def heading(quat: ArrayLike) -> float:
    """Where a body of this orientation ``(4,)`` wxyz looks: rad about z."""
    ahead = spatial.Rotation.from_quat(np.asarray(quat, dtype=np.float64), scalar_first=True).apply([1.0, 0.0, 0.0])
    return float(np.arctan2(ahead[1], ahead[0]))
