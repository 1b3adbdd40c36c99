"""States to start from."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from pfmhr.sim import BatchedSimulation, Scene


def standing(scene: Scene, above: float = 0.0) -> np.ndarray:
    """(nq,) the default pose, its feet on the floor or ``above`` it in m."""
    pose = scene.model.qpos0.copy()
    pose[2] = scene.robot.default_root_height + above
    pose[scene.joint_positions] = scene.robot.default_pose
    return pose


def started(
    scene: Scene,
    positions: np.ndarray,
    velocities: np.ndarray | None = None,
    threads: int = 1,
    models: Sequence[mujoco.MjModel] | None = None,
) -> BatchedSimulation:
    """As many environments as there are positions ``(N, nq)``, at rest unless velocities ``(N, nv)`` are given."""
    count = len(positions)
    simulation = BatchedSimulation(scene, count, threads, models)
    still = np.zeros((count, scene.model.nv))
    simulation.reset(np.arange(count), positions, still if velocities is None else velocities)
    return simulation
