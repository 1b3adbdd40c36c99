"""npz files that name their joints and bodies are read by name; only what contradicts itself is refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot, body_poses

Reader = Callable[..., list[Motion]]
TRACKED = [0, 2, 4, 6, 8, 10, 12, 15, 16, 19, 22, 23, 26, 29]
"""The 14 bodies that BeyondMimic tracks, by number."""


def assert_same(read: Motion, motion: Motion) -> None:
    assert read.joint_names == motion.joint_names
    assert np.array_equal(read.joint_pos, motion.joint_pos)
    assert np.abs(read.root_pos - motion.root_pos).max() <= 1e-6
    assert np.abs(read.root_quat - motion.root_quat).max() <= 1e-6
    assert read.fps == motion.fps


@pytest.mark.parametrize(
    ("object", "notes"),
    [
        (
            False,
            ("ignored 11 bodies that robot 'g1' does not have: "
            "world, pelvis_sphere, left_hip_yaw_link_sphere, left_ankle_roll_link_sphere and 7 more",),
        ),
        (
            True,
            ("ignored 12 bodies that robot 'g1' does not have: "
            "world, pelvis_sphere, left_hip_yaw_link_sphere, left_ankle_roll_link_sphere and 8 more",
            "ignored the motion of an object"),
        ),
    ],
    ids=["robot", "robot_and_object"],
)  # fmt: skip
def test_a_scene_of_many_bodies_is_read_by_name_and_says_what_was_ignored(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, object: bool, notes: tuple[str, ...]
) -> None:
    content = raw.named(walk, g1, object=object)
    assert content["joint_pos"].shape[1] == 36
    assert content["body_pos_w"].shape[1] == 41 + object  # world, 30 of the robot, 10 fixed links
    (read,) = read_content(raw.npz(**content), "clip.npz")
    assert_same(read, walk)
    assert read.notes == notes


@given(joints=st.permutations(range(29)), bodies=st.permutations(range(42)))
def test_permuting_columns_with_their_names_changes_nothing(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, joints: list[int], bodies: list[int]
) -> None:
    motion = walk.frames(10, 13)
    content = raw.named(motion, g1, object=True)
    content["joint_names"] = [content["joint_names"][joint] for joint in joints]
    content["joint_pos"] = content["joint_pos"][:, [*range(7), *(7 + joint for joint in joints)]]
    content["body_names"] = [content["body_names"][body] for body in bodies]
    for key in ("body_pos_w", "body_quat_w"):
        content[key] = content[key][:, bodies]
    (read,) = read_content(raw.npz(**content), "clip.npz")
    assert_same(read, motion)


@pytest.mark.parametrize("root_columns", [True, False], ids=["36_columns", "29_columns"])
@pytest.mark.parametrize("named", [("joint_names", "body_names"), ("body_names",), ("joint_names",), ()], ids="+".join)
def test_each_kind_of_name_may_be_missing(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, root_columns: bool, named: tuple[str, ...]
) -> None:
    motion = walk.frames(10, 20)
    content = raw.named(motion, g1)
    if not root_columns:
        content |= {"joint_pos": content["joint_pos"][:, 7:], "joint_vel": content["joint_vel"][:, 6:]}
    if "body_names" not in named:  # without names the bodies have to be the robot's
        own = [content["body_names"].index(name) for name in g1.body_names]
        content |= {key: content[key][:, own] for key in ("body_pos_w", "body_quat_w")}
    content = {key: values for key, values in content.items() if key in named or not key.endswith("_names")}
    (read,) = read_content(raw.npz(**content), "clip.npz")
    assert_same(read, motion)


@pytest.mark.parametrize("fps", [30, 30.0, [30], [30.0], np.float32(30), np.array([[30]])], ids=repr)
def test_a_frame_rate_is_a_number_or_an_array_of_one(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, fps: Any
) -> None:
    (read,) = read_content(raw.npz(**raw.named(walk, g1, fps=fps)), "clip.npz")
    assert read.fps == 30


def test_a_frame_rate_that_is_missing_can_be_stated(g1: Robot, walk: Motion, raw: Any, read_content: Reader) -> None:
    content = raw.npz(**raw.named(walk, g1, fps=None))
    with pytest.raises(InputError) as caught:
        read_content(content, "clip.npz")
    assert caught.value.code == "no_fps"
    assert_same(read_content(content, "clip.npz", fps=30.0)[0], walk)


def test_the_root_alone_is_needed_of_the_bodies(g1: Robot, walk: Motion, raw: Any, read_content: Reader) -> None:
    tracked = [g1.body_names[body] for body in TRACKED]
    content = raw.named(walk, g1)
    columns = [content["body_names"].index(name) for name in reversed(tracked)]
    content |= {key: content[key][:, columns] for key in ("body_pos_w", "body_quat_w")}
    (read,) = read_content(raw.npz(**content | {"body_names": tracked[::-1]}), "clip.npz")
    assert_same(read, walk)
    assert read.notes == ()


def test_names_may_be_bytes(g1: Robot, walk: Motion, raw: Any, read_content: Reader) -> None:
    content = raw.named(walk, g1)
    content |= {key: np.array(content[key]).astype("S") for key in ("joint_names", "body_names")}
    assert_same(read_content(raw.npz(**content), "clip.npz")[0], walk)


def test_a_root_held_twice_may_differ_by_rounding_and_by_the_quaternions_sign_and_length(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader
) -> None:
    content = raw.named(walk, g1)
    content["joint_pos"][:, 3:7] *= -1.02
    content["joint_pos"][:, :3] += 1e-3
    assert_same(read_content(raw.npz(**content), "clip.npz")[0], walk)


def test_named_joints_without_wrists_are_filled_when_asked(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader
) -> None:
    content = raw.named(walk, g1)
    kept = [joint for joint, name in enumerate(g1.joint_names) if "wrist" not in name]
    content["joint_names"] = [g1.joint_names[joint] for joint in kept]
    content["joint_pos"] = content["joint_pos"][:, [*range(7), *(7 + joint for joint in kept)]]
    content["joint_vel"] = content["joint_vel"][:, : 6 + len(kept)]
    with pytest.raises(InputError) as caught:
        read_content(raw.npz(**content), "clip.npz")
    assert caught.value.code == "missing_joints"
    (read,) = read_content(raw.npz(**content), "clip.npz", fill_missing=True)
    assert np.array_equal(read.joint_pos[:, kept], walk.joint_pos[:, kept])
    assert any("filled 6 missing joints" in note for note in read.notes)


def test_a_nameless_file_made_in_isaac_is_known_by_its_bodies(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader
) -> None:
    (read,) = read_content(raw.isaac(walk, g1), "clip.npz")
    assert_same(read, walk)
    assert "breadth-first" in read.notes[0]


@given(seed=st.integers(0, 2**31))
def test_any_single_pose_shows_which_order_its_file_has(g1: Robot, raw: Any, read_content: Reader, seed: int) -> None:
    random = np.random.default_rng(seed)
    pose = random.uniform(g1.lower, g1.upper)[None]
    turn = Rotation.from_rotvec(random.uniform(-2, 2, (1, 3))).as_quat(scalar_first=True)
    motion = Motion.from_arrays(g1, pose, 30, random.uniform(-3, 3, (1, 3)), turn)
    assert_same(read_content(raw.isaac(motion, g1), "clip.npz")[0], motion)
    assert_same(read_content(raw.mjlab(motion, g1), "clip.npz")[0], motion)


def test_a_robot_that_stands_still_shows_the_order_too(g1: Robot, raw: Any, read_content: Reader) -> None:
    motion = Motion.from_arrays(g1, np.zeros((3, 29)), 30)
    for content, noted in ((raw.isaac(motion, g1), True), (raw.mjlab(motion, g1), False)):
        (read,) = read_content(content, "clip.npz")
        assert bool(read.notes) == noted


def test_named_bodies_tell_the_order_of_nameless_joints(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader
) -> None:
    order = g1.joint_indices(g1.breadth_first_names)
    content = raw.named(walk, g1, joint_names=None)
    content["joint_pos"] = content["joint_pos"][:, [*range(7), *(7 + joint for joint in order)]]
    (read,) = read_content(raw.npz(**content), "clip.npz")
    assert_same(read, walk)
    assert "breadth-first" in read.notes[-1]


@pytest.mark.parametrize("layout", ["named", "isaac", "mjlab", "world_first"])
@given(seed=st.integers(0, 2**31))
def test_quaternions_with_w_last_are_known_by_the_bodies_beside_the_root(
    g1: Robot, raw: Any, read_content: Reader, layout: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    poses = random.uniform(g1.lower, g1.upper, (4, 29))
    turns = Rotation.from_rotvec(random.uniform(-2, 2, (4, 3))).as_quat(scalar_first=True)
    motion = Motion.from_arrays(g1, poses, 30, random.uniform(-3, 3, (4, 3)), turns)
    made = {
        "named": lambda: raw.npz(**raw.named(motion, g1)),
        "isaac": lambda: raw.isaac(motion, g1),
        "mjlab": lambda: raw.mjlab(motion, g1),
        "world_first": lambda: raw.mjlab(motion, g1, world=True),
    }[layout]()
    assert_same(read_content(made, "clip.npz")[0], motion)
    with np.load(io.BytesIO(made)) as arrays:
        last = raw.npz(**{**arrays, "body_quat_w": arrays["body_quat_w"][..., [1, 2, 3, 0]]})
    (read,) = read_content(last, "clip.npz")
    assert_same(read, motion)
    assert any("body_quat_w as xyzw" in note for note in read.notes)


@pytest.mark.parametrize("heading", np.linspace(-3.1, 3.1, 9))
def test_w_is_found_last_at_any_heading_of_an_upright_robot(
    g1: Robot, make_walk: Callable[..., Motion], raw: Any, read_content: Reader, heading: float
) -> None:
    walk = make_walk(heading=heading)
    content = raw.named(walk, g1)
    content["body_quat_w"] = content["body_quat_w"][..., [1, 2, 3, 0]]
    assert_same(read_content(raw.npz(**content), "clip.npz")[0], walk)
    assert_same(read_content(raw.npz(**raw.named(walk, g1)), "clip.npz")[0], walk)


def test_a_stated_order_is_not_second_guessed(g1: Robot, walk: Motion, raw: Any, read_content: Reader) -> None:
    (read,) = read_content(raw.isaac(walk, g1), "clip.npz", joint_order=g1.joint_names)
    assert np.array_equal(read.joint_pos[:, g1.joint_indices(g1.joint_names)], read.joint_pos)
    assert np.array_equal(read.joint_pos, walk.joint_pos[:, g1.joint_indices(g1.breadth_first_names)])


def _renamed(names: list[str], old: str, new: str) -> list[str]:
    return [new if name == old else name for name in names]


def _turned(content: dict[str, Any]) -> dict[str, Any]:
    xyzw = content["joint_pos"].copy()
    xyzw[:, 3:7] = xyzw[:, [4, 5, 6, 3]]
    return {"joint_pos": xyzw}


Change = Callable[[dict[str, Any]], dict[str, Any]]
CONTRADICTIONS: dict[str, tuple[Change, str, str]] = {
    "joint_twice": (
        lambda c: {"joint_names": _renamed(c["joint_names"], "left_knee_joint", "right_knee_joint")},
        "bad_names", "a joint name occurs twice",
    ),
    "body_twice": (
        lambda c: {"body_names": _renamed(c["body_names"], "world", "pelvis")},
        "bad_names", "a body name occurs twice (got pelvis)",
    ),
    "other_joint": (
        lambda c: {"joint_names": _renamed(c["joint_names"], "left_knee_joint", "tail_joint")},
        "unknown_name", "tail_joint",
    ),
    "no_root": (
        lambda c: {"body_names": _renamed(c["body_names"], "pelvis", "base_link")},
        "bad_names", "the root of robot 'g1' is not among the bodies (expected pelvis, got world, base_link",
    ),
    "other_body_as_root": (
        lambda c: {"body_names": [{"pelvis": "torso_link", "torso_link": "pelvis"}.get(n, n) for n in c["body_names"]]},
        "damaged", "contradict the root in body_pos_w",
    ),
    "root_elsewhere": (
        lambda c: {"joint_pos": c["joint_pos"] + np.eye(36)[0]}, "damaged", "up to 1.000 m and 0.0° apart",
    ),
    "root_xyzw": (_turned, "damaged", "expected position and wxyz quaternion of the root"),
    "35_columns": (
        lambda c: {"joint_pos": c["joint_pos"][:, 1:]}, "bad_width", "expected 29 joints, or 36 columns with the root",
    ),
    "43_columns": (
        lambda c: {"joint_pos": np.pad(c["joint_pos"], [(0, 0), (0, 7)])}, "bad_width", "got 43",
    ),
    "28_joint_names": (lambda c: {"joint_names": c["joint_names"][1:]}, "bad_width", "expected 28 joints"),
    "one_body_name_less": (
        lambda c: {"body_names": c["body_names"][:-1]}, "bad_width", "expected 40, got 41",
    ),
    "one_body_less": (lambda c: {"body_pos_w": c["body_pos_w"][:, 1:]}, "bad_shape", "'body_quat_w'"),
    "one_orientation_less": (lambda c: {"body_quat_w": c["body_quat_w"][:, 1:]}, "bad_shape", "'body_quat_w'"),
    "one_frame_less": (lambda c: {"body_pos_w": c["body_pos_w"][1:]}, "bad_shape", "'body_pos_w'"),
    "velocities_of_28": (
        lambda c: {"joint_vel": c["joint_vel"][:, 1:]}, "bad_shape", "or (90, 35) with the root's velocities",
    ),
    "velocities_of_fewer_frames": (lambda c: {"joint_vel": c["joint_vel"][1:]}, "bad_shape", "got (89, 35)"),
    "numbers_for_names": (lambda c: {"body_names": np.arange(41)}, "damaged", "'body_names' is not text"),
    "objects_for_names": (
        lambda c: {"body_names": np.array(c["body_names"], dtype=object)}, "unsafe_pickle", "dtype=str",
    ),
    "no_names_of_many_bodies": (lambda c: {"body_names": None}, "bad_width", "got 41 without body_names"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "code", "text"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_names_and_numbers_that_contradict_each_other_are_refused(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, change: Change, code: str, text: str
) -> None:
    content = raw.named(walk, g1)
    changed = {key: values for key, values in {**content, **change(content)}.items() if values is not None}
    with pytest.raises(InputError) as caught:
        read_content(raw.npz(**changed), "clip.npz")
    assert caught.value.code == code
    assert text in str(caught.value)


def test_breadth_first_joints_beside_other_bodies_are_refused(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader
) -> None:
    with pytest.raises(InputError) as caught:
        read_content(raw.mjlab(walk, g1, order=g1.breadth_first_names), "clip.npz")
    assert caught.value.code == "joint_order"


@pytest.mark.parametrize("extra", [0, 7], ids=["robot", "robot_and_object"])
def test_omniretarget_has_the_quaternion_before_the_position(
    walk: Motion, raw: Any, read_content: Reader, extra: int
) -> None:
    (read,) = read_content(raw.omniretarget(walk, extra=extra), "clip.npz")
    assert_same(read, walk)
    assert "quaternion, then position" in read.notes[0]
    assert read.notes[1:] == (("ignored 7 columns behind the joints: the pose of an object",) if extra else ())


def test_a_root_that_fits_both_orders_is_mujocos(g1: Robot, raw: Any, read_content: Reader) -> None:
    # At the origin, unturned: xyz wxyz = 0 0 0 1 0 0 0, whose first four numbers are of length one, too.
    motion = Motion.from_arrays(g1, np.zeros((3, 29)), 30, np.zeros((3, 3)))
    (read,) = read_content(raw.qpos(motion), "clip.npz")
    assert_same(read, motion)
    assert read.notes == ()


def test_bodies_are_where_the_read_motion_puts_them(g1: Robot, walk: Motion, raw: Any, read_content: Reader) -> None:
    content = raw.named(walk, g1)
    (read,) = read_content(raw.npz(**content), "clip.npz")
    placed, _ = body_poses(g1, read.root_pos, read.root_quat, read.joint_pos)
    columns = [content["body_names"].index(name) for name in g1.body_names]
    assert np.abs(placed - content["body_pos_w"][:, columns]).max() < 1e-5


def test_check_and_convert_say_what_was_ignored(
    g1: Robot, make_walk: Callable[..., Motion], raw: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        walk = make_walk(heading=0.3 + number, stride=0.4 - 0.1 * number)
        (tmp_path / f"{number}.npz").write_bytes(raw.npz(**raw.named(walk, g1)))
    first = str(tmp_path / "0.npz")
    assert main(["check", str(tmp_path)]) == 0
    assert "2 clip(s): ignored 11 bodies that robot 'g1' does not have" in " ".join(capsys.readouterr().err.split())
    assert main(["check", first, "--json"]) == 0
    assert "ignored 11 bodies" in json.loads(capsys.readouterr().out)["clips"][0]["notes"][0]
    assert main(["convert", first, str(tmp_path / "out.csv")]) == 0
    assert "ignored 11 bodies" in " ".join(capsys.readouterr().err.split())
