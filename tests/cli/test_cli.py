"""The command line: exit codes, one clear message per error, JSON that machines can read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.corpus import PoseCorpus
from pfmhr.motion import Motion
from pfmhr.robots import Robot

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def walk_csv(tmp_path: Path, make_walk: Callable[..., Motion]) -> Path:
    path = tmp_path / "data" / "walk.csv"
    path.parent.mkdir()
    make_walk(frames=61).write(path)
    return path


def test_the_command_and_the_module_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "pfmhr", "--help"], capture_output=True, text=True, check=True)
    for command in ("check", "convert", "corpus build", "doctor", "demo"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "unknown command 'fly'. Available: check, convert"),
        (["corpus", "fly"], "unknown command of 'pfmhr corpus': 'fly'. Available: build, add"),
        (["check", "absent.csv"], "absent.csv: no such file or folder"),
        (["check"], "nothing to read"),
        (["corpus", "info", "absent"], "absent: no corpus here"),
        (["check", "--robot", "h1", "."], "unknown robot 'h1'. Available: g1"),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(arguments: list[str], message: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_debug_shows_where_an_error_came_from(capsys: Capture) -> None:
    assert main(["check", "absent.csv", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_check_exits_with_1_only_if_something_must_be_fixed(walk_csv: Path, capsys: Capture) -> None:
    assert main(["check", str(walk_csv)]) == 0
    table = np.loadtxt(walk_csv, delimiter=",")
    table[:, 7:] = np.rad2deg(table[:, 7:])
    np.savetxt(walk_csv.with_name("degrees.csv"), table, delimiter=",")
    capsys.readouterr()
    assert main(["check", str(walk_csv.parent), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["summary"] == {"clips": 2, "must_be_fixed": 1, "faults": {"degrees": 1}}
    assert [clip["ok"] for clip in report["clips"]] == [False, True]


def test_convert_resamples_truly(walk_csv: Path, tmp_path: Path, g1: Robot, capsys: Capture) -> None:
    out = tmp_path / "walk.npz"
    assert main(["convert", str(walk_csv), str(out), "--fps", "30", "--to-fps", "50", "--to", "mjlab"]) == 0
    converted = Motion.read(out, g1)
    assert (converted.num_frames, converted.fps) == (101, 50.0)  # 2 s in both
    assert main(["convert", str(walk_csv), str(out)]) == 2
    assert "holds no frame rate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--to-fps", "0.001"], "too low a frame rate for so short a clip (expected 0.5 to 10000 Hz for 2.00 s"),
        (["--to-fps", "1e12"], "too high a frame rate to resample to (expected at most 10000 Hz for 2.00 s"),
        (["--to", "unitree_csv"], "'unitree_csv' is not what this file's name says (expected .csv, got .npz)"),
    ],
)
def test_convert_refuses_rates_and_names_that_no_clip_has(
    more: list[str], told: str, walk_csv: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["convert", str(walk_csv), str(tmp_path / "out.npz"), "--fps", "30", *more]) == 2
    assert told in capsys.readouterr().err and not (tmp_path / "out.npz").exists()


def test_convert_repairs_only_what_is_named(walk_csv: Path, tmp_path: Path, g1: Robot, capsys: Capture) -> None:
    table = np.loadtxt(walk_csv, delimiter=",")
    table[5, 7 + 14] = 0.8  # waist pitch, limit 0.52
    np.savetxt(walk_csv, table, delimiter=",")
    arguments = ["convert", str(walk_csv), str(tmp_path / "out.npz"), "--fps", "30"]
    assert main(arguments) == 0
    assert "leave their limits" in capsys.readouterr().err
    assert Motion.read(tmp_path / "out.npz", g1).joint_pos[5, 14] == np.float32(0.8)
    assert main([*arguments, "--clip-limits", "--trim", "0.1", "1.0"]) == 0
    repaired = Motion.read(tmp_path / "out.npz", g1)
    assert (repaired.num_frames, repaired.joint_pos[2, 14]) == (28, g1.upper[14])
    assert main([*arguments, "--trim", "1.0", "9.0"]) == 2


def test_a_corpus_from_the_command_line(
    walk_csv: Path, tmp_path: Path, make_walk: Callable[..., Motion], capsys: Capture
) -> None:
    corpus = str(tmp_path / "corpus")
    assert main(["corpus", "build", corpus, str(walk_csv.parent), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["poses"] == 61
    make_walk(frames=40, stride=0.3).write(tmp_path / "more.npz")
    assert main(["corpus", "add", corpus, str(tmp_path / "more.npz")]) == 0
    assert len(PoseCorpus.open(corpus)) == 101
    arguments = ["corpus", "subset", corpus, str(tmp_path / "half"), "--size", "50", "--stratify", "category"]
    assert main(arguments) == 0
    assert len(PoseCorpus.open(tmp_path / "half")) == 50
    assert main(["corpus", "info", corpus, "--verify"]) == 0
    poses = tmp_path / "corpus" / "poses.npy"
    poses.write_bytes(poses.read_bytes()[:-1] + b"\x7f")
    assert main(["corpus", "info", corpus, "--verify"]) == 1
    assert "damaged: poses.npy from row 61 to 100" in capsys.readouterr().out


def test_doctor_names_versions_and_missing_extras(capsys: Capture) -> None:
    assert main(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["libraries"]["mujoco"].startswith("3.")
    assert facts["extras"]["fast"]["found"]
    assert {"tracking", "distance", "ray", "mjlab", "docs", "parquet"} <= set(facts["extras"])
    assert main(["doctor"]) == 0
