"""Batched MuJoCo gives what MuJoCo gives, and no environment harms another."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.sim import BatchedSimulation, Scene, SceneConfig

from .states import standing


@pytest.fixture
def simulation(scene: Scene) -> Iterator[BatchedSimulation]:
    made = BatchedSimulation(scene, 4, threads=2)
    made.reset(np.arange(4), np.tile(standing(scene), (4, 1)), np.zeros((4, scene.model.nv)))
    yield made
    made.close()


def targets(scene: Scene) -> np.ndarray:
    noise = np.random.default_rng(0).normal(scale=0.1, size=(4, 29))
    return scene.robot.default_pose + noise


def test_a_control_step_is_four_steps_of_mujoco(scene: Scene, simulation: BatchedSimulation) -> None:
    wanted = targets(scene)
    simulation.step(wanted)
    for environment in range(4):
        data = mujoco.MjData(scene.model)
        data.qpos[:] = standing(scene)
        for _ in range(4):
            data.ctrl[scene.actuators] = wanted[environment]
            mujoco.mj_step(scene.model, data)
        assert np.allclose(simulation.positions[environment], data.qpos, atol=1e-10)
        assert np.allclose(simulation.velocities[environment], data.qvel, atol=1e-8)
        # Sensors are those of the last step's beginning: mj_step leaves the same in its data.
        frames = simulation.frames("position")[environment]
        assert np.allclose(frames[scene.bodies.index("pelvis")], data.sensor("pelvis_position").data, atol=1e-10)


def test_the_number_of_threads_changes_no_bit(scene: Scene, simulation: BatchedSimulation) -> None:
    alone = BatchedSimulation(scene, 4, threads=1)
    alone.reset(np.arange(4), simulation.positions, simulation.velocities)
    for _ in range(10):
        simulation.step(targets(scene))
        alone.step(targets(scene))
    assert np.array_equal(simulation.state, alone.state)


def test_feet_touch_the_floor_and_nothing_else(scene: Scene, simulation: BatchedSimulation) -> None:
    for _ in range(5):
        simulation.step(np.tile(scene.robot.default_pose, (4, 1)))
    touching = {scene.bodies[body] for body in np.flatnonzero(simulation.touched.any(axis=0))}
    assert touching == {"left_ankle_roll_link", "right_ankle_roll_link"}


def test_views_read_the_state_itself(scene: Scene, simulation: BatchedSimulation) -> None:
    simulation.positions[2, scene.joint_positions[3]] = 0.7
    assert simulation.joint_pos[2, 3] == 0.7 and simulation.joint_pos[1, 3] != 0.7


def test_an_exploded_environment_is_named_and_harms_no_other(scene: Scene, simulation: BatchedSimulation) -> None:
    wanted = targets(scene)
    alone = BatchedSimulation(scene, 1, threads=1)
    alone.reset(np.array([0]), standing(scene)[None], np.zeros((1, scene.model.nv)))
    alone.step(wanted[:1])
    wanted[1] = np.nan
    simulation.velocities[2] = 1e9
    simulation.positions[3, 0] = np.nan
    assert simulation.step(wanted).tolist() == [False, True, True, True]
    assert simulation.exploded == 3
    assert np.array_equal(simulation.positions[0], alone.positions[0])
    simulation.reset(np.array([1, 2, 3]), np.tile(standing(scene), (3, 1)), np.zeros((3, scene.model.nv)))
    assert not simulation.step(targets(scene)).any()


def test_impossible_settings_are_refused(scene: Scene) -> None:
    with pytest.raises(InputError, match="multiple of the control rate"):
        SceneConfig(physics_rate=100.0, control_rate=30.0)
    with pytest.raises(InputError, match="at least one environment"):
        BatchedSimulation(scene, 0)
    with pytest.raises(InputError, match="Available: position"):
        scene.frame("colour")
