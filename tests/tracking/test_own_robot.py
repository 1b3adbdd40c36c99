"""Trackers of robots that are not bundled, without a setting that names their bodies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.sim.scene import Scene

from ..robots.bodies import MOTOR, humanoid, quadruped

GAINS = """[[gains]]
joints = ["l_hip", "r_hip"]
stiffness = 60
damping = 3

[[gains]]
joints = []
stiffness = 40
damping = 2
"""
TINY = ["--samples", "8", "--environments", "2", "--episodes", "1", "--threads", "1"]
SMALL = ["agent.steps=2", "agent.minibatches=1", "agent.hidden=[8]", "environment.episode_seconds=0.1"]


def standing(robot: Robot, folder: Path) -> Path:
    """A second of standing."""
    poses = np.tile(robot.default_pose, (31, 1))
    root = np.tile([0.0, 0.0, 0.5], (31, 1))
    Motion.from_arrays(robot, poses, fps=30, root_pos=root, name="standing").write(folder / "standing.npz")
    return folder / "standing.npz"


@pytest.mark.parametrize("make", [quadruped, humanoid])
@pytest.mark.parametrize("options", [['observation="world"'], []], ids=["world", "local"])
def test_a_robot_with_servos_is_trained_by_its_path_alone(make: object, options: list[str], tmp_path: Path) -> None:
    robot: Robot = make(tmp_path)  # type: ignore[operator]
    command = [
        "track",
        "train",
        str(standing(robot, tmp_path)),
        "-o",
        str(tmp_path / "run"),
        "--robot",
        str(robot.path),
    ]
    reward = ["--reward", "deepmimic"] if options else []
    more = [f"environment.{option}" for option in options]
    assert main([*command, *TINY, *reward, "--set", *SMALL, *more]) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["samples"] == 8 and result["final"]["random"]["success"] > 0.5
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["environment"]["key_bodies"] is None


def test_motors_with_stated_gains_are_servos_of_the_same_torque(tmp_path: Path) -> None:
    """Gear 2 times a command of 15 at most: 30 N m. As a servo: force = k (target - angle) - d speed."""
    plain = humanoid(tmp_path, MOTOR)
    before = plain.sha256
    assert (plain.stiffness == 0).all() and (plain.effort == 30.0).all()
    with pytest.raises(InputError, match=r"cannot be told where to go.*one of another kind.*own.roles.toml"):
        Scene(plain)
    (tmp_path / "own.roles.toml").write_text(GAINS)
    robot = Robot.load(plain.path)
    hips = [name in ("l_hip", "r_hip") for name in robot.joint_names]
    assert robot.stiffness.tolist() == [60.0 if hip else 40.0 for hip in hips]
    assert robot.damping.tolist() == [3.0 if hip else 2.0 for hip in hips]
    model = Scene(robot).model
    assert model.actuator_gainprm[:, 0].tolist() == robot.stiffness.tolist()
    assert model.actuator_biasprm[:, 1].tolist() == (-robot.stiffness).tolist()
    assert model.actuator_forcerange.tolist() == [[-30.0, 30.0]] * len(hips)
    assert robot.sha256 != before


def test_gains_of_servos_are_the_model_s(tmp_path: Path) -> None:
    robot = humanoid(tmp_path)
    (tmp_path / "own.roles.toml").write_text(GAINS)
    assert set(Robot.load(robot.path).stiffness.tolist()) == {40.0}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('joints = ["l_hop"]\nstiffness = 1\ndamping = 1', "unknown joint in gains: 'l_hop'. Did you mean 'l_hip'"),
        ("joints = []\nstiffness = 0\ndamping = 1", "a stiffness above 0"),
        ("joints = []\nstiffness = 1\ndamping = -1", "a damping of 0 or more"),
        ("joints = []\nstiffness = nan\ndamping = 1", "a stiffness above 0"),
        ("joints = []\nstiffness = 1", "damping"),
    ],
)
def test_impossible_gains_are_refused(tmp_path: Path, text: str, told: str) -> None:
    robot = humanoid(tmp_path, MOTOR)
    (tmp_path / "own.roles.toml").write_text(f"[[gains]]\n{text}\n")
    with pytest.raises(InputError) as caught:
        Robot.load(robot.path)
    assert told in str(caught.value) and "own.roles.toml" in str(caught.value) and caught.value.code == "bad_robot"
