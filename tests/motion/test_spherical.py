"""MimicKit's bodies with three hinges are spherical joints: their numbers are a rotation vector."""

from __future__ import annotations

import pickle
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot, body_poses

HINGES = {"xyz": ("1 0 0", "0 1 0", "0 0 1"), "zxy": ("0 0 1", "1 0 0", "0 1 0"), "yxz": ("0 1 0", "-1 0 0", "0 0 1"),
          "xyx": ("1 0 0", "0 1 0", "1 0 0")}  # fmt: skip


def robot_with(hinges: tuple[str, ...], folder: Path) -> Robot:
    """A root, a body that hangs on these hinges, and one on a single hinge below it."""
    joints = "".join(f'<joint name="j{number}" axis="{axis}"/>' for number, axis in enumerate(hinges))
    below = '<body name="below" pos="0 0 -.4"><joint name="knee" axis="0 1 0"/><geom size=".1"/></body>'
    body = f'<body name="limb" pos=".1 .2 .3">{joints}<geom size=".1"/>{below}</body>'
    path = folder / "robot.xml"
    path.write_text(f'<mujoco><worldbody><body><freejoint/><geom size=".1"/>{body}</body></worldbody></mujoco>')
    return Robot.load(path)


def ball_positions(values: np.ndarray) -> np.ndarray:
    """Where the last body is ``(T, 3)`` if MuJoCo itself has a spherical joint."""
    below = '<body pos="0 0 -.4"><joint axis="0 1 0"/><geom size=".1"/></body>'
    body = f'<body pos=".1 .2 .3"><joint type="ball"/><geom size=".1"/>{below}</body>'
    xml = f'<mujoco><worldbody><body><freejoint/><geom size=".1"/>{body}</body></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    out = []
    for row in values:
        data.qpos[7:11] = Rotation.from_rotvec(row[:3]).as_quat(scalar_first=True)
        data.qpos[11] = row[3]
        mujoco.mj_kinematics(model, data)
        out.append([*data.xpos[3], *data.xmat[3]])
    return np.array(out)


def mimickit_file(values: np.ndarray, path: Path) -> Path:
    frames = np.concatenate([np.zeros((len(values), 6)), values], axis=1)
    path.write_bytes(pickle.dumps({"loop_mode": 0, "fps": 30, "frames": frames.tolist()}))
    return path


@pytest.fixture
def values() -> np.ndarray:
    """Four numbers of 40 frames that wander through all orientations."""
    return np.cumsum(np.random.default_rng(1).normal(0.0, 0.25, (40, 4)), axis=0)


@pytest.mark.parametrize("order", HINGES)
def test_hinges_put_bodies_where_a_spherical_joint_does(order: str, values: np.ndarray, tmp_path: Path) -> None:
    robot = robot_with(HINGES[order], tmp_path)
    motion = Motion.read(mimickit_file(values, tmp_path / "clip.pkl"), robot)
    places, turns = body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)
    wanted = ball_positions(values)
    assert np.abs(places[:, 2] - wanted[:, :3]).max() < 1e-5
    matrices = Rotation.from_quat(turns[:, 2], scalar_first=True).as_matrix().reshape(-1, 9)
    assert np.abs(matrices - wanted[:, 3:]).max() < 1e-5
    # What was done before, and is not right: the numbers as angles.
    raw = motion.joint_pos.copy()
    raw[:, :4] = values
    wrong, _ = body_poses(robot, motion.root_pos, motion.root_quat, raw)
    assert np.abs(wrong[:, 2] - wanted[:, :3]).max() > 0.1


@pytest.mark.parametrize("order", HINGES)
def test_what_is_written_is_read_again(order: str, values: np.ndarray, tmp_path: Path) -> None:
    robot = robot_with(HINGES[order], tmp_path)
    first = Motion.read(mimickit_file(values, tmp_path / "clip.pkl"), robot)
    first.write(tmp_path / "again.pkl", robot)
    stored = np.array(pickle.loads((tmp_path / "again.pkl").read_bytes())["frames"])[:, 6:]
    turns = Rotation.from_rotvec(stored[:, :3]) * Rotation.from_rotvec(values[:, :3]).inv()
    assert turns.magnitude().max() < 1e-5 and np.abs(stored[:, 3] - values[:, 3]).max() < 1e-6
    again = Motion.read(tmp_path / "again.pkl", robot)
    assert np.abs(again.joint_pos - first.joint_pos).max() < 1e-4


def test_angles_go_on_from_frame_to_frame_and_do_not_leap(tmp_path: Path) -> None:
    robot = robot_with(HINGES["xyz"], tmp_path)
    turn = np.linspace(0.0, 2.9, 60)  # past a quarter turn of the second hinge, where plain angles leap by half a turn
    values = np.stack([0.0 * turn, turn, 0.0 * turn, 0.0 * turn], axis=1)
    motion = Motion.read(mimickit_file(values, tmp_path / "clip.pkl"), robot)
    assert np.abs(motion.joint_pos - values).max() < 1e-5


def test_frames_without_numbers_stay_without(values: np.ndarray, tmp_path: Path) -> None:
    values[7, 1] = np.nan
    robot = robot_with(HINGES["xyz"], tmp_path)
    motion = Motion.read(mimickit_file(values, tmp_path / "clip.pkl"), robot)
    assert np.isnan(motion.joint_pos[7]).any() and np.isfinite(np.delete(motion.joint_pos, 7, axis=0)).all()


def test_hinges_that_cannot_hold_it_are_refused(values: np.ndarray, tmp_path: Path) -> None:
    robot = robot_with(("1 0 0", "0.7 0.7 0", "0 0 1"), tmp_path)
    with pytest.raises(InputError, match="cannot hold a spherical joint") as caught:
        Motion.read(mimickit_file(values, tmp_path / "clip.pkl"), robot)
    assert caught.value.code == "bad_robot"


def test_other_formats_keep_their_angles(values: np.ndarray, tmp_path: Path) -> None:
    robot = robot_with(HINGES["xyz"], tmp_path)
    Motion.from_arrays(robot, values, 30.0).write(tmp_path / "clip.npz")
    assert np.allclose(Motion.read(tmp_path / "clip.npz", robot).joint_pos, values, atol=1e-6)


def test_a_robot_of_single_hinges_is_read_as_before(g1: Robot, walk: Motion, tmp_path: Path) -> None:
    assert g1.three_hinges == ()
    walk.write(tmp_path / "walk.pkl")
    assert np.allclose(Motion.read(tmp_path / "walk.pkl", g1).joint_pos, walk.joint_pos, atol=1e-6)
