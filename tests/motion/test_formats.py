"""Every motion file format: what is written is read again, and raw files of other tools mean what they say."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot

Reader = Callable[..., list[Motion]]
WITHOUT_WRISTS = [*range(19), *range(22, 26)]


@st.composite
def motions(draw: st.DrawFn, min_frames: int = 1) -> dict[str, Any]:
    """Joint angles, root and frame rate of any motion, as keywords of ``Motion.from_arrays``."""
    frames = draw(st.integers(min_frames, 5))
    angles = st.floats(-3, 3, width=32)
    seed = draw(st.integers(0, 2**31))
    return {
        "joint_pos": draw(arrays(np.float32, (frames, 29), elements=angles, fill=angles)),
        "root_pos": draw(arrays(np.float32, (frames, 3), elements=st.floats(-9, 9, width=32))),
        "root_quat": Rotation.random(frames, random_state=seed).as_quat(scalar_first=True),
        "fps": draw(st.sampled_from([24.0, 29.97, 30.0, 50.0, 120.0])),
        "loop": draw(st.booleans()),
    }


def same_turn(first: np.ndarray, second: np.ndarray) -> float:
    """Largest difference of quaternions that may differ in sign."""
    sign = np.sign((first * second).sum(axis=1, keepdims=True))
    return float(np.abs(first - sign * second).max())


def assert_same(read: Motion, motion: Motion, tolerance: float = 0.0) -> None:
    assert read.joint_names == motion.joint_names
    assert read.joint_pos.dtype == np.float32
    assert np.abs(read.joint_pos - motion.joint_pos).max() <= tolerance
    assert np.abs(read.root_pos - motion.root_pos).max() <= tolerance
    assert same_turn(read.root_quat, motion.root_quat) <= max(tolerance, 1e-6)


@pytest.mark.parametrize(
    ("format", "suffix", "tolerance", "keeps_fps", "keeps_loop"),
    [
        ("pfmhr", ".npz", 0.0, True, True),
        ("unitree_csv", ".csv", 1e-6, False, False),  # six decimals
        ("mimickit", ".pkl", 0.0, True, True),
        ("mjlab", ".npz", 0.0, True, False),
    ],
)
@given(given_motion=motions(min_frames=2))
def test_what_is_written_is_read_again(
    g1: Robot,
    scratch: Path,
    format: Any,
    suffix: str,
    tolerance: float,
    keeps_fps: bool,
    keeps_loop: bool,
    given_motion: dict[str, Any],
) -> None:
    motion = Motion.from_arrays(g1, **given_motion)
    path = scratch / f"round_trip{suffix}"
    motion.write(path, g1, format)
    read = Motion.read(path, g1, fps=motion.fps, format=format)
    assert_same(read, motion, tolerance)
    assert read.fps == motion.fps
    assert read.loop == (motion.loop and keeps_loop)
    if keeps_fps:
        assert Motion.read(path, g1).fps == motion.fps


@pytest.mark.parametrize(
    ("suffix", "format"), [(".npz", "pfmhr"), (".csv", "unitree_csv"), (".pkl", "mimickit")], ids=["npz", "csv", "pkl"]
)
def test_the_suffix_chooses_the_format(g1: Robot, walk: Motion, tmp_path: Path, suffix: str, format: Any) -> None:
    walk.write(tmp_path / f"walk{suffix}")
    assert_same(Motion.read(tmp_path / f"walk{suffix}", g1, fps=30, format=format), walk, 1e-6)


@pytest.mark.parametrize("format", ["pfmhr", "unitree_csv", "mimickit", "mjlab"])
def test_a_single_frame_can_be_written_in_every_format(g1: Robot, walk: Motion, tmp_path: Path, format: Any) -> None:
    path = tmp_path / "pose"
    walk.frames(0, 1).write(path, g1, format)
    assert_same(Motion.read(path, g1, fps=30), walk.frames(0, 1), 1e-6)


def test_mjlab_files_hold_velocities_by_central_differences(g1: Robot, tmp_path: Path) -> None:
    # A knee moving at 2 rad/s while the root turns at 3 rad/s about z and moves along x at 1 m/s, at 50 Hz.
    time = np.arange(5) / 50
    poses = np.tile(g1.default_pose, (5, 1))
    poses[:, 3] += 2 * time
    root = np.stack([time, 0 * time, 0 * time + 0.8], axis=1)
    turn = np.stack([np.cos(1.5 * time), 0 * time, 0 * time, np.sin(1.5 * time)], axis=1)
    Motion.from_arrays(g1, poses, 50, root, turn).write(tmp_path / "clip.npz", g1, "mjlab")
    with np.load(tmp_path / "clip.npz") as content:
        assert content["fps"].tolist() == [50]
        assert content["joint_vel"][:, 3] == pytest.approx(2, abs=1e-4)
        assert content["joint_vel"][:, 4] == pytest.approx(0, abs=1e-4)
        assert content["body_lin_vel_w"][:, 0] == pytest.approx(np.tile([1, 0, 0], (5, 1)), abs=1e-4)
        assert content["body_ang_vel_w"][:, 0] == pytest.approx(np.tile([0, 0, 3], (5, 1)), abs=1e-4)
        knee = g1.body_names.index("left_knee_link")
        about_knee = content["body_ang_vel_w"][:, knee] - content["body_ang_vel_w"][:, knee - 1]
        assert np.linalg.norm(about_knee, axis=1) == pytest.approx(2, abs=2e-3)
        assert content["body_pos_w"].shape == (5, 30, 3)
        assert content["body_names"].tolist() == list(g1.body_names)


@given(given_motion=motions())
def test_bones_seed_csv_is_centimetres_degrees_and_extrinsic_xyz(
    g1: Robot, raw: Any, read_content: Reader, given_motion: dict[str, Any]
) -> None:
    motion = Motion.from_arrays(g1, **given_motion)
    (read,) = read_content(raw.bones_seed(motion), "clip.csv")
    assert_same(read, motion, 2e-6)
    assert read.fps == 120


def test_bones_seed_angles_by_hand(g1: Robot, raw: Any, read_content: Reader) -> None:
    # Extrinsic xyz: 90° about x first, then 90° about the world's z. The robot's up axis goes z → −y → +x.
    header = ["Frame", *(f"root_{kind}{axis}" for kind in ("translate", "rotate") for axis in "XYZ")]
    header += [f"{name}_dof" for name in g1.joint_names]
    (read,) = read_content(raw.csv([[7, 10, -20, 80, 90, 0, 90, 45, *[0] * 28]], header), "clip.csv")
    assert read.root_pos[0] == pytest.approx([0.1, -0.2, 0.8])
    assert read.joint_pos[0, :2] == pytest.approx([np.pi / 4, 0])
    up = Rotation.from_quat(read.root_quat[0], scalar_first=True).apply([0, 0, 1])
    assert up == pytest.approx([1, 0, 0], abs=1e-6)


@given(given_motion=motions())
def test_gmr_pickle_of_29_joints(g1: Robot, raw: Any, read_content: Reader, given_motion: dict[str, Any]) -> None:
    motion = Motion.from_arrays(g1, **given_motion)
    (read,) = read_content(raw.gmr(motion), "clip.pkl")
    assert_same(read, motion)
    assert read.fps == motion.fps


@pytest.mark.parametrize("maker", ["gmr", "asap"])
def test_23_joint_files_are_filled_with_the_default_wrists(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, maker: str
) -> None:
    (read,) = read_content(getattr(raw, maker)(walk, columns=WITHOUT_WRISTS), "clip.pkl", fill_missing=True)
    assert np.array_equal(read.joint_pos[:, WITHOUT_WRISTS], walk.joint_pos[:, WITHOUT_WRISTS])
    wrists = [column for column in range(29) if column not in WITHOUT_WRISTS]
    assert all("wrist" in g1.joint_names[column] for column in wrists)
    assert np.array_equal(read.joint_pos[:, wrists], np.tile(g1.default_pose[wrists], (90, 1)))
    assert any("filled 6 missing joints" in note for note in read.notes)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@given(given_motion=motions())
def test_asap_arrays_behind_joblib_wrappers(
    g1: Robot, raw: Any, read_content: Reader, protocol: int, given_motion: dict[str, Any]
) -> None:
    motion = Motion.from_arrays(g1, **{**given_motion, "fps": 30})
    (read,) = read_content(raw.asap(motion, protocol=protocol), "clip.pkl")
    assert_same(read, motion)
    assert read.fps == 30
    assert read.name == "motion"


def test_joblib_itself_writes_what_is_read(g1: Robot, walk: Motion, tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib", reason="joblib is no dependency")
    content = {
        "root_trans_offset": walk.root_pos,
        "dof": np.asfortranarray(walk.joint_pos),
        "root_rot": walk.root_quat[:, [1, 2, 3, 0]],
        "fps": 30,
    }
    for compress in (0, 3, ("zlib", 3)):
        joblib.dump({"clip": content}, tmp_path / "clip.pkl", compress=compress)
        assert_same(Motion.read(tmp_path / "clip.pkl", g1), walk)


def test_a_file_of_several_clips_asks_which(
    g1: Robot, make_walk: Callable[..., Motion], raw: Any, tmp_path: Path
) -> None:
    first, second = make_walk(frames=3, name="first"), make_walk(frames=4, name="second")
    (tmp_path / "clips.pkl").write_bytes(raw.asap(first, second))
    assert Motion.read(tmp_path / "clips.pkl", g1, clip="second").num_frames == 4
    with pytest.raises(InputError, match="first, second") as caught:
        Motion.read(tmp_path / "clips.pkl", g1)
    assert caught.value.code == "several_clips"
    with pytest.raises(InputError, match=r"no clip 'third'.*first, second") as caught:
        Motion.read(tmp_path / "clips.pkl", g1, clip="third")
    assert caught.value.code == "unknown_name"


@pytest.mark.parametrize("extra", [0, 7], ids=["robot", "robot_and_object"])
@pytest.mark.parametrize("maker", ["qpos", "bones_seed"])
@given(order=st.permutations(range(29)))
def test_permuting_joints_and_names_together_changes_nothing(
    walk: Motion, raw: Any, read_content: Reader, maker: str, extra: int, order: list[int]
) -> None:
    motion = walk.frames(10, 13)
    options = {"extra": extra} if maker == "qpos" else {}
    (read,) = read_content(getattr(raw, maker)(motion, order=order, **options))
    assert_same(read, motion, 0.0 if maker == "qpos" else 1e-6)


@given(order=st.permutations(range(29)))
def test_permuting_a_csv_with_its_header_changes_nothing(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, order: list[int]
) -> None:
    motion = walk.frames(10, 13)
    header = ["x", "y", "z", "qx", "qy", "qz", "qw", *(g1.joint_names[joint] for joint in order)]
    table = raw.unitree_table(motion)
    table[:, 7:] = motion.joint_pos[:, order]
    (read,) = read_content(raw.csv(table, header), "clip.csv", fps=30)
    assert_same(read, motion)


@given(order=st.permutations(range(29)))
def test_a_stated_joint_order_undoes_the_permutation(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, order: list[int]
) -> None:
    motion = walk.frames(10, 13)
    names = tuple(g1.joint_names[joint] for joint in order)
    (read,) = read_content(raw.gmr(motion, columns=order), "clip.pkl", joint_order=names)
    assert_same(read, motion)


@pytest.mark.parametrize("spelling", ["{}_joint", "{}", "{}_joint_dof", "{}_dof", "{}_joint_pos"])
def test_common_spellings_of_joint_names(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, spelling: str
) -> None:
    header = ["x", "y", "z", "qx", "qy", "qz", "qw"]
    header += [spelling.format(name.removesuffix("_joint")) for name in g1.joint_names]
    (read,) = read_content(raw.unitree_csv(walk, header=header), "clip.csv", fps=30)
    assert_same(read, walk)


@pytest.mark.parametrize("world", [False, True], ids=["30_bodies", "31_bodies"])
def test_mjlab_files_with_and_without_the_world_body(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader, world: bool
) -> None:
    (read,) = read_content(raw.mjlab(walk, g1, world=world), "clip.npz")
    assert_same(read, walk)
    assert read.fps == 30


def test_a_breadth_first_mjlab_file_is_read_with_the_order_its_error_names(
    g1: Robot, walk: Motion, raw: Any, read_content: Reader
) -> None:
    order = g1.breadth_first_names
    (read,) = read_content(raw.mjlab(walk, g1, order=order), "clip.npz", joint_order=order)
    assert_same(read, walk)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n", "\n\n\n", "\r\n\r\n", "\n \n", " \n", "\n\0"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_line_endings_of_a_csv_do_not_matter(
    walk: Motion, raw: Any, read_content: Reader, newline: str, end: str
) -> None:
    content = raw.unitree_csv(walk, newline=newline, end=False) + end.encode()
    (read,) = read_content(content, "clip.csv", fps=30)
    assert_same(read, walk)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.decode().encode("utf-16"),
        lambda content: gzip.compress(content),
        lambda content: gzip.compress(b"\xef\xbb\xbf" + content),
        lambda content: gzip.compress(content[:500]) + gzip.compress(content[500:]),
        lambda content: gzip.compress(content) + b"\0" * 16,
        lambda content: content.replace(b",", b" , "),
    ],
    ids=["bom", "utf16", "gzip", "gzip_bom", "gzip_members", "gzip_padding", "spaces"],
)
@pytest.mark.parametrize("with_header", [False, True], ids=["bare", "header"])
def test_packings_of_a_csv_do_not_matter(
    g1: Robot,
    walk: Motion,
    raw: Any,
    read_content: Reader,
    with_header: bool,
    wrap: Callable[[bytes], bytes],
) -> None:
    header = ["x", "y", "z", "qx", "qy", "qz", "qw", *g1.joint_names] if with_header else None
    (read,) = read_content(wrap(raw.unitree_csv(walk, header=header)), "clip.csv", fps=30)
    assert_same(read, walk)


def test_pickles_and_npz_may_be_gzipped(walk: Motion, raw: Any, read_content: Reader) -> None:
    for content in (raw.gmr(walk), raw.qpos(walk)):
        (read,) = read_content(gzip.compress(content))
        assert_same(read, walk)


@pytest.mark.parametrize(("loop_mode", "loop"), [(0, False), (1, True)], ids=["clamp", "wrap"])
def test_mimickit_wrap_is_a_loop(raw: Any, read_content: Reader, loop_mode: int, loop: bool) -> None:
    # Half a turn about z as an exponential map is the quaternion (0, 0, 0, 1).
    frame = [1.0, 2.0, 3.0, 0.0, 0.0, np.pi, *[0.1] * 29]
    (read,) = read_content(raw.pickled({"fps": 60, "loop_mode": loop_mode, "frames": [frame, frame]}))
    assert read.loop is loop
    assert read.fps == 60
    assert read.root_pos[1].tolist() == [1, 2, 3]
    assert read.root_quat[0] == pytest.approx([0, 0, 0, 1], abs=1e-6)


def test_the_name_is_the_files_without_its_suffixes(walk: Motion, raw: Any, read_content: Reader) -> None:
    (read,) = read_content(gzip.compress(raw.unitree_csv(walk)), "walk.v2.csv.gz", fps=30)
    assert read.name == "walk.v2"
    assert read.source.endswith("walk.v2.csv.gz")


def test_naming_the_wrong_format_is_refused(walk: Motion, raw: Any, read_content: Reader) -> None:
    with pytest.raises(InputError, match="expected mimickit, got gmr") as caught:
        read_content(raw.gmr(walk), format="mimickit")
    assert caught.value.code == "bad_format"
    with pytest.raises(InputError, match=r"unknown motion format 'bvh'.*unitree_csv") as caught:
        read_content(raw.gmr(walk), format="bvh")
    assert caught.value.code == "unknown_name"
