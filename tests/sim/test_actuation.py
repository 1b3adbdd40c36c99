"""Targets reach the joints they are meant for, and joints answer them as PD control says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.sim import Scene, SceneConfig

from .states import standing, started

STIFFNESS, DAMPING, ARMATURE, INERTIA, LIMIT = 20.0, 1.5, 0.006, 0.004, 2.0
ROBOT = """
<mujoco model="three_arms">
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="base" pos="0 0 5">
      <freejoint/>
      <inertial pos="0 0 0" mass="1e6" diaginertia="1e6 1e6 1e6"/>
      %s
    </body>
  </worldbody>
  <actuator>
    %s
  </actuator>
</mujoco>
"""
ARM = f"""<body name="{{name}}"><joint name="{{name}}" axis="0 1 0" armature="{ARMATURE}"/>
  <inertial pos="0 0 0" mass="1" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/></body>"""
MOTOR = f"""<position joint="{{name}}" kp="{STIFFNESS}" kv="{DAMPING}" forcerange="-{LIMIT} {LIMIT}"/>"""
ARMS = ("first", "second", "third")


def three_arms(folder: Path, motors: tuple[str, ...]) -> Robot:
    """Arms that turn about their own centres on a base too heavy to notice; motors in the given order."""
    path = folder / "arms.xml"
    arms = "".join(ARM.format(name=name) for name in ARMS)
    path.write_text(ROBOT % (arms, "".join(MOTOR.format(name=name) for name in motors)))
    return Robot.load(path)


@pytest.mark.parametrize("motors", [ARMS, ARMS[::-1], ("second", "third", "first")])
def test_targets_are_in_the_order_of_the_joints_whatever_the_order_of_the_motors(
    tmp_path: Path, motors: tuple[str, ...]
) -> None:
    scene = Scene(three_arms(tmp_path, motors))
    simulation = started(scene, np.tile(scene.model.qpos0, (3, 1)))
    for _ in range(60):
        simulation.step(0.05 * np.eye(3))
    assert simulation.joint_pos == pytest.approx(0.05 * np.eye(3), abs=1e-3)


def test_a_target_for_one_joint_of_the_g1_moves_that_joint_that_way(scene: Scene) -> None:
    robot = scene.robot
    middle = (robot.lower + robot.upper) / 2
    way = np.where(robot.default_pose < middle, 0.1, -0.1)
    simulation = started(scene, np.tile(standing(scene, above=3.0), (29, 1)))
    for _ in range(3):
        simulation.step(robot.default_pose + np.diag(way))
    moved = simulation.joint_pos - robot.default_pose
    assert np.abs(moved).argmax(axis=1).tolist() == list(range(29))
    assert (np.sign(np.diag(moved)) == np.sign(way)).all() and (np.abs(np.diag(moved)) > 0.02).all()


def test_a_joint_without_a_motor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"joint second cannot be told where to go(.|\n)*no actuator"):
        Scene(three_arms(tmp_path, ("first", "third")))


def test_a_step_of_the_target_is_answered_by_the_closed_form(tmp_path: Path) -> None:
    # I q'' + d q' + k (q − 0.05) = 0 from rest, over-damped: two exponentials.
    scene = Scene(three_arms(tmp_path, ARMS), SceneConfig(physics_rate=6000.0, control_rate=60.0))
    simulation = started(scene, scene.model.qpos0[None])
    fast, slow = np.roots([ARMATURE + INERTIA, DAMPING, STIFFNESS])
    for step in range(1, 16):
        simulation.step(np.full((1, 3), 0.05))
        time = step / 60.0
        left = (slow * np.exp(fast * time) - fast * np.exp(slow * time)) / (slow - fast)
        assert simulation.joint_pos[0] == pytest.approx(0.05 * (1.0 - left), abs=1e-4)


def test_a_motor_at_its_limit_accelerates_evenly(tmp_path: Path) -> None:
    # A target far away, well beyond any joint range: torque LIMIT, so q = LIMIT/(2 I) t² without end of the servo.
    scene = Scene(three_arms(tmp_path, ARMS), SceneConfig(physics_rate=6000.0, control_rate=60.0))
    simulation = started(scene, scene.model.qpos0[None])
    for step in range(1, 7):
        simulation.step(np.full((1, 3), 100.0))
        expected = 0.5 * LIMIT / (ARMATURE + INERTIA) * (step / 60.0) ** 2
        assert simulation.joint_pos[0] == pytest.approx(expected, rel=0.02)


def test_targets_beyond_the_range_are_not_cut_as_the_robots_file_would(scene: Scene) -> None:
    assert scene.robot.compile().actuator_ctrllimited.all() and not scene.model.actuator_ctrllimited.any()
