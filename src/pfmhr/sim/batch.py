"""N environments through ``mujoco.rollout``: one call per control step, one thread per core, no loop in Python."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.checks.paths import available_cores
from pfmhr.robots.quiet import silence
from pfmhr.sim.scene import Scene

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS
TOO_FAST = 200.0
"""rad/s or m/s: beyond this an environment has exploded."""
START = 1.0
"""s on the clock of a new episode. Not zero: MuJoCo puts clocks to zero, and that has to be seen even at once."""

Array = NDArray[Any]


class BatchedSimulation:
    """State arrays of N environments, and a step that advances all of them.

    ``sensors`` are those of the last physics substep's *beginning*: MuJoCo computes them before it integrates.
    Positions and velocities of root and joints, read from the state, are of its end.
    """

    def __init__(
        self,
        scene: Scene,
        environments: int,
        threads: int | None = None,
        models: Sequence[mujoco.MjModel] | None = None,
    ) -> None:
        """``models``: one per environment, for randomised physics; the scene's own for all unless given."""
        if environments < 1 or (models is not None and len(models) != environments):
            raise InputError("at least one environment, and a model for each or for none", code="bad_config")
        self.scene, self.environments = scene, environments
        model = scene.model
        self._models: Any = list(models) if models is not None else model
        threads = threads or available_cores()
        self._pool = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._data = [mujoco.MjData(model) for _ in range(max(1, threads))]
        size, substeps = mujoco.mj_stateSize(model, FULL), scene.config.substeps
        if size != 1 + model.nq + model.nv:
            raise InputError("a robot with activations or plugins cannot be batched yet", code="bad_robot")
        self.state: Array = np.zeros((environments, size))
        self._states: Array = np.zeros((environments, substeps, size))
        self._sensed: Array = np.zeros((environments, substeps, model.nsensordata))
        self._control: Array = np.zeros((environments, 1, model.nu))
        self.exploded = 0
        """How many environments have exploded so far."""
        self.seconds = 0.0
        """Spent in MuJoCo so far."""
        silence()  # an environment that exploded is named by step
        self.reset(np.arange(environments), np.tile(model.qpos0, (environments, 1)), np.zeros((environments, model.nv)))

    @property
    def positions(self) -> Array:
        """(N, nq): a view into the state: root position and orientation (wxyz), then joints."""
        return self.state[:, 1 : 1 + self.scene.model.nq]

    @property
    def velocities(self) -> Array:
        """(N, nv): a view: root linear (world), root angular (body frame), then joints."""
        return self.state[:, 1 + self.scene.model.nq :]

    @property
    def joint_pos(self) -> Array:
        """(N, J) rad, in the robot's joint order."""
        return self.positions[:, self.scene.joint_positions]

    @property
    def joint_vel(self) -> Array:
        """(N, J) rad/s."""
        return self.velocities[:, self.scene.joint_velocities]

    def frames(self, what: str) -> Array:
        """(N, bodies, width): a view of a frame quantity ("position", …) one physics substep ago."""
        columns, width = self.scene.frame(what)
        return self._sensed[:, -1, columns].reshape(self.environments, -1, width)

    @property
    def touched(self) -> NDArray[np.bool_]:
        """(N, bodies): which bodies touched the floor at any substep of the last control step."""
        return np.any(self._sensed[:, :, self.scene.contacts] > 0, axis=1)  # type: ignore[return-value]

    def reset(self, ids: Array, positions: Array, velocities: Array) -> None:
        """Put environments ``ids`` into states ``(n, nq)``, ``(n, nv)``."""
        self.state[ids, 0] = START
        self.positions[ids] = positions
        self.velocities[ids] = velocities

    def step(self, targets: Array) -> NDArray[np.bool_]:
        """Advance one control step with joint targets ``(N, J)`` rad; returns which environments exploded ``(N,)``.

        An exploded environment stays as MuJoCo left it until it is reset; the others never notice.
        """
        self._control[:, 0, self.scene.actuators] = targets
        broken = ~np.isfinite(targets).all(axis=1)
        self._control[broken] = 0.0
        expected = self.state[:, 0] + self.scene.config.substeps * self.scene.model.opt.timestep
        started = time.perf_counter()
        self._pool.rollout(
            self._models,
            self._data,
            self.state,
            self._control,
            nstep=self.scene.config.substeps,
            state=self._states,
            sensordata=self._sensed,
        )
        self.seconds += time.perf_counter() - started
        self.state[:] = self._states[:, -1]
        # MuJoCo puts an environment that diverged back to its start and its clock to zero.
        on_time = np.abs(self.state[:, 0] - expected) < 1e-6
        with np.errstate(invalid="ignore"):
            sane = (np.abs(self.velocities) < TOO_FAST).all(axis=1) & np.isfinite(self.state).all(axis=1)
        exploded = broken | ~on_time | ~sane
        self.exploded += int(exploded.sum())
        return exploded

    def close(self) -> None:
        """Stop the threads."""
        self._pool.close()
