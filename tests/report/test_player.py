"""What the player is given: MuJoCo's body poses in whole millimetres, every visible shape, curves that are numbers."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import mujoco
import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.report.player import BLUE, Actor, Line, Track, heading, scene, to_json
from pfmhr.robots import Robot
from pfmhr.robots.drawing import VISUAL_GROUP
from pfmhr.sim import Box


@pytest.fixture(scope="module")
def positions(g1: Robot) -> np.ndarray:
    walk = embedded_motion("walk", g1)
    return np.concatenate([walk.root_pos + np.array([3.0, -2.0, 0.0]), walk.root_quat, walk.joint_pos], axis=1)


@pytest.fixture(scope="module")
def content(g1: Robot, positions: np.ndarray) -> dict[str, Any]:
    return scene(g1, 50.0, [Actor("walk", positions, BLUE, (0.0, 0.6, 0.0), "lost")])


def decoded(content: dict[str, Any], number: int = 0) -> np.ndarray:
    """(T, B, 7): m and unit quaternions, as the page reads them."""
    actor = content["actors"][number]
    whole = np.frombuffer(base64.b64decode(actor["poses"]), dtype="<i2")
    poses = whole.reshape(actor["frames"], content["bodies"], 7).astype(np.float64)
    return np.concatenate([poses[..., :3] / 1000.0, poses[..., 3:] / 32767.0], axis=2)


def test_poses_are_those_of_mujoco(g1: Robot, positions: np.ndarray, content: dict[str, Any]) -> None:
    model = g1.compile()
    data = mujoco.MjData(model)
    poses = decoded(content)
    assert poses.shape == (len(positions), model.nbody - 1, 7)
    for frame in range(0, len(positions), 7):
        data.qpos[:] = positions[frame]
        mujoco.mj_kinematics(model, data)
        apart = data.xpos[1:] - [*positions[0, :2], 0.0] - poses[frame, :, :3]  # the scene begins at the origin
        assert np.abs(apart).max() <= 0.5e-3 + 1e-6
        assert np.abs(data.xquat[1:] - poses[frame, :, 3:]).max() < 1e-4


def test_robots_side_by_side_share_one_origin(g1: Robot, positions: np.ndarray) -> None:
    moved = positions + np.array([4.0] + [0.0] * (positions.shape[1] - 1))
    both = scene(g1, 50.0, [Actor("here", positions), Actor("there", moved)])
    here, there = decoded(both, 0), decoded(both, 1)
    assert here[0, 0, 0] == pytest.approx(-2.0, abs=1e-3) and there[0, 0, 0] == pytest.approx(2.0, abs=1e-3)


def test_what_is_farther_than_the_numbers_go_stays_at_their_edge(g1: Robot, positions: np.ndarray) -> None:
    gone = positions.copy()
    gone[5:, 0] += 1e6
    assert decoded(scene(g1, 50.0, [Actor("gone", gone)]))[6, 0, 0] == 32.0


def test_every_visible_shape_is_there_once(g1: Robot, content: dict[str, Any]) -> None:
    model = g1.compile()
    visible = [geom for geom in range(model.ngeom) if model.geom_group[geom] == VISUAL_GROUP]
    assert len(content["shapes"]) == len(visible) > 29
    for shape, geom in zip(content["shapes"], visible, strict=True):
        assert shape["body"] == model.geom_bodyid[geom] - 1
        assert shape["place"] == pytest.approx(model.geom_pos[geom], abs=1e-4)
    assert {shape["dark"] for shape in content["shapes"]} == {True, False}


@pytest.mark.parametrize(
    ("geom", "form"),
    [
        ('type="box" size=".1 .2 .3"', {"kind": "box", "size": [0.1, 0.2, 0.3]}),
        ('type="sphere" size=".1"', {"kind": "bar", "radius": 0.1, "half": [0, 0, 0]}),
        ('type="capsule" size=".1 .3"', {"kind": "bar", "radius": 0.1, "half": [0, 0, 0.3]}),
        ('type="cylinder" size=".1 .3"', {"kind": "bar", "radius": 0.1, "half": [0, 0, 0.25]}),
        ('type="ellipsoid" size=".1 .4 .2"', {"kind": "bar", "radius": 0.15, "half": [0, 0.25, 0]}),
    ],
)
def test_shapes_keep_their_size(geom: str, form: dict[str, Any], tmp_path: Any) -> None:
    """Of a robot without a group for what is seen: everything but the floor is drawn."""
    path = tmp_path / "toy.xml"
    path.write_text(f"""<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="b"><freejoint/>
        <geom {geom} rgba=".2 .4 .6 1"/><body name="c"><joint name="j" range="-1 1"/><geom size=".1"/></body>
        </body></worldbody></mujoco>""")
    robot = Robot.load(path)
    shapes = scene(robot, 30.0, [Actor("toy", np.array([[0, 0, 1, 1, 0, 0, 0, 0.0]]))])["shapes"]
    assert [shape["body"] for shape in shapes] == [0, 1]
    assert {name: shapes[0][name] for name in form} == form
    assert shapes[0]["rgb"] == [51, 102, 153] and shapes[0]["dark"]


def test_boxes_go_aside_with_each_robot(g1: Robot, positions: np.ndarray) -> None:
    actors = [Actor("left", positions, shift=(0, 0.6, 0)), Actor("right", positions, shift=(0, -0.6, 0))]
    boxes = scene(g1, 50.0, actors, boxes=[Box((0.2, 0.5, 0.15), (4.0, -2.0, 0.15), yaw=math.pi / 2)])["boxes"]
    assert [box["place"] for box in boxes] == [
        pytest.approx([4.0 - positions[0, 0], -2.0 - positions[0, 1] + side, 0.15], abs=1e-6) for side in (0.6, -0.6)
    ]
    assert boxes[0]["turn"] == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5]) and boxes[0]["size"] == [0.2, 0.5, 0.15]


def test_curves_span_their_values_and_hold_no_nan(g1: Robot, positions: np.ndarray) -> None:
    tracks = [
        Track("score", [Line([0.1, 0.2, 0.3], [1.0, math.nan, 3.0]), Line([0.1], [math.inf])]),
        Track("factor", [Line([0.1], [0.9])], (0.6, 1.0)),
        Track("nothing", []),
    ]
    score, factor, nothing = scene(g1, 50.0, [Actor("walk", positions)], tracks)["tracks"]
    assert score["range"] == [1.0, 3.0] and score["lines"][0]["values"] == [1.0, 1.0, 3.0]
    assert factor["range"] == [0.6, 1.0] and nothing["range"] == [0.0, 1.0]
    assert score["lines"][0]["colour"] == "rgb(158, 160, 166)"


def test_the_camera_looks_at_the_front() -> None:
    for yaw in (-2.0, 0.0, 0.7, 3.0):
        assert heading(np.array([math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)])) == pytest.approx(yaw)


def test_no_name_can_end_the_script_it_stands_in() -> None:
    name = "</script><!--<script>"
    text = to_json({"name": name})
    assert "<" not in text and json.loads(text) == {"name": name}
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"value": math.nan})


def changed(positions: np.ndarray, where: Any, value: float) -> np.ndarray:
    copy = positions.copy()
    copy[where] = value
    return copy


@pytest.mark.parametrize(
    ("where", "value", "code", "said"),
    [
        ((4, 9), math.nan, "not_finite", r"robot 'walk': frame 4 is not finite \(got nan in column 9\)"),
        ((slice(3, 6), 0), -math.inf, "not_finite", r"frame 3 is not finite \(got -inf in column 0\)"),
        ((5, slice(3, 7)), 0.0, "quaternion_norm", "no orientation in frame 5"),
    ],
)
def test_a_frame_that_is_no_pose_is_named(
    g1: Robot, positions: np.ndarray, where: Any, value: float, code: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        scene(g1, 50.0, [Actor("fine", positions), Actor("walk", changed(positions, where, value))])
    assert refused.value.code == code


@pytest.mark.parametrize("cut", [np.s_[:, :-1], np.s_[0], np.s_[:0], np.s_[None]])
def test_positions_of_another_shape_are_refused(g1: Robot, positions: np.ndarray, cut: Any) -> None:
    with pytest.raises(InputError, match=r"expected \(T, 36\)") as refused:
        scene(g1, 50.0, [Actor("walk", positions[cut])])
    assert refused.value.code == "bad_shape"


def test_scenes_and_curves_that_cannot_be_drawn_are_refused(g1: Robot, positions: np.ndarray) -> None:
    walk = Actor("walk", positions)
    for rate, actors, tracks, said in (
        (50.0, [], [], "needs a robot"),
        (math.nan, [walk], [], "frame rate"),
        (50.0, [Actor("walk", positions, shift=(0.0, math.nan, 0.0))], [], "moved to nowhere"),
        (50.0, [walk], [Track("score", [Line([0.1, math.nan], [1.0, 2.0])])], "time of point 1"),
        (50.0, [walk], [Track("score", [Line([0.1], [1.0, 2.0])])], "1 times, 2 values"),
        (50.0, [walk], [Track("score", [], (0.0, math.inf))], "no such range"),
    ):
        with pytest.raises(InputError, match=said):
            scene(g1, rate, actors, tracks)
