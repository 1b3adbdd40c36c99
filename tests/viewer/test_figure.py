"""The shapes of a robot: as large as the robot, where MuJoCo says, moved by the right joints."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.robots import Robot
from pfmhr.viewer.figure import Figure, Piece, Placement


@pytest.fixture(scope="module")
def figure(g1: Robot) -> Figure:
    return Figure(g1)


def corners(piece: Piece, placement: Placement) -> np.ndarray:
    """World points ``(n, V, 3)`` of all copies of a piece."""
    turn = Rotation.from_quat(placement[1], scalar_first=True).as_matrix()
    local = piece.scale[:, None] * np.asarray(piece.mesh.vertices)
    return placement[0][:, None] + np.einsum("nij,nvj->nvi", turn, local)


def cloud(figure: Figure, positions: np.ndarray) -> np.ndarray:
    placed = zip(figure.pieces, figure.place(positions), strict=True)
    return np.concatenate([corners(piece, where).reshape(-1, 3) for piece, where in placed])


def test_a_standing_g1_is_as_tall_and_wide_as_a_g1(figure: Figure, g1: Robot) -> None:
    points = cloud(figure, np.r_[0, 0, g1.default_root_height, 1, 0, 0, 0, g1.default_pose])
    assert points[:, 2].min() == pytest.approx(0.0, abs=0.01)
    assert points[:, 2].max() == pytest.approx(1.32, abs=0.01)  # Unitree states 1.32 m
    assert points[:, 1].min() == pytest.approx(-points[:, 1].max(), abs=0.01)
    assert 0.4 < np.ptp(points[:, 1]) < 0.7


def test_a_robot_stands_on_the_floor_whatever_its_pose(figure: Figure, g1: Robot) -> None:
    poses = g1.lower + np.random.default_rng(0).random((5, 29)) * (g1.upper - g1.lower)
    for pose in poses:
        assert cloud(figure, figure.standing(pose))[:, 2].min() == pytest.approx(0.0, abs=1e-9)


def test_only_what_is_made_to_be_seen_is_drawn(figure: Figure, g1: Robot) -> None:
    model = g1.compile()
    drawn = np.unique(np.concatenate([piece.geom for piece in figure.pieces]))
    assert set(drawn) == set(np.flatnonzero(model.geom_group == 1))


def test_every_joint_warms_something_and_the_pelvis_nothing(figure: Figure, g1: Robot) -> None:
    model = g1.compile()
    moved = np.concatenate([piece.moved_by for piece in figure.pieces])
    bodies = model.geom_bodyid[np.concatenate([piece.geom for piece in figure.pieces])]
    assert moved.any(axis=0).all()
    assert not moved[bodies == model.body("pelvis").id].any()
    knee = g1.joint_indices(["left_knee_joint"])[0]
    assert set(bodies[moved[:, knee]]) == {model.body("left_knee_link").id}


def test_a_link_that_is_hardly_seen_lends_its_joint_to_the_next(figure: Figure, g1: Robot) -> None:
    """The ankle's pitch moves a ball of 22 mm; the foot below it shows it, too."""
    model = g1.compile()
    pitch = g1.joint_indices(["left_ankle_pitch_joint"])[0]
    bodies = {
        model.body(int(body)).name
        for piece in figure.pieces
        for body in model.geom_bodyid[piece.geom[piece.moved_by[:, pitch]]]
    }
    assert bodies == {"left_ankle_pitch_link", "left_ankle_roll_link"}


SHAPES = """
<mujoco><compiler angle="radian"/>
<asset><mesh name="tent" vertex="0 0 0  0.4 0 0  0 0.4 0  0 0 0.4"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><geom type="box" size="9 9 9"/>
<body name="trunk" pos="0 0 1">{free}<geom type="capsule" size="0.1 0.3" rgba="1 0 0 1"/>
  <body name="arm" pos="0 0.5 0"><joint name="arm" axis="1 0 0"/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="tip" pos="0 0 0.5"><geom type="mesh" mesh="tent"/></body></body>
  <body name="leg" pos="0 -0.5 0"><joint name="leg_a" axis="1 0 0"/><joint name="leg_b" axis="0 1 0"/>
    <geom type="cylinder" size="0.05 0.2"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
</body></worldbody></mujoco>"""


@pytest.fixture(params=["<freejoint/>", ""], ids=["floating", "fixed"])
def shapes(request: pytest.FixtureRequest, tmp_path: Path) -> Robot:
    path = tmp_path / "shapes.xml"
    path.write_text(SHAPES.format(free=request.param))
    return Robot.load(path)


def test_every_shape_of_another_robot_has_its_size_and_place(shapes: Robot) -> None:
    figure, model = Figure(shapes), shapes.compile()
    joints = np.array([0.3, -0.2, 0.5])
    positions = np.r_[0.1, 0.2, 1.5, Rotation.from_rotvec([0.1, 0.2, 0.3]).as_quat(scalar_first=True), joints]
    positions = positions if shapes.floating_base else joints
    data = mujoco.MjData(model)
    data.qpos[:] = positions
    mujoco.mj_kinematics(model, data)
    extents = {
        mujoco.mjtGeom.mjGEOM_CAPSULE: [0.1, 0.1, 0.4],
        mujoco.mjtGeom.mjGEOM_BOX: [0.1, 0.2, 0.3],
        mujoco.mjtGeom.mjGEOM_CYLINDER: [0.05, 0.05, 0.2],
        mujoco.mjtGeom.mjGEOM_ELLIPSOID: [0.1, 0.2, 0.3],
    }
    placed = list(zip(figure.pieces, figure.place(positions), strict=True))
    for geom, kind in enumerate(model.geom_type):
        points = np.concatenate([corners(p, where)[p.geom == geom].reshape(-1, 3) for p, where in placed])
        local = (points - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
        if model.geom_bodyid[geom] == 0:
            assert len(points) == 0  # the world is not the robot
        elif kind in extents:
            assert np.abs(local).max(axis=0) == pytest.approx(extents[kind], abs=0.006), kind
        else:
            edges = np.linalg.norm(local[:, None] - local[None], axis=-1)
            assert edges.max() == pytest.approx(0.4 * np.sqrt(2), abs=1e-6)


def test_a_fixed_link_is_moved_with_the_one_above_and_two_hinges_both_count(shapes: Robot) -> None:
    figure, model = Figure(shapes), shapes.compile()
    moved = {}
    for piece in figure.pieces:
        for geom, joints in zip(piece.geom, piece.moved_by, strict=True):
            moved[model.body(int(model.geom_bodyid[geom])).name] = joints.tolist()
    assert moved["tip"] == moved["arm"] == [True, False, False]
    assert moved["leg"] == [False, True, True]
    assert moved["trunk"] == [False, False, False]


def test_colours_are_those_of_the_model(shapes: Robot, figure: Figure) -> None:
    capsule = [piece.colour[piece.geom == 2] for piece in Figure(shapes).pieces]
    assert np.concatenate(capsule).tolist() == [[1.0, 0.0, 0.0]] * 3
    brightest = max(float(piece.colour.max()) for piece in figure.pieces)
    assert brightest == pytest.approx(0.95)  # the lamp's blue
