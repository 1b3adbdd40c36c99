"""What bodies are for: stated beside the MJCF, or found in the tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.robots.robot import bundled_robots
from pfmhr.robots.roles import Roles, derived_roles

from .bodies import humanoid, quadruped


def test_a_quadruped_has_four_feet_and_no_hands(tmp_path: Path) -> None:
    roles = quadruped(tmp_path).roles
    assert roles.feet == roles.key_bodies == ("fl_foot", "fr_foot", "rl_foot", "rr_foot")
    assert roles.hands == roles.arms == roles.optional_joints == ()
    assert roles.legs == tuple(f"{leg}_{part}" for leg in ("fl", "fr", "rl", "rr") for part in ("shin", "foot"))


def test_a_humanoid_has_feet_hands_and_a_chest_between_them(tmp_path: Path) -> None:
    """Forearm and shin lie half a limb's length or less from its end, and so may touch the ground."""
    roles = humanoid(tmp_path).roles
    assert (roles.feet, roles.hands) == (("l_foot", "r_foot"), ("l_palm", "r_palm"))
    assert roles.key_bodies == ("l_foot", "r_foot", "chest", "l_palm", "r_palm")
    assert roles.legs == ("l_shin", "l_foot", "r_shin", "r_foot")
    assert roles.arms == ("l_fore", "l_palm", "r_fore", "r_palm")


def test_the_tree_of_the_g1_says_what_its_file_states(g1: Robot) -> None:
    assert derived_roles(g1) == replace(g1.roles, name="") and g1.roles.name == "g1"
    assert g1.roles.key_bodies[2] == "torso_link" and len(g1.roles.optional_joints) == 6


def test_an_arm_on_a_table_has_neither_feet_nor_hands(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text('<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody></mujoco>')
    assert Robot.load(path).roles == Roles()


def test_a_file_states_some_roles_and_the_tree_the_others(tmp_path: Path) -> None:
    made = humanoid(tmp_path)
    (tmp_path / "own.roles.toml").write_text('key_bodies = ["head"]\noptional_joints = ["neck"]\n')
    roles = Robot.load(made.path).roles
    assert roles.key_bodies == ("head",) and roles.optional_joints == ("neck",) and roles.feet == ("l_foot", "r_foot")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('feet = ["l_foo"]', "unknown name in feet: 'l_foo'. Did you mean 'l_foot'"),
        ('optional_joints = ["l_foot"]', "unknown name in optional_joints"),
        ('foot = ["l_foot"]', "'foot'"),
        ("feet = 3", "array"),
        ("feet = [", "not valid TOML"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, text: str, told: str) -> None:
    made = humanoid(tmp_path)
    (tmp_path / "own.roles.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        _ = Robot.load(made.path).roles
    assert told in str(caught.value) and "own.roles.toml" in str(caught.value) and caught.value.code == "bad_robot"


def test_a_bundled_robot_is_a_roles_file_and_an_mjcf() -> None:
    assert {name: path.name for name, path in bundled_robots().items()} == {"g1": "unitree_g1.xml"}


def test_joints_in_another_order_are_told_from_other_joints(g1: Robot) -> None:
    g1.require_joints(g1.joint_names, "the prior")
    with pytest.raises(InputError, match="the prior is for the same joints in another order") as caught:
        g1.require_joints(g1.joint_names[::-1], "the prior", "here", "Name another.")
    assert str(caught.value).startswith("here: ") and str(caught.value).endswith("Name another.")
    expected = "robot 'g1': left_hip_pitch_joint, left_hip_roll_joint, left_hip_yaw_joint, … (29 joints)"
    with pytest.raises(InputError, match="the corpus is for other joints") as caught:
        g1.require_joints(("wag", "neck"), "the corpus")
    assert (caught.value.code, caught.value.expected, caught.value.got) == (
        "wrong_robot",
        expected,
        "wag, neck (2 joints)",
    )
