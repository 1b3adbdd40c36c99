"""Each fault by itself: a clean walk passes, and its smallest corruption raises exactly one code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import CheckConfig, FileReport, Severity, check_motion, check_paths, find_motion_files
from pfmhr.motion.reading import ReadOptions
from pfmhr.robots import Robot

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def column(motion: Motion, joint: str) -> int:
    return motion.joint_names.index(f"{joint}_joint")


def add(motion: Motion, joint: str, amount: float, frames: slice = slice(None)) -> Motion:
    """The motion with ``amount`` rad added to one joint in some frames."""
    poses = motion.joint_pos.copy()
    poses[frames, column(motion, joint)] += amount
    return replace(motion, joint_pos=poses)


def with_value(motion: Motion, part: str, where: Any, value: float) -> Motion:
    values = getattr(motion, part).copy()
    values[where] = value
    return replace(motion, **{part: values})


def take(motion: Motion, index: Any) -> Motion:
    """Frames picked by number, any of them more than once."""
    return replace(
        motion, joint_pos=motion.joint_pos[index], root_pos=motion.root_pos[index], root_quat=motion.root_quat[index]
    )


def breadth_first(motion: Motion, robot: Robot) -> Motion:
    """What a file in Isaac's order looks like to a reader that does not know."""
    return replace(motion, joint_pos=motion.joint_pos[:, robot.joint_indices(robot.breadth_first_names)])


def turned(motion: Motion, heading: float) -> Motion:
    """Facing one way throughout."""
    quaternion = np.tile([np.cos(heading / 2), 0, 0, np.sin(heading / 2)], (motion.num_frames, 1))
    return replace(motion, root_quat=quaternion)


def xyzw(motion: Motion) -> Motion:
    return replace(motion, root_quat=motion.root_quat[:, [1, 2, 3, 0]])


def shifted_root(motion: Motion, metres: float) -> Motion:
    return replace(motion, root_pos=motion.root_pos + (np.arange(90) >= 41)[:, None] * [metres, 0, 0])


Corrupt = Callable[[Motion, Robot], Motion]
FAULTS: dict[str, tuple[Corrupt, str, Severity, dict[str, Any]]] = {
    # The ankle's limit is 0.2618, its angle in the walk 0: 0.3 is 0.0382 beyond.
    "joint_limits": (
        lambda walk, g1: add(walk, "left_ankle_roll", 0.3), "joint_limits", ERROR,
        {"frames": 90, "worst_joint": "left_ankle_roll_joint", "worst_excess": 0.0382},
    ),
    "below_the_limits_in_one_frame": (
        lambda walk, g1: add(walk, "waist_pitch", -0.6, slice(40, 41)), "joint_limits", ERROR,
        {"frames": 1, "worst_joint": "waist_pitch_joint", "worst_excess": 0.08},
    ),
    "degrees": (lambda walk, g1: replace(walk, joint_pos=np.rad2deg(walk.joint_pos)), "degrees", ERROR, {}),
    "joint_order": (
        breadth_first, "joint_order", ERROR, {"fits": "breadth-first (Isaac Gym, Isaac Lab)"},
    ),
    "nan_joint": (
        lambda walk, g1: with_value(walk, "joint_pos", (slice(7, 9), 3), np.nan), "not_finite", ERROR,
        {"frames": 2, "first_frame": 7},
    ),
    "infinite_joint": (lambda walk, g1: with_value(walk, "joint_pos", (89, 28), -np.inf), "not_finite", ERROR, {}),
    "nan_root": (lambda walk, g1: with_value(walk, "root_pos", (0, 2), np.nan), "not_finite", ERROR, {"frames": 1}),
    "nan_turn": (lambda walk, g1: with_value(walk, "root_quat", (5, 0), np.nan), "not_finite", ERROR, {"frames": 1}),
    "too_short": (lambda walk, g1: walk.frames(0, 1), "too_short", ERROR, {}),
    "no_frames": (lambda walk, g1: walk.frames(0, 0), "too_short", ERROR, {}),
    # 2.2 rad within 1/30 s is 66 rad/s, there and back.
    "jump": (
        lambda walk, g1: add(walk, "left_shoulder_pitch", -2.2, slice(41, 42)), "jump", ERROR,
        {"count": 2, "joint": "left_shoulder_pitch_joint"},
    ),
    # 1.6 rad within 1/30 s is 48 rad/s: faster than a motor, slower than a jump.
    "fast": (
        lambda walk, g1: add(walk, "left_shoulder_pitch", -1.6, slice(41, 42)), "fast", WARNING,
        {"count": 2, "joint": "left_shoulder_pitch_joint"},
    ),
    "frame_rate": (lambda walk, g1: replace(walk, fps=360.0), "frame_rate", ERROR, {"fps": 360.0}),
    "slow_rate": (lambda walk, g1: replace(walk, fps=0.01), "frame_rate", WARNING, {"seconds": 100.0}),
    "first_frame": (lambda walk, g1: add(walk, "left_elbow", -0.9, slice(0, 1)), "first_frame", WARNING, {}),
    # 16 extra copies of frame 40 are 16 still changes: 0.53 s.
    "frozen": (
        lambda walk, g1: take(walk, [*range(41), *[40] * 16, *range(41, 90)]), "frozen", WARNING,
        {"seconds": 0.53, "frame": 40},
    ),
    "repeated_frames": (
        lambda walk, g1: take(walk, np.repeat(np.arange(45), 2)), "repeated_frames", WARNING, {"repeated": 45},
    ),
    "quaternion_norm_off": (
        lambda walk, g1: replace(walk, root_quat=walk.root_quat * 1.05), "quaternion_norm", WARNING, {"error": 0.05},
    ),
    "quaternion_norm_wrong": (
        lambda walk, g1: replace(walk, root_quat=walk.root_quat * 2), "quaternion_norm", ERROR, {"error": 1.0},
    ),
    "quaternion_zero": (
        lambda walk, g1: with_value(walk, "root_quat", 3, 0.0), "quaternion_norm", ERROR, {"error": 1.0},
    ),
    "quaternion_order_facing_forward": (lambda walk, g1: xyzw(turned(walk, 0)), "quaternion_order", WARNING, {}),
    "quaternion_order_facing_left": (
        lambda walk, g1: xyzw(turned(walk, np.pi / 2)), "quaternion_order", ERROR,
        {"upright": 0.0, "upright_other": 1.0},
    ),
    "centimetres": (lambda walk, g1: replace(walk, root_pos=100 * walk.root_pos), "centimetres", ERROR, {}),
    "root_jump": (lambda walk, g1: shifted_root(walk, 0.5), "root_jump", ERROR, {"frame": 40}),
}  # fmt: skip


