"""The bundled Unitree G1: names, numbers, stand, order and mirror."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pfmhr.robots import Robot, body_poses

LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
WAIST = ("waist_yaw", "waist_roll", "waist_pitch")
ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")
UNITREE_ORDER = (
    *(f"left_{name}" for name in LEG),
    *(f"right_{name}" for name in LEG),
    *WAIST,
    *(f"left_{name}" for name in ARM),
    *(f"right_{name}" for name in ARM),
)
ISAAC_LAB_ORDER = [
    0,
    6,
    12,
    1,
    7,
    13,
    2,
    8,
    14,
    3,
    9,
    15,
    22,
    4,
    10,
    16,
    23,
    5,
    11,
    17,
    24,
    18,
    25,
    19,
    26,
    20,
    27,
    21,
    28,
]
"""Isaac Lab's order of the same joints, as positions in Unitree's."""

MOTORS = {  # joints: stiffness N·m/rad, damping N·m·s/rad, torque N·m, armature kg·m²
    "hip_pitch hip_yaw waist_yaw": (40.179238, 2.5578898, 88.0, 0.01017752),
    "hip_roll knee": (99.098428, 6.3088019, 139.0, 0.025101925),
    "ankle_pitch ankle_roll waist_roll waist_pitch": (28.501246, 1.8144457, 50.0, 0.00721945),
    "shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll": (14.250623, 0.90722284, 25.0, 0.003609725),
    "wrist_pitch wrist_yaw": (16.778327, 1.0681415, 5.0, 0.00425),
}


@pytest.fixture(scope="module")
def standing(g1: Robot) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = g1.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    return model, data


def test_joints_are_the_29_of_unitree_in_unitree_order(g1: Robot) -> None:
    assert g1.joint_names == tuple(f"{name}_joint" for name in UNITREE_ORDER)
    assert g1.num_joints == 29
    assert g1.floating_base
    assert g1.name == "g1"


@pytest.mark.parametrize(
    ("joint", "lower", "upper"),
    [
        ("left_knee", -0.087267, 2.8798),
        ("right_knee", -0.087267, 2.8798),
        ("left_ankle_roll", -0.2618, 0.2618),
        ("right_ankle_roll", -0.2618, 0.2618),
        ("waist_pitch", -0.52, 0.52),
        ("left_hip_roll", -0.5236, 2.9671),
        ("right_hip_roll", -2.9671, 0.5236),
        ("left_shoulder_roll", -1.5882, 2.2515),
        ("right_shoulder_roll", -2.2515, 1.5882),
    ],
)
def test_joint_limits(g1: Robot, joint: str, lower: float, upper: float) -> None:
    column = g1.joint_indices([f"{joint}_joint"])[0]
    assert g1.lower[column] == pytest.approx(lower, abs=1e-6)
    assert g1.upper[column] == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize(("joints", "motor"), MOTORS.items(), ids=["7520_14", "7520_22", "5020_pair", "5020", "4010"])
def test_gains_torque_and_armature_per_motor(g1: Robot, joints: str, motor: tuple[float, float, float, float]) -> None:
    endings = tuple(f"{joint}_joint" for joint in joints.split())
    columns = [column for column, name in enumerate(g1.joint_names) if name.endswith(endings)]
    for values, expected in zip((g1.stiffness, g1.damping, g1.effort, g1.armature), motor, strict=True):
        assert values[columns] == pytest.approx(expected, rel=1e-6)


def test_every_joint_belongs_to_one_motor_class(g1: Robot) -> None:
    endings = [f"{joint}_joint" for joints in MOTORS for joint in joints.split()]
    for name in g1.joint_names:
        assert sum(name.endswith(ending) for ending in endings) == 1


def test_gains_are_those_of_a_10_hz_response_with_damping_ratio_2(g1: Robot) -> None:
    frequency = 2 * np.pi * 10
    assert g1.stiffness == pytest.approx(g1.armature * frequency**2, rel=1e-5)
    assert g1.damping == pytest.approx(2 * 2 * g1.armature * frequency, rel=1e-5)


def test_mass_is_33_kg(g1: Robot) -> None:
    assert g1.compile().body_mass.sum() == pytest.approx(33.341, abs=1e-3)


def test_the_stand_puts_both_whole_soles_on_the_floor(standing: tuple[mujoco.MjModel, mujoco.MjData]) -> None:
    model, data = standing
    for side in ("left", "right"):
        assert data.site(f"{side}_sole").xpos[2] == pytest.approx(0.0, abs=1e-3)
        foot = model.geom(f"{side}_foot").id
        corners = np.array([[x, y, -1.0] for x in (-1, 1) for y in (-1, 1)]) * model.geom_size[foot]
        heights = (data.geom_xpos[foot] + corners @ data.geom_xmat[foot].reshape(3, 3).T)[:, 2]
        assert heights == pytest.approx(0.0, abs=1e-3)


def test_the_stand_touches_nothing_of_itself(standing: tuple[mujoco.MjModel, mujoco.MjData]) -> None:
    assert standing[1].ncon == 0


def test_the_model_can_touch_itself(g1: Robot) -> None:
    model = g1.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for joint, angle in (("left_hip_roll", -0.5), ("right_hip_roll", 0.5)):  # legs crossed
        data.joint(f"{joint}_joint").qpos = angle
    mujoco.mj_forward(model, data)
    assert data.ncon > 0


def test_the_stand_is_the_default_pose_and_inside_the_limits(g1: Robot) -> None:
    assert g1.default_root_height == pytest.approx(0.7862)
    expected = {"hip_pitch": -0.1, "knee": 0.3, "ankle_pitch": -0.2, "shoulder_pitch": 0.2, "elbow": 1.28}
    for ending, angle in expected.items():
        columns = [column for column, name in enumerate(g1.joint_names) if name.endswith(f"{ending}_joint")]
        assert g1.default_pose[columns] == pytest.approx(angle)
    assert np.all((g1.default_pose > g1.lower) & (g1.default_pose < g1.upper))


def test_breadth_first_order_is_isaac_labs(g1: Robot) -> None:
    assert g1.breadth_first_names == tuple(g1.joint_names[joint] for joint in ISAAC_LAB_ORDER)
    start = ("left_hip_pitch", "right_hip_pitch", "waist_yaw", "left_hip_roll", "right_hip_roll", "waist_roll")
    assert g1.breadth_first_names[:6] == tuple(f"{name}_joint" for name in start)


def test_joint_indices_refuses_an_unknown_name_and_lists_the_known(g1: Robot) -> None:
    with pytest.raises(ValueError, match=r"'tail_joint'.*left_hip_pitch_joint") as caught:
        g1.joint_indices(["left_knee_joint", "tail_joint"])
    assert caught.value.code == "unknown_name"
    assert g1.joint_indices(["right_knee_joint", "left_knee_joint"]) == [9, 3]


def test_mirror_is_an_involution_that_swaps_left_and_right(g1: Robot) -> None:
    index, sign = g1.mirror
    pose = np.arange(29.0)
    assert np.array_equal((pose[index] * sign)[index] * sign, pose)
    for joint, partner in enumerate(index):
        swapped = g1.joint_names[joint].replace("left", "*").replace("right", "left").replace("*", "right")
        assert g1.joint_names[partner] == swapped


@given(seed=st.integers(0, 2**31))
def test_the_mirrored_pose_is_the_mirror_image(g1: Robot, seed: int) -> None:
    random = np.random.default_rng(seed)
    pose = random.uniform(g1.lower, g1.upper)[None]
    position = random.normal(size=(1, 3))
    w, x, y, z = Rotation.random(random_state=seed).as_quat(scalar_first=True)
    index, sign = g1.mirror
    placed, _ = body_poses(g1, position, np.array([[w, x, y, z]]), pose)
    image, _ = body_poses(g1, position * [1, -1, 1], np.array([[w, -x, y, -z]]), pose[:, index] * sign)
    partner = [
        g1.body_names.index(name.replace("left", "*").replace("right", "left").replace("*", "right"))
        for name in g1.body_names
    ]
    # The published link frames themselves are symmetric to 1e-5 m.
    assert np.abs(image[0, partner] - placed[0] * [1, -1, 1]).max() < 1e-4


def test_body_poses_of_an_upright_root_are_shifted_by_the_root(g1: Robot) -> None:
    pose = np.tile(g1.default_pose, (2, 1))
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    positions, quaternions = body_poses(g1, np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]), upright, pose)
    assert positions.shape == (2, 30, 3)
    assert quaternions.shape == (2, 30, 4)
    assert positions[1] - positions[0] == pytest.approx(np.tile([1.0, 2.0, 3.0], (30, 1)), abs=1e-6)
    assert positions[0, g1.body_names.index("left_hip_pitch_link")] == pytest.approx([0, 0.064452, -0.1027], abs=1e-6)
