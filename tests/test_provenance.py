"""What results tell of the machine and the code that made them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import pfmhr
from pfmhr.provenance import provenance


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    return subprocess.run(
        ["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_command_is_told_without_what_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["/usr/bin/pfmhr", "--debug", "study", "noise", "--output", "a.json", "--prior", "x"]
    monkeypatch.setattr("sys.argv", words)
    assert provenance()["command"] == "pfmhr study noise --prior x"


def test_a_commit_is_told_of_our_own_tree_and_of_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed into an environment within somebody's repository, we are no part of its history."""
    package = tmp_path / ".venv" / "pfmhr"
    package.mkdir(parents=True)
    shutil.copy(Path(pfmhr.__file__), package)
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "theirs")
    monkeypatch.setattr(pfmhr, "__file__", str(package / "__init__.py"))
    assert provenance()["commit"] is None
    git(tmp_path, "add", "-f", ".venv")
    assert provenance()["commit"] == git(tmp_path, "rev-parse", "--short", "HEAD")