@pytest.mark.parametrize("heading", [0.0, 0.3, np.pi / 2, 3.0, -2.0])
@pytest.mark.parametrize("fps", [30, 50, 120])
def test_a_clean_walk_has_no_fault(g1: Robot, make_walk: Any, fps: float, heading: float) -> None:
    assert check_motion(make_walk(frames=int(3 * fps), fps=fps, heading=heading), g1) == ()


@pytest.mark.parametrize(("corrupt", "code", "severity", "detail"), FAULTS.values(), ids=FAULTS.keys())
def test_one_corruption_raises_exactly_its_fault(
    g1: Robot, walk: Motion, corrupt: Corrupt, code: str, severity: Severity, detail: dict[str, Any]
) -> None:
    faults = check_motion(corrupt(walk, g1), g1)
    assert [(fault.code, fault.severity) for fault in faults] == [(code, severity)]
    assert {key: faults[0].detail[key] for key in detail} == detail
    assert faults[0].message


@pytest.mark.parametrize(
    "almost",
    [
        lambda walk: add(walk, "left_ankle_roll", 0.2618 + 0.019),  # inside the tolerance of 0.02
        lambda walk: add(walk, "left_shoulder_pitch", -1.2, slice(41, 42)),  # 36 rad/s, plus the walk's own
        lambda walk: take(walk, [*range(41), *[40] * 14, *range(41, 90)]),  # still for 0.47 s
        lambda walk: replace(walk, root_quat=walk.root_quat * 1.009),
        lambda walk: shifted_root(walk, 0.45),  # 13.5 m/s and the walk's 0.8
        lambda walk: add(walk, "left_elbow", -0.2, slice(0, 1)),
        lambda walk: replace(walk, fps=240.0),
        lambda walk: walk.frames(0, 2),
    ],
    ids=["limits", "speed", "still", "norm", "root", "first_frame", "frame_rate", "two_frames"],
)
def test_just_below_a_threshold_there_is_no_fault(g1: Robot, walk: Motion, almost: Callable[[Motion], Motion]) -> None:
    assert check_motion(almost(walk), g1) == ()


def test_thresholds_can_be_set(g1: Robot, walk: Motion) -> None:
    strict = CheckConfig(fast_speed=1.0, jump_speed=2.0)
    assert [fault.code for fault in check_motion(walk, g1, strict)] == ["jump"]
    lax = CheckConfig(limit_tolerance=0.1)
    assert check_motion(add(walk, "left_ankle_roll", 0.3), g1, lax) == ()


