"""Sensors are one physics step older than the state, and nothing that is read is a copy."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.sim import BatchedSimulation, Scene, SceneConfig

from .states import standing, started


@pytest.fixture
def moving(scene: Scene) -> BatchedSimulation:
    """Three robots that fall, turn and wave: everything about them changes."""
    random = np.random.default_rng(1)
    velocities = random.normal(scale=1.0, size=(3, scene.model.nv))
    return started(scene, np.tile(standing(scene, above=0.5), (3, 1)), velocities)


def after(simulation: BatchedSimulation, environment: int, wanted: np.ndarray, steps: int) -> mujoco.MjData:
    """The same robot by MuJoCo alone after some physics steps, its kinematics fresh."""
    scene = simulation.scene
    data = mujoco.MjData(scene.model)
    data.qpos[:], data.qvel[:] = simulation.positions[environment], simulation.velocities[environment]
    for _ in range(steps):
        data.ctrl[scene.actuators] = wanted[environment]
        mujoco.mj_step(scene.model, data)
    for update in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
        update(scene.model, data)
    return data


def velocity(scene: Scene, data: mujoco.MjData) -> np.ndarray:
    """(B, 6): angular, then linear velocity of each body's frame in the world."""
    found = np.zeros((len(scene.bodies), 6))
    for row, name in enumerate(scene.bodies):
        body = scene.model.body(name).id
        mujoco.mj_objectVelocity(scene.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, found[row], 0)
    return found


READ: dict[str, Callable[[Scene, mujoco.MjData], np.ndarray]] = {
    "position": lambda _, data: data.xpos[1:],
    "orientation": lambda _, data: data.xquat[1:],
    "linear_velocity": lambda scene, data: velocity(scene, data)[:, 3:],
    "angular_velocity": lambda scene, data: velocity(scene, data)[:, :3],
}


@pytest.mark.parametrize("what", READ)
def test_frames_are_those_of_one_physics_step_before_the_state(
    scene: Scene, moving: BatchedSimulation, what: str
) -> None:
    wanted = scene.robot.default_pose + np.random.default_rng(2).normal(scale=0.3, size=(3, 29))
    substeps = scene.config.substeps
    before = [after(moving, environment, wanted, substeps - 1) for environment in range(3)]
    end = [after(moving, environment, wanted, substeps) for environment in range(3)]
    moving.step(wanted)
    for environment in range(3):
        assert moving.positions[environment] == pytest.approx(end[environment].qpos, abs=1e-9)
        seen = moving.frames(what)[environment]
        assert seen == pytest.approx(READ[what](scene, before[environment]), abs=1e-8)
        assert np.abs(seen - READ[what](scene, end[environment])).max() > 1e-3


def test_positions_velocities_and_frames_are_views_that_follow_the_steps(
    scene: Scene, moving: BatchedSimulation
) -> None:
    state, positions, velocities = moving.state, moving.positions, moving.velocities
    frames = {what: moving.frames(what) for what in READ}
    pelvis = positions[:, 2].copy()
    moving.step(np.tile(scene.robot.default_pose, (3, 1)))
    assert moving.state is state
    assert np.shares_memory(positions, state) and np.shares_memory(velocities, state)
    assert (positions[:, 2] != pelvis).all() and np.array_equal(positions, moving.positions)
    for what, taken in frames.items():
        assert taken.shape == (3, 30, 4 if what == "orientation" else 3)
        assert np.shares_memory(taken, moving.frames(what)) and taken.any()


def test_what_is_written_into_a_view_is_simulated(scene: Scene, moving: BatchedSimulation) -> None:
    moving.velocities[1] = 0.0
    moving.velocities[1, 0] = 2.0
    start = moving.positions[1, 0]
    moving.step(np.tile(scene.robot.default_pose, (3, 1)))
    assert moving.positions[1, 0] - start == pytest.approx(2.0 / 30.0, abs=1e-3)


def test_what_is_not_sensed_changes_no_bit_of_what_is(g1: Robot) -> None:
    both = [
        BatchedSimulation(Scene(g1, config), 2, 1) for config in (SceneConfig(), SceneConfig(frames=("orientation",)))
    ]
    for _ in range(20):
        for simulation in both:
            simulation.step(np.tile(g1.default_pose + 0.3, (2, 1)))
    every, few = both
    assert np.array_equal(every.state, few.state) and np.array_equal(every.touched, few.touched) and few.touched.any()
    assert np.array_equal(every.frames("orientation"), few.frames("orientation"))
    with pytest.raises(InputError, match="unknown frame quantity 'position'"):
        few.frames("position")
    with pytest.raises(InputError, match="Did you mean 'position'"):
        SceneConfig(frames=("positions",))
