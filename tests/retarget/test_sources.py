"""MimicKit's humanoid, SMPL and named positions, each against something that computes it another way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.retarget import Body, read_human, retarget
from pfmhr.retarget.humanoid import BONES, JOINT_VALUES, humanoid
from pfmhr.retarget.smpl import smpl


def ball_joint_model() -> mujoco.MjModel:
    """The humanoid with MuJoCo's own spherical joints."""

    def body(index: int) -> str:
        bone = BONES[index]
        joint = {0: "", 1: f'<joint axis="{" ".join(map(str, bone.axis))}"/>', 3: '<joint type="ball"/>'}[bone.size]
        inside = "".join(body(child) for child, other in enumerate(BONES) if other.parent == index)
        joint = "<freejoint/>" if bone.parent < 0 else joint
        place = " ".join(map(str, bone.offset))
        return f'<body name="{bone.name}" pos="{place}">{joint}<geom size="0.01"/>{inside}</body>'

    return mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body(0)}</worldbody></mujoco>")


def test_its_forward_kinematics_is_that_of_spherical_joints_in_mujoco() -> None:
    rng = np.random.default_rng(3)
    root, turn, joints = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.uniform(-2, 2, (5, JOINT_VALUES))
    human = humanoid(root, turn, joints, 30.0)
    model = ball_joint_model()
    data = mujoco.MjData(model)
    for frame in range(5):
        values = [*root[frame], *Rotation.from_rotvec(turn[frame]).as_quat(scalar_first=True)]
        column = 0
        for bone in BONES[1:]:
            part = joints[frame, column : column + bone.size]
            values += [*Rotation.from_rotvec(part).as_quat(scalar_first=True)] if bone.size == 3 else [*part]
            column += bone.size
        data.qpos[:] = values
        mujoco.mj_kinematics(model, data)
        assert np.abs(human.positions[frame] - data.xpos[1:]).max() < 1e-9
        assert human.rotations is not None
        assert np.abs(human.rotations[frame] - data.xmat[1:].reshape(-1, 3, 3)).max() < 1e-9


def test_a_robots_own_mimickit_file_is_no_humanoid(tmp_path: Path, walk: Any) -> None:
    walk.write(tmp_path / "g1.pkl")
    with pytest.raises(InputError, match="not of its humanoid") as caught:
        read_human(tmp_path / "g1.pkl")
    assert caught.value.code == "bad_width" and "g1.pkl" in str(caught.value)


def test_smpl_at_zero_stands_in_a_t_pose_and_turns_are_composed_along_the_chain() -> None:
    poses = np.zeros((2, 72))
    poses[1, 3 * 1 : 3 * 1 + 3] = [-0.5, 0.0, 0.0]  # left hip
    poses[1, 3 * 4 : 3 * 4 + 3] = [0.9, 0.0, 0.0]  # left knee
    human = smpl(poses, np.zeros((2, 3)), 30.0)
    assert human.rotations is not None and np.allclose(human.rotations[0], np.eye(3))
    knee = human.rotations[1, human.names.index("left_knee")]
    # About the model's x, its left; ours is y.
    assert np.allclose(knee, Rotation.from_rotvec([0.0, 0.4, 0.0]).as_matrix(), atol=1e-12)
    across = human.positions[0, human.names.index("left_hand" if "left_hand" in human.names else "left_wrist")]
    assert across[1] > 0.5 and abs(across[0]) < 0.1


def test_amass_has_z_up_and_others_y(g1_body: Body) -> None:
    rng = np.random.default_rng(0)
    poses = np.cumsum(0.02 * rng.normal(size=(30, 66)), axis=0)
    poses[:, 3 * 4] += 0.4
    poses[:, 3 * 5] += 0.4
    upright = Rotation.from_euler("x", 90, degrees=True)
    lifted = poses.copy()
    lifted[:, :3] = (upright * Rotation.from_rotvec(poses[:, :3])).as_rotvec()
    place = np.tile([0.0, 0.9, 0.0], (30, 1))
    one = retarget(smpl(poses, place, 30.0), g1_body).motion
    other = retarget(smpl(lifted, upright.apply(place), 30.0), g1_body).motion
    assert np.abs(one.joint_pos - other.joint_pos).max() < 1e-4


def test_files_of_smpl_and_of_positions(tmp_path: Path, g1_body: Body, bvh_text: Callable[..., str]) -> None:
    (tmp_path / "walk.bvh").write_text(bvh_text())
    source = read_human(tmp_path / "walk.bvh")
    human = source.human
    np.savez(tmp_path / "points.npz", positions=human.positions, names=np.array(human.names), fps=30.0)
    np.savez(tmp_path / "amass.npz", poses=np.zeros((3, 156)), trans=np.zeros((3, 3)), mocap_framerate=60.0)
    np.savez(tmp_path / "rateless.npz", poses=np.zeros((3, 156)), trans=np.zeros((3, 3)))
    np.savez(tmp_path / "other.npz", something=np.zeros(3))
    points = read_human(tmp_path / "points.npz")
    assert points.human.rotations is None and points.skeleton == source.skeleton
    assert np.allclose(points.human.positions, human.positions)
    assert read_human(tmp_path / "amass.npz").human.fps == 60.0
    assert read_human(tmp_path / "rateless.npz", source_fps=25.0).human.fps == 25.0
    for name, code in (("rateless.npz", "no_fps"), ("other.npz", "unknown_format")):
        with pytest.raises(InputError) as caught:
            read_human(tmp_path / name)
        assert caught.value.code == code and name in str(caught.value)
