"""Environments with physics of their own: each by its own model, none by another's."""

from __future__ import annotations

import copy
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from pfmhr.sim import Scene

from .states import standing, started

STEPS = 15
CHANGED = 2


def twice_the_mass(model: mujoco.MjModel) -> None:
    model.body_mass *= 2.0
    model.body_inertia *= 2.0


def half_the_gain(model: mujoco.MjModel) -> None:
    model.actuator_gainprm[:, 0] *= 0.5
    model.actuator_biasprm[:, 1] *= 0.5


def ice(model: mujoco.MjModel) -> None:
    model.geom_friction[:, 0] = 0.01


def trajectories(scene: Scene, models: list[mujoco.MjModel] | None) -> np.ndarray:
    """(STEPS, 4, state) of four robots that stand, targets a little different for each."""
    wanted = scene.robot.default_pose + np.random.default_rng(0).normal(scale=0.05, size=(4, 29))
    simulation = started(scene, np.tile(standing(scene), (4, 1)), threads=2, models=models)
    seen = []
    for _ in range(STEPS):
        assert not simulation.step(wanted).any()
        seen.append(simulation.state.copy())
    simulation.close()
    return np.array(seen)


@pytest.mark.parametrize("change", [twice_the_mass, half_the_gain, ice])
def test_a_changed_model_changes_its_environment_and_no_bit_of_the_others(
    scene: Scene, change: Callable[[mujoco.MjModel], None]
) -> None:
    models = [copy.copy(scene.model) for _ in range(4)]
    change(models[CHANGED])
    mujoco.mj_setConst(models[CHANGED], mujoco.MjData(models[CHANGED]))
    plain, varied = trajectories(scene, None), trajectories(scene, models)
    others = [environment for environment in range(4) if environment != CHANGED]
    assert np.array_equal(plain[:, others], varied[:, others])
    assert np.abs(plain[-1, CHANGED] - varied[-1, CHANGED]).max() > 0.01


def test_twice_the_mass_sinks_deeper_into_its_knees(scene: Scene) -> None:
    heavy = copy.copy(scene.model)
    twice_the_mass(heavy)
    simulation = started(scene, np.tile(standing(scene), (2, 1)), models=[scene.model, heavy])
    for _ in range(10):
        simulation.step(np.tile(scene.robot.default_pose, (2, 1)))
    assert simulation.positions[1, 2] < simulation.positions[0, 2] - 0.002
