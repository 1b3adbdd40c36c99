"""Hostile input in bounded memory and time, and the command line as a program of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOM = 3 * 2**30
"""Bytes of address space: the program itself, with torch, maps less than two thirds of it."""

Run = Callable[..., subprocess.CompletedProcess[str]]


def _bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


@pytest.fixture
def pfmhr(tmp_path: Path) -> Run:
    """Runs ``pfmhr …`` in a folder of its own, bounded in memory and time."""

    def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
        settings = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 60, "preexec_fn": _bound}
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120"}
        command = [sys.executable, "-m", "pfmhr", *map(str, words)]
        return subprocess.run(command, env=environment, check=False, **{**settings, **options})  # type: ignore[call-overload]

    return run
