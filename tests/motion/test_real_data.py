"""Public G1 data: every file is read in full, its known faults are found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import FileReport, check_motion, check_paths, find_motion_files
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.robots import Robot

Check = Callable[[str], list[FileReport]]

JUMPING_G1_MOVES = {
    "B_LongDance",
    *(f"J_Dance{number}" for number in (2, 3, 4, 5, 6, 9, 12, 19, 23)),
    "B_AttackKarate",
    "B_BowKarate",
    *(f"M_Move{number}" for number in (4, 5, 11, 17)),
    "M_ShortMove16",
}


@pytest.fixture(scope="module")
def check(g1: Robot, real_data: Path) -> Check:
    """Reports on a folder of the real data, made once."""
    done: dict[str, list[FileReport]] = {}

    def run(folder: str) -> list[FileReport]:
        if folder not in done:
            done[folder] = check_paths([real_data / folder], ReadOptions(g1, fill_missing=True))
        return done[folder]

    return run


def codes(report: FileReport) -> list[str]:
    return [fault.code for fault in report.faults]


@pytest.mark.parametrize(
    ("folder", "clips", "frames", "rates"),
    [
        ("lafan1_g1", 40, 264_705, {30}),
        ("g1_moves", 55, 101_683, {60}),
        ("mimickit_g1", 7, 1_121, {30, 60, 120}),
        ("jump_trajopt_g1", 5, 980, {50}),
        ("unitree_g1", 1, 1_942, {60}),
        ("asap_g1_23dof", 5, 646, {30}),
        ("gmt_g1_23dof", 2, 469, {30, 33}),
    ],
)
def test_every_clip_is_read_in_full(check: Check, folder: str, clips: int, frames: int, rates: set[int]) -> None:
    reports = check(folder)
    assert len(reports) == clips
    assert sum(report.frames for report in reports) == frames
    assert {round(report.fps) for report in reports} == rates


def test_lafan1_has_no_fault_at_all(check: Check) -> None:
    assert {report.clip: codes(report) for report in check("lafan1_g1") if report.faults} == {}


def test_g1_moves_has_exactly_its_17_clips_that_jump(check: Check) -> None:
    reports = check("g1_moves")
    jumping = {report.clip for report in reports if "jump" in codes(report)}
    assert {"_".join(clip.split("_")[:2]) for clip in jumping} == JUMPING_G1_MOVES
    assert len(jumping) == 17
    assert all(report.errors == () for report in reports if report.clip not in jumping)
    for report in reports:
        for fault in report.errors:
            assert fault.code == "jump"
            assert 60 < fault.detail["speed"] < 104.5


@pytest.mark.parametrize(
    ("clip", "joint", "excess"),
    [
        ("g1_double_kong", "waist_pitch", 1.14),
        ("g1_spinkick", "left_ankle_roll", 0.47),
        ("g1_kick_combo", "waist_pitch", 0.44),
        ("g1_speed_vault", "waist_roll", 0.30),
        ("g1_cartwheel", "ankle", 0.21),
        ("g1_run", "ankle_roll", 0.07),
    ],
)
def test_mimickit_leaves_the_joint_limits(check: Check, clip: str, joint: str, excess: float) -> None:
    (report,) = (report for report in check("mimickit_g1") if report.clip == clip)
    assert codes(report) == ["joint_limits"]
    detail = report.faults[0].detail
    assert joint in detail["worst_joint"]
    assert detail["worst_excess"] == pytest.approx(excess, abs=0.005)
    if clip == "g1_spinkick":
        assert detail["frames"] == report.frames


def test_mimickits_walk_is_clean(check: Check) -> None:
    (report,) = (report for report in check("mimickit_g1") if report.clip == "g1_walk")
    assert report.faults == ()


@pytest.mark.parametrize("folder", ["jump_trajopt_g1", "unitree_g1", "asap_g1_23dof", "gmt_g1_23dof"])
def test_the_other_folders_have_no_errors(check: Check, folder: str) -> None:
    assert all(report.ok for report in check(folder))


def test_gmt_quaternions_are_off_by_a_few_percent(check: Check) -> None:
    for report in check("gmt_g1_23dof"):
        assert codes(report) == ["quaternion_norm"]
        assert 0.01 < report.faults[0].detail["error"] < 0.05


def test_23_joint_files_need_the_callers_word(g1: Robot, real_data: Path) -> None:
    for folder in ("asap_g1_23dof", "gmt_g1_23dof"):
        for path in find_motion_files([real_data / folder]):
            with pytest.raises(InputError) as caught:
                read_motions(path, ReadOptions(g1))
            assert caught.value.code == "missing_joints"
            (motion,) = read_motions(path, ReadOptions(g1, fill_missing=True))
            assert motion.joint_pos.shape[1] == 29


@pytest.mark.parametrize("folder", ["lafan1_g1", "g1_moves"])
def test_every_clip_in_breadth_first_order_is_noticed(g1: Robot, real_data: Path, folder: str) -> None:
    scramble = g1.joint_indices(g1.breadth_first_names)
    for path in find_motion_files([real_data / folder]):
        (motion,) = read_motions(path, ReadOptions(g1))
        faults = check_motion(replace(motion, joint_pos=motion.joint_pos[:, scramble]), g1)
        assert "joint_order" in [fault.code for fault in faults], path.name


@pytest.mark.parametrize("folder", ["lafan1_g1", "g1_moves"])
def test_no_piece_of_two_seconds_looks_out_of_order(g1: Robot, real_data: Path, folder: str) -> None:
    for path in find_motion_files([real_data / folder])[::4]:
        (motion,) = read_motions(path, ReadOptions(g1))
        length = int(2 * motion.fps)
        for start in range(0, motion.num_frames - length, 5 * length):
            faults = check_motion(motion.frames(start, start + length), g1)
            assert "joint_order" not in [fault.code for fault in faults], (path.name, start)


def test_roots_stand_upright_at_the_height_of_a_pelvis(g1: Robot, real_data: Path) -> None:
    for folder in ("lafan1_g1", "mimickit_g1", "jump_trajopt_g1", "asap_g1_23dof", "gmt_g1_23dof"):
        path = next(path for path in find_motion_files([real_data / folder]) if "fall" not in path.name)
        (motion,) = read_motions(path, ReadOptions(g1, fill_missing=True))
        upright = Rotation.from_quat(motion.root_quat, scalar_first=True).apply([0, 0, 1])[:, 2]
        assert np.median(upright) > 0.5, path.name
        assert 0.4 < np.median(motion.root_pos[:, 2]) < 1.0, path.name


def test_mimickits_humanoid_is_read_with_a_robot_of_28_hinges(real_data: Path, tmp_path: Path) -> None:
    hinges = "".join(f'<body><joint name="h{number}"/><geom size="0.1"/></body>' for number in range(28))
    body = f'<body><freejoint/><geom size="0.1"/>{hinges}</body>'
    (tmp_path / "humanoid.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    humanoid = Robot.load(tmp_path / "humanoid.xml")
    read, refused = [], []
    for path in find_motion_files([real_data / "mimickit_humanoid"]):
        try:
            read.append(Motion.read(path, humanoid))
        except InputError as error:
            refused.append((path.name, error.code))
    assert len(read) == 8
    assert all(motion.joint_pos.shape[1] == 28 and motion.num_frames > 10 for motion in read)
    assert refused == [("humanoid_double_kong.pkl", "unsafe_pickle")]  # torch tensors


def test_a_humanoid_file_is_refused_for_the_g1(g1: Robot, real_data: Path) -> None:
    with pytest.raises(InputError, match="file for another robot") as caught:
        Motion.read(real_data / "mimickit_humanoid" / "humanoid_walk.pkl", g1)
    assert caught.value.code == "bad_width"


def test_the_published_npz_round_trips_through_our_kinematics(g1: Robot, real_data: Path, tmp_path: Path) -> None:
    # Body positions in the file come from another simulator's model of the G1.
    for path in find_motion_files([real_data / "jump_trajopt_g1"]):
        motion = Motion.read(path, g1)
        motion.write(tmp_path / "again.npz", g1, "mjlab")
        with np.load(path) as theirs, np.load(tmp_path / "again.npz") as ours:
            bodies = theirs["body_pos_w"][:, -30:]
            assert np.abs(bodies - ours["body_pos_w"]).max() < 0.01, path.name
