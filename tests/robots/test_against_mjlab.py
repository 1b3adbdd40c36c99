"""The bundled G1 against mjlab's, made independently from the same publication."""

from __future__ import annotations

import re
from types import ModuleType

import mujoco
import numpy as np
import pytest

from pfmhr.robots import Robot, body_poses


@pytest.fixture(scope="module")
def constants() -> ModuleType:
    return pytest.importorskip("mjlab.asset_zoo.robots.unitree_g1.g1_constants", reason="mjlab is an optional extra")


@pytest.fixture(scope="module")
def theirs(constants: ModuleType) -> mujoco.MjModel:
    return constants.get_spec().compile()


def test_joints_and_bodies_have_the_same_names_in_the_same_order(g1: Robot, theirs: mujoco.MjModel) -> None:
    assert g1.joint_names == tuple(theirs.joint(joint).name for joint in range(1, theirs.njnt))
    assert g1.body_names == tuple(theirs.body(body).name for body in range(1, theirs.nbody))


def test_bodies_are_in_the_same_places_in_100_random_poses(g1: Robot, theirs: mujoco.MjModel) -> None:
    random = np.random.default_rng(7)
    root, turn = random.normal(size=(100, 3)), random.normal(size=(100, 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    poses = random.uniform(g1.lower, g1.upper, size=(100, 29))
    positions, _ = body_poses(g1, root, turn, poses)
    data = mujoco.MjData(theirs)
    for frame in range(100):
        data.qpos[:] = np.concatenate([root[frame], turn[frame], poses[frame]])
        mujoco.mj_kinematics(theirs, data)
        assert np.abs(positions[frame] - data.xpos[1:]).max() < 1e-4


def test_masses_inertias_and_limits_agree(g1: Robot, theirs: mujoco.MjModel) -> None:
    ours = g1.compile()
    assert ours.body_mass == pytest.approx(theirs.body_mass, abs=1e-3)
    assert ours.body_ipos == pytest.approx(theirs.body_ipos, abs=1e-5)
    assert _inertia_tensors(ours) == pytest.approx(_inertia_tensors(theirs), abs=1e-6)
    assert ours.jnt_range[1:] == pytest.approx(theirs.jnt_range[1:], abs=1e-6)


def test_gains_torques_and_armatures_are_those_of_the_actuator_settings(g1: Robot, constants: ModuleType) -> None:
    seen = 0
    for motor in constants.G1_ARTICULATION.actuators:
        expected = (motor.stiffness, motor.damping, motor.effort_limit, motor.armature)
        for column, name in enumerate(g1.joint_names):
            if any(re.fullmatch(pattern, name) for pattern in motor.target_names_expr):
                found = (g1.stiffness[column], g1.damping[column], g1.effort[column], g1.armature[column])
                assert found == pytest.approx(expected, rel=1e-5), name
                seen += 1
    assert seen == 29


def _inertia_tensors(model: mujoco.MjModel) -> np.ndarray:
    """(bodies, 3, 3) in the body frame: principal axes may be named in any order, the tensor may not."""
    tensors = []
    for quaternion, moments in zip(model.body_iquat, model.body_inertia, strict=True):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, quaternion)
        turn = turn.reshape(3, 3)
        tensors.append(turn @ np.diag(moments) @ turn.T)
    return np.array(tensors)
