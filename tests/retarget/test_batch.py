"""Many files: folders, copies, faults, interruptions, and what the command says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.retarget import RetargetConfig
from pfmhr.retarget.batch import JOURNAL, RetargetFile, make_tasks, retarget_files
from pfmhr.robots import Robot

Text = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, bvh_text: Text) -> Path:
    """Five files: two alike, one damaged, one of another kind, one below."""
    folder = tmp_path / "human"
    (folder / "below").mkdir(parents=True)
    (folder / "a.bvh").write_text(bvh_text(40))
    (folder / "b.bvh").write_text(bvh_text(40))
    (folder / "below" / "c.bvh").write_text(bvh_text(50))
    (folder / "d.bvh").write_text(bvh_text(60)[:-40])
    (folder / "notes.txt").write_text("nothing")
    return folder


def test_a_folder_becomes_a_folder_with_everything_in_its_place(g1: Robot, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "robot"
    seen: list[tuple[int, int]] = []
    work = RetargetFile("g1", RetargetConfig())
    report = retarget_files(
        work, make_tasks([folder], out, "pfmhr"), out, workers=1, progress=lambda *state: seen.append(state)
    )
    assert sorted(path.relative_to(out) for path in out.rglob("*.npz")) == [Path("a.npz"), Path("below/c.npz")]
    assert Motion.read(out / "below" / "c.npz", g1).num_frames == 50
    assert report.copies == {"b.bvh": "a.bvh"}
    (failure,) = report.failures
    assert failure.label == "d.bvh" and failure.code in ("truncated", "damaged")
    summary = report.summary()
    assert (summary["files"], summary["done"], summary["failed"], summary["copies"]) == (4, 2, 1, 1)
    assert (summary["frames"], summary["kept"]) == (90, 90)
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_what_is_done_is_not_done_again_unless_it_is_gone(folder: Path, tmp_path: Path) -> None:
    out, work = tmp_path / "robot", RetargetFile("g1", RetargetConfig())
    tasks = make_tasks([folder], out, "pfmhr")
    first = retarget_files(work, tasks, out, workers=1)
    (out / "below" / "c.npz").unlink()
    stamp = (out / "a.npz").stat().st_mtime_ns
    again = retarget_files(work, tasks, out, workers=1)
    assert (out / "a.npz").stat().st_mtime_ns == stamp and (out / "below" / "c.npz").exists()
    assert [record.figures for record in again.records] == [record.figures for record in first.records]


def test_a_folder_begun_with_other_settings_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "robot"
    tasks = make_tasks([folder / "a.bvh"], out, "pfmhr")
    retarget_files(RetargetFile("g1", RetargetConfig()), tasks, out, workers=1)
    with pytest.raises(InputError, match="other settings"):
        retarget_files(RetargetFile("g1", RetargetConfig(fps=50.0)), tasks, out, workers=1)


def test_two_results_of_one_name_are_refused(tmp_path: Path, bvh_text: Text) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.bvh").write_text(bvh_text(3))
    with pytest.raises(InputError, match="two files would be written to one place"):
        make_tasks([tmp_path / "one", tmp_path / "two"], tmp_path / "out", "pfmhr")


def test_killed_in_the_middle_the_same_command_goes_on(tmp_path: Path, bvh_text: Text) -> None:
    human, out = tmp_path / "human", tmp_path / "robot"
    human.mkdir()
    for number in range(8):
        (human / f"{number}.bvh").write_text(bvh_text(120 + number))
    command = [sys.executable, "-m", "pfmhr", "retarget", str(human), "-o", str(out), "--jobs", "1", "--json"]
    environment = {**os.environ, "PYTHONPATH": "src"}
    first = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    journal, until = out / JOURNAL, time.monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        assert time.monotonic() < until and first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    done = {json.loads(line)["key"].split()[0] for line in journal.read_text().splitlines()[1:-1]}
    stamps = {name: (out / f"{name[0]}.npz").stat().st_mtime_ns for name in done}
    assert 1 <= len(done) < 8 and not list(out.rglob("*.tmp")) + [
        path for path in out.rglob("*.npz") if not path.stat().st_size
    ]
    again = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    content = json.loads(again.stdout)
    assert content["summary"]["done"] == 8 and content["summary"]["frames"] == sum(range(120, 128))
    assert stamps == {name: (out / f"{name[0]}.npz").stat().st_mtime_ns for name in done}


@pytest.mark.parametrize("name", ["out.npz", "out.csv", "out.pkl"])
def test_one_file_becomes_one_file_of_the_kind_its_name_says(
    g1: Robot, bvh_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["retarget", str(bvh_file), "-o", str(tmp_path / name), "--fps", "60", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    motion = Motion.read(tmp_path / name, g1, fps=60)
    assert motion.num_frames == content["files"][0]["kept"] == 119
    assert content["files"][0]["faults"] == [] and content["summary"]["dropped"] == 0
    assert (motion.joint_pos <= g1.upper + 1e-6).all() and (motion.joint_pos >= g1.lower - 1e-6).all()


def test_the_command_says_what_failed_and_exits_with_one(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retarget", str(folder), "-o", str(tmp_path / "robot"), "--jobs", "1"]) == 1
    said = capsys.readouterr()
    assert "2 of 4 file(s) done, 90 frames, 1 copies left out, 1 failed" in said.out
    assert "d.bvh: line" in said.err and "b.bvh: left out, the same bytes as a.bvh" in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--map", "nobody"], "unknown map 'nobody'"),
        (["--rest", "standing"], "unknown rest pose"),
        (["--fps", "0"], "impossible frame rate"),
        (["--jobs", "0"], "--jobs must be at least 1"),
        (["--robot", "nobody"], "unknown robot"),
    ],
)
def test_wrong_use_is_told_before_anything_is_read(
    bvh_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["retarget", str(bvh_file), "-o", str(tmp_path / "robot"), *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "robot").exists()


def test_a_bvh_made_here_walks_on_the_robot(g1: Robot, bvh_file: Path, tmp_path: Path) -> None:
    """Its skeleton stands in a T-pose at zero; the angles of its knees are those of the file."""
    assert main(["retarget", str(bvh_file), "-o", str(tmp_path / "walk.npz"), "--rest", "zero"]) == 0
    motion = Motion.read(tmp_path / "walk.npz", g1)
    phase = 2 * np.pi * np.arange(motion.num_frames) / 30
    for side, sign in (("left", 1.0), ("right", -1.0)):
        knee = motion.joint_pos[:, g1.joint_names.index(f"{side}_knee_joint")]
        assert np.corrcoef(knee, 25 + 15 * np.cos(phase) * sign)[0, 1] > 0.97
        assert abs(np.degrees(knee.mean()) - 25) < 8