def test_faults_of_different_kinds_are_all_reported(g1: Robot, walk: Motion) -> None:
    spoilt = shifted_root(add(add(walk, "left_ankle_roll", 0.3), "left_shoulder_pitch", -2.2, slice(41, 42)), 0.5)
    assert {fault.code for fault in check_motion(spoilt, g1)} == {"joint_limits", "root_jump", "jump"}


@given(
    stride=st.floats(0.05, 0.6),
    heading=st.floats(-3, 3),
    frames=st.integers(30, 200),
    fps=st.sampled_from([30, 50, 60, 120]),
    noise=st.floats(0, 0.02),
)
def test_a_walk_in_breadth_first_order_is_always_noticed(
    g1: Robot, make_walk: Any, stride: float, heading: float, frames: int, fps: float, noise: float
) -> None:
    motion = make_walk(frames=frames, fps=fps, stride=stride, heading=heading)
    drift = np.random.default_rng(frames).normal(0, noise, 29)
    motion = replace(motion, joint_pos=motion.joint_pos + drift)
    assert check_motion(motion, g1) == ()
    scrambled = check_motion(breadth_first(motion, g1), g1)
    assert [fault.code for fault in scrambled] == ["joint_order"]
    assert scrambled[0].detail["fits"].startswith("breadth-first")


def test_right_before_left_is_noticed_where_the_sides_differ(g1: Robot, walk: Motion) -> None:
    # Arms and legs spread sideways. Exchanged, shoulders are 0.51 rad beyond their limits and hips 0.18, each twice.
    spread = walk
    for joint, angle in (("shoulder_roll", 1.9), ("hip_roll", 0.7)):
        spread = add(add(spread, f"left_{joint}", angle), f"right_{joint}", -angle)
    assert check_motion(spread, g1) == ()
    exchanged = replace(spread, joint_pos=spread.joint_pos[:, g1.mirror[0]])
    faults = check_motion(exchanged, g1)
    assert [fault.code for fault in faults] == ["joint_order"]
    assert faults[0].detail["fits"] == "right side before left"


# Files and folders


@pytest.fixture
def check(g1: Robot) -> Callable[..., list[FileReport]]:
    def run(*paths: Path, **options: Any) -> list[FileReport]:
        return check_paths(paths, ReadOptions(g1, **options))

    return run


def mirrored(motion: Motion, robot: Robot) -> Motion:
    index, sign = robot.mirror
    return replace(motion, joint_pos=motion.joint_pos[:, index] * sign)


def test_the_same_poses_twice_are_a_duplicate(
    walk: Motion, make_walk: Any, tmp_path: Path, check: Callable[..., list[FileReport]]
) -> None:
    walk.write(tmp_path / "a.npz")
    make_walk(stride=0.3).write(tmp_path / "b.npz")
    walk.write(tmp_path / "c.npz")
    reports = check(tmp_path)
    assert [[fault.code for fault in report.faults] for report in reports] == [[], [], ["duplicate"]]
    assert reports[2].faults[0].detail["original"] == str(tmp_path / "a.npz")
    assert not reports[2].ok


@pytest.mark.parametrize("suffix", ["npz", "csv"])
def test_a_mirror_image_is_a_warning(
    g1: Robot, walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]], suffix: str
) -> None:
    walk.write(tmp_path / f"a.{suffix}")
    mirrored(walk, g1).write(tmp_path / f"b.{suffix}")
    reports = check(tmp_path, fps=30)
    assert [[fault.code for fault in report.faults] for report in reports] == [[], ["mirrored"]]
    assert reports[1].faults[0].detail["original"] == str(tmp_path / f"a.{suffix}")
    assert reports[1].ok


def test_a_symmetric_clip_is_not_its_own_mirror_image(
    g1: Robot, tmp_path: Path, check: Callable[..., list[FileReport]]
) -> None:
    for number in range(2):
        bow = np.tile(g1.default_pose, (30, 1))
        bow[:, 14] += 0.3 * np.sin(np.arange(30) / 5) + 1e-4 * number  # waist pitch: in the plane of symmetry
        Motion.from_arrays(g1, bow, 30).write(tmp_path / f"{number}.npz")
    assert [report.faults for report in check(tmp_path)] == [(), ()]


