"""Robots from any MJCF file: joints, limits, motors, and clear words for what cannot be one robot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot, body_poses

LoadText = Callable[[str], Robot]

TWO_ARMS = """
<mujoco><compiler angle="radian"/><worldbody><body name="trunk" pos="0 0 1">{free}<geom size="0.1"/>
  <body name="left_arm" pos="0 0.2 0"><joint name="left_arm" axis="{left}" range="-1 2" armature="0.5"/>
    <geom size="0.1" pos="0.3 0.1 0.2"/>
    <body name="left_hand" pos="0.3 0.1 0.2"><joint name="left_hand" axis="0 0 1"/><geom size="0.1"/></body></body>
  <body name="right_arm" pos="0 -0.2 0"><joint name="right_arm" axis="{right}" range="-1 2"/>
    <geom size="0.1" pos="0.3 -0.1 0.2"/>
    <body name="right_hand" pos="0.3 -0.1 0.2"><joint name="right_hand" axis="0 0 1"/><geom size="0.1"/></body></body>
</body></worldbody>{actuators}{keys}</mujoco>"""


def two_arms(
    free: str = "<freejoint/>", left: str = "0 1 0", right: str = "0 1 0", actuators: str = "", keys: str = ""
) -> str:
    actuators = f"<actuator>{actuators}</actuator>"
    return TWO_ARMS.format(free=free, left=left, right=right, actuators=actuators, keys=keys)


@pytest.fixture
def load_text(tmp_path: Path) -> LoadText:
    def load(text: str) -> Robot:
        path = tmp_path / "toy.xml"
        path.write_text(text)
        return Robot.load(path)

    return load


@pytest.mark.parametrize(("free", "height"), [("<freejoint/>", 1.0), ("", 0.0)], ids=["floating", "fixed"])
def test_hinges_are_read_with_and_without_a_free_joint(load_text: LoadText, free: str, height: float) -> None:
    robot = load_text(two_arms(free))
    assert robot.name == "toy"
    assert robot.joint_names == ("left_arm", "left_hand", "right_arm", "right_hand")
    assert robot.body_names == ("trunk", "left_arm", "left_hand", "right_arm", "right_hand")
    assert robot.floating_base == bool(free)
    assert robot.default_root_height == height
    assert robot.armature == pytest.approx([0.5, 0, 0, 0])


def test_a_joint_without_limits_may_turn_half_around_either_way(load_text: LoadText) -> None:
    robot = load_text(two_arms())
    assert robot.lower == pytest.approx([-1, -np.pi, -1, -np.pi])
    assert robot.upper == pytest.approx([2, np.pi, 2, np.pi])


@pytest.mark.parametrize("free", ["<freejoint/>", ""], ids=["floating", "fixed"])
def test_gains_follow_the_joint_not_the_actuators_order(load_text: LoadText, free: str) -> None:
    motors = """<position joint="right_hand" kp="40" kv="4" forcerange="-8 8"/>
                <position joint="left_arm" kp="10" kv="1" forcerange="-5 5"/>
                <motor joint="right_arm" forcerange="-7 7"/>"""
    robot = load_text(two_arms(free, actuators=motors))
    assert robot.stiffness.tolist() == [10, 0, 0, 40]
    assert robot.damping.tolist() == [1, 0, 0, 4]
    assert robot.effort.tolist() == [5, np.inf, 7, 8]


def test_a_joints_own_torque_limit_counts_where_it_is_the_smaller(load_text: LoadText) -> None:
    text = two_arms(actuators='<position joint="left_arm" kp="1" forcerange="-5 5"/>')
    assert load_text(text.replace('armature="0.5"', 'actuatorfrcrange="-3 3"')).effort[0] == 3
    assert load_text(text.replace('armature="0.5"', 'actuatorfrcrange="-9 9"')).effort[0] == 5


@pytest.mark.parametrize(
    ("actuators", "stiffness"),
    [
        ('<velocity joint="left_arm" kv="5"/>', 0),
        ('<position joint="left_arm" kp="10"/><velocity joint="left_arm" kv="5"/>', 10),
        ('<velocity joint="left_arm" kv="5"/><position joint="left_arm" kp="10"/>', 10),
    ],
    ids=["velocity", "position_velocity", "velocity_position"],
)
def test_a_velocity_actuator_damps_and_adds_no_stiffness(load_text: LoadText, actuators: str, stiffness: float) -> None:
    robot = load_text(two_arms(actuators=actuators))
    assert robot.stiffness[0] == stiffness
    assert robot.damping[0] == 5


def test_the_first_keyframe_is_the_default_pose(load_text: LoadText) -> None:
    keys = '<keyframe><key qpos="0 0 0.7 1 0 0 0 0.1 0.2 0.3 0.4"/><key qpos="0 0 9 1 0 0 0 9 9 9 9"/></keyframe>'
    robot = load_text(two_arms(keys=keys))
    assert robot.default_pose == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert robot.default_root_height == pytest.approx(0.7)


def test_breadth_first_goes_level_by_level(load_text: LoadText) -> None:
    robot = load_text(two_arms())
    assert robot.breadth_first_names == ("left_arm", "right_arm", "left_hand", "right_hand")
    assert robot.bodies_on_root == ("left_arm", "right_arm")
    assert robot.breadth_first_bodies == ("trunk", "left_arm", "right_arm", "left_hand", "right_hand")


@pytest.mark.parametrize(
    ("left", "right"),
    [("0 1 0", "0 1 0"), ("1 0 0", "1 0 0"), ("0 1 0", "0 -1 0"), ("1 0 0", "-1 0 0"), ("1 1 0", "-1 1 0")],
)
def test_the_mirror_image_holds_whichever_way_the_axes_point(load_text: LoadText, left: str, right: str) -> None:
    robot = load_text(two_arms(left=left, right=right))
    index, sign = robot.mirror
    pose, upright = np.array([[0.3, 0.5, -0.7, 0.2]]), np.array([[1.0, 0, 0, 0]])
    placed, _ = body_poses(robot, np.zeros((1, 3)), upright, pose)
    image, _ = body_poses(robot, np.zeros((1, 3)), upright, pose[:, index] * sign)
    assert image[0, [0, 3, 4, 1, 2]] == pytest.approx(placed[0] * [1, -1, 1], abs=1e-6)


def test_body_poses_of_a_fixed_robot_ignore_the_root(load_text: LoadText) -> None:
    robot = load_text(two_arms(""))
    positions, _ = body_poses(robot, np.full((1, 3), 5.0), np.array([[0.0, 1, 0, 0]]), np.zeros((1, 4)))
    assert positions[0, 0] == pytest.approx([0, 0, 1])
    assert positions[0, 2] == pytest.approx([0.3, 0.3, 1.2])


HINGE = '<body><joint name="a"/><geom size="0.1"/></body>'
FREE = '<body><freejoint/><geom size="0.1"/></body>'


@pytest.mark.parametrize(
    ("bodies", "code", "words"),
    [
        (HINGE.replace("name", 'type="ball" name'), "bad_robot", "a ball joint 'a'"),
        (HINGE.replace("name", 'type="slide" name'), "bad_robot", "a slide joint 'a'"),
        (FREE, "bad_robot", "1 free joints and 0 hinges"),
        ("<geom size='0.1'/>", "bad_robot", "at least one hinge"),
        (FREE + FREE + HINGE, "bad_robot", "2 free joints and 1 hinges"),
        (HINGE + FREE, "bad_robot", "at most one free joint, first"),
        ("<body><joint/><geom size='0.1'/></body>", "bad_robot", "every hinge needs a name"),
        ("<body><joint name='a'/>", "bad_mjcf", "not well-formed XML"),
        ("<body><joint name='a'/></body>", "bad_mjcf", "MuJoCo cannot compile this robot: Error: mass and inertia"),
    ],
    ids=["ball", "slide", "no_hinge", "no_joint", "two_free", "free_not_first", "unnamed", "broken_xml", "massless"],
)
def test_what_is_not_one_robot_of_hinges_is_refused(
    load_text: LoadText, tmp_path: Path, bodies: str, code: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert caught.value.code == code
    assert str(tmp_path / "toy.xml") in str(caught.value)
    assert words in str(caught.value)


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(InputError, match=r"unknown robot 'atlas'.*Available: g1") as caught:
        Robot.load("atlas")
    assert caught.value.code == "unknown_name"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Robot.load(tmp_path / "none.xml")
    assert caught.value.code == "not_found"
    assert str(tmp_path / "none.xml") in str(caught.value)


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.xml"
    path.write_bytes(f"<mujoco><worldbody>{HINGE}</worldbody></mujoco>".encode().replace(b'"a"', b'"caf\xe9"'))
    with pytest.raises(InputError, match=r"not UTF-8 \(got b'caf\\xe9'\)") as caught:
        Robot.load(path)
    assert caught.value.code == "bad_robot"
