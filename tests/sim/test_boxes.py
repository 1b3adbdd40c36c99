"""Static boxes are where they were put, and nobody passes through them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from pfmhr.robots import Robot
from pfmhr.sim import Box, Scene, SceneConfig

from .states import standing, started


def distance_to_box(scene: Scene) -> float:
    """m along x from the axis of the world, 1 m up, to the first thing; the robot is moved out of the way."""
    data, geom = mujoco.MjData(scene.model), np.zeros(1, dtype=np.int32)
    data.qpos[1] = 50.0
    mujoco.mj_forward(scene.model, data)
    start, along = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    return float(mujoco.mj_ray(scene.model, data, start, along, None, 1, -1, geom))


@pytest.mark.parametrize(("yaw", "face"), [(0.0, 2.8), (np.pi / 2, 2.5), (np.pi / 4, 3.0 - 0.2 * np.sqrt(2.0))])
def test_a_box_stands_where_it_was_put_and_turned_as_said(g1: Robot, yaw: float, face: float) -> None:
    # 45°: the ray through the centre leaves the narrow side, 0.2/cos 45° from it.
    scene = Scene(g1, SceneConfig(boxes=(Box((0.2, 0.5, 1.0), (3.0, 0.0, 1.0), yaw),)))
    assert distance_to_box(scene) == pytest.approx(face, abs=1e-9)


def test_a_robot_that_flies_at_a_wall_is_stopped_by_it(g1: Robot) -> None:
    # 3 m/s for half a second is 1.5 m; the wall's face is at 0.7 m and no part of the pelvis can be beyond it.
    reached = []
    for boxes in ((), (Box((0.1, 2.0, 2.0), (0.8, 0.0, 2.0)),)):
        scene = Scene(g1, SceneConfig(boxes=boxes))
        velocity = np.zeros((1, scene.model.nv))
        velocity[0, 0] = 3.0
        simulation = started(scene, standing(scene, above=1.5)[None], velocity)
        for _ in range(15):
            assert not simulation.step(scene.robot.default_pose[None]).any()
        reached.append(simulation.positions[0, 0])
    assert reached[0] == pytest.approx(1.5, abs=0.01)
    assert reached[1] < 0.7


def test_a_box_holds_what_falls_on_it_and_does_not_count_as_the_floor(g1: Robot) -> None:
    scene = Scene(g1, SceneConfig(boxes=(Box((1.0, 1.0, 0.25), (0.0, 0.0, 0.25)),)))
    simulation = started(scene, standing(scene, above=0.52)[None])
    for _ in range(10):
        simulation.step(scene.robot.default_pose[None])
    assert simulation.positions[0, 2] == pytest.approx(scene.robot.default_root_height + 0.5, abs=0.02)
    assert not simulation.touched.any()