@pytest.mark.parametrize("frame", [0, 45, 89])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_files_with_nan_anywhere_are_reported(
    walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]], frame: int, value: float
) -> None:
    with_value(walk, "joint_pos", (frame, 0), value).write(tmp_path / "a.csv")
    (report,) = check(tmp_path, fps=30)
    assert [fault.code for fault in report.faults] == ["not_finite"]


def test_files_with_absurd_numbers_are_reported(
    walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]]
) -> None:
    with_value(walk, "joint_pos", (0, slice(0, 4)), 3e38).write(tmp_path / "a.npz")  # their sum is infinite in float32
    (report,) = check(tmp_path)
    assert not report.ok


@pytest.mark.parametrize("frames", [0, 1])
def test_files_without_change_are_reported(
    walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]], frames: int
) -> None:
    walk.frames(0, frames).write(tmp_path / "a.npz")
    (report,) = check(tmp_path)
    assert [fault.code for fault in report.faults] == ["too_short"]


def test_a_csv_in_degrees_is_reported(walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]]) -> None:
    replace(walk, joint_pos=np.rad2deg(walk.joint_pos)).write(tmp_path / "a.csv")
    (report,) = check(tmp_path, fps=30)
    assert [fault.code for fault in report.faults] == ["degrees"]
    assert "radians are needed" in report.faults[0].message


def test_an_unreadable_file_is_a_report_among_others(
    walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]]
) -> None:
    walk.write(tmp_path / "a.npz")
    (tmp_path / "b.csv").write_text("version https://git-lfs.github.com/spec/v1\n")
    reports = check(tmp_path)
    assert [report.ok for report in reports] == [True, False]
    (fault,) = reports[1].faults
    assert fault.code == "lfs_pointer"
    assert str(tmp_path) not in fault.message  # the report names the path already


def test_reports_come_in_the_order_of_the_paths_and_progress_counts(g1: Robot, make_walk: Any, tmp_path: Path) -> None:
    for number in range(12):
        make_walk(frames=10 + number).write(tmp_path / f"{number:02d}.npz")
    seen: list[tuple[int, int]] = []
    reports = check_paths([tmp_path], ReadOptions(g1), progress=lambda done, total: seen.append((done, total)))
    assert [report.frames for report in reports] == list(range(10, 22))
    assert seen == [(done, 12) for done in range(1, 13)]


def test_every_clip_of_a_file_has_a_report(
    make_walk: Any, raw: Any, tmp_path: Path, check: Callable[..., list[FileReport]]
) -> None:
    clips = [make_walk(frames=20, name="one"), make_walk(frames=30, name="two")]
    (tmp_path / "clips.pkl").write_bytes(raw.asap(*clips, replace(clips[0], name="three")))
    reports = check(tmp_path)
    found = [(report.clip, report.frames, report.ok) for report in reports]
    assert found == [("one", 20, True), ("two", 30, True), ("three", 20, False)]
    assert reports[2].faults[0].code == "duplicate"


def test_a_report_as_json(walk: Motion, tmp_path: Path, check: Callable[..., list[FileReport]]) -> None:
    add(walk, "left_ankle_roll", 0.3).write(tmp_path / "a.npz")
    content = check(tmp_path)[0].as_json()
    assert (content["path"], content["clip"], content["frames"]) == (str(tmp_path / "a.npz"), "a", 90)
    assert content["ok"] is False
    assert content["faults"][0]["code"] == "joint_limits"
    assert content["faults"][0]["severity"] == "error"
    assert content["faults"][0]["worst_excess"] == 0.0382


def test_folders_are_searched_for_motion_files_only(tmp_path: Path) -> None:
    names = ["b.csv", "a.NPZ", "deep/c.csv.gz", "deep/er/d.pkl", "e.pickle"]
    others = ["notes.txt", "LICENSE", "seed_metadata_v004.csv", ".hidden/x.csv", "b.csv.tmp"]
    for name in names + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = find_motion_files([tmp_path])
    assert found == sorted(tmp_path / name for name in names)
    assert find_motion_files([tmp_path / "b.csv", tmp_path]) == [
        tmp_path / "b.csv",
        *(f for f in found if f.name != "b.csv"),
    ]
    assert find_motion_files([tmp_path / "notes.txt"]) == [tmp_path / "notes.txt"]  # named: taken at its word


def test_a_missing_path_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder") as caught:
        find_motion_files([tmp_path / "none"])
    assert caught.value.code == "not_found"
    with pytest.raises(InputError, match="no motion files in this folder") as caught:
        find_motion_files([tmp_path])
    assert caught.value.code == "empty_folder"
    assert str(tmp_path) in str(caught.value)
