"""Robots as others draw them: with sensors of their own, and with mass in shapes that are only seen."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.sim import Scene
from pfmhr.sim.scene import FLOOR

from .states import started

ROBOT = """
<mujoco>
  <compiler inertiafromgeom="{inertia}"/>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      {inertial}
      <geom name="shell" type="sphere" size="0.2" mass="3" contype="0" conaffinity="0"/>
      <geom name="hull" type="sphere" size="0.1" mass="1"/>
      <site name="imu"/>
      <body name="arm" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0"/>
        <geom name="bone" type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.2"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="elbow" kp="10"/></actuator>
  <sensor>{sensors}</sensor>
</mujoco>
"""
INERTIAL = '<inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>'
GYRO = '<gyro site="imu"/><accelerometer site="imu"/>'


def scene_of(folder: Path, inertial: str = INERTIAL, sensors: str = "", inertia: str = "auto") -> Scene:
    path = folder / "robot.xml"
    path.write_text(ROBOT.format(inertial=inertial, sensors=sensors, inertia=inertia))
    return Scene(Robot.load(path))


@pytest.mark.parametrize("sensors", ["", GYRO], ids=["none of its own", "a gyro and an accelerometer"])
def test_where_a_body_is_does_not_depend_on_what_else_the_robot_senses(sensors: str, tmp_path: Path) -> None:
    scene = scene_of(tmp_path, sensors=sensors)
    high = np.array([[0.5, 0.25, 2.0, 1, 0, 0, 0, 0.0]])
    simulation = started(scene, high)
    simulation.step(np.zeros((1, 1)))
    trunk = simulation.frames("position")[0, scene.bodies.index("trunk")]
    assert trunk == pytest.approx([0.5, 0.25, 2.0], abs=0.02)
    assert not simulation.touched.any()


@pytest.mark.parametrize(
    ("inertial", "inertia", "mass", "shapes"),
    [
        pytest.param("", "auto", 3 + 1 + 0.2, {"shell", "hull", "bone", FLOOR}, id="in the shapes"),
        pytest.param(INERTIAL, "auto", 5 + 0.2, {"hull", "bone", FLOOR}, id="stated"),
        pytest.param(INERTIAL, "true", 3 + 1 + 0.2, {"shell", "hull", "bone", FLOOR}, id="stated and overruled"),
    ],
)
def test_the_mass_is_the_robots(inertial: str, inertia: str, mass: float, shapes: set[str], tmp_path: Path) -> None:
    """A shape that is only seen goes, but not with the mass of its body."""
    scene = scene_of(tmp_path, inertial=inertial, inertia=inertia)
    assert scene.model.body_mass.sum() == pytest.approx(mass)
    assert scene.robot.compile().body_mass.sum() == pytest.approx(mass)
    assert {mujoco.mj_id2name(scene.model, mujoco.mjtObj.mjOBJ_GEOM, row) for row in range(scene.model.ngeom)} == shapes


SERVO = '<position joint="elbow" kp="10"/>'


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (SERVO, '<motor joint="elbow"/>', "one of another kind"),
        (SERVO, '<velocity joint="elbow" kv="1"/>', "one of another kind"),
        (SERVO, '<position joint="elbow" kp="10" gear="5"/>', "one of another kind"),
        (SERVO, '<position site="imu" kp="10"/>', "no actuator"),
        (SERVO, "", "no actuator"),
        (SERVO, SERVO + '<velocity joint="elbow" kv="1"/>', "2 actuators"),
        ("<worldbody>", '<worldbody><geom name="ground" type="plane" size="1 1 1"/>', "a floor of its own"),
        ('<body name="arm"', "<body", "a name for every body"),
        ("<worldbody>", '<worldbody><body name="mast" pos="3 0 0"/>', "a body stands before.*expected 'trunk' first"),
    ],
)
def test_a_robot_that_would_be_driven_with_nonsense_is_refused(
    before: str, after: str, told: str, tmp_path: Path
) -> None:
    """A target in rad is a torque to a motor, and a hundredth of a turn behind a gear."""
    path = tmp_path / "robot.xml"
    text = ROBOT.format(inertial=INERTIAL, sensors="", inertia="auto")
    assert before in text
    path.write_text(text.replace(before, after))
    with pytest.raises(InputError, match=told) as caught:
        Scene(Robot.load(path))
    assert caught.value.code == "bad_robot" and "robot.xml" in str(caught.value)


def test_a_robot_may_have_a_shape_called_floor(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT.format(inertial=INERTIAL, sensors="", inertia="auto").replace('"hull"', '"floor"'))
    assert Scene(Robot.load(path)).model.ngeom == 3
