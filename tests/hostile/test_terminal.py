"""What foreign text and missing streams do to a terminal: nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot

from .conftest import Run

ESCAPE = "\x1b]0;owned\x07\x1b[2J\n\u202e"


def test_names_of_joints_and_files_reach_no_terminal_raw(pfmhr: Run, walk: Motion, tmp_path: Path) -> None:
    walk.write(tmp_path / "walk.npz")
    with np.load(tmp_path / "walk.npz") as content:
        arrays = {name: content[name] for name in content.files}
    names = arrays["joint_names"].astype("<U80")
    names[0] = ESCAPE
    np.savez(tmp_path / "a\x1b[31m.npz", **{**arrays, "joint_names": names})
    for options in ([], ["--json"]):
        answer = pfmhr("check", *options, tmp_path)
        assert answer.returncode == 1
        assert "\x1b" not in answer.stdout + answer.stderr and "\u202e" not in answer.stdout + answer.stderr
        assert "\\x1b" in answer.stdout or "\\u001b" in answer.stdout


def test_an_error_holds_no_control_character_and_is_bounded() -> None:
    error = InputError("bad", where=ESCAPE * 1000, expected=ESCAPE, got="x" * 10**6, fix=ESCAPE)
    assert str(error).isprintable() and len(str(error)) < 6000


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = command.replace("pfmhr", f"{sys.executable} -m pfmhr")
    return subprocess.run(["sh", "-c", words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code(closed: str, walk: Motion, tmp_path: Path) -> None:
    walk.write(tmp_path / "walk.npz")
    assert shell(f"pfmhr check walk.npz {closed}", tmp_path).returncode == 0
    assert (
        shell(f"pfmhr check nowhere.npz {closed}", tmp_path).returncode
        == shell("pfmhr check nowhere.npz", tmp_path).returncode
    )


def test_messages_for_a_closed_stderr_stay_out_of_the_json(g1: Robot, walk: Motion, tmp_path: Path) -> None:
    table = np.concatenate([walk.root_pos, walk.root_quat[:, [1, 2, 3, 0]], walk.joint_pos], axis=1)
    np.savetxt(tmp_path / "walk.csv", table, delimiter=",")  # no frame rate: there is something to be said
    answer = shell("pfmhr check --json walk.csv 2>&-", tmp_path)
    assert json.loads(answer.stdout)["clips"]
    answer = shell("pfmhr score --json nowhere.npz 2>&-", tmp_path)
    assert json.loads(answer.stdout)["error"]["code"] == "not_found"
