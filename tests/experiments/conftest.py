"""Matrices of cells that take moments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pfmhr.experiments import Matrix

STUB = (sys.executable, str(Path(__file__).with_name("stub.py")))
Declare = Callable[..., Matrix]


@pytest.fixture
def declare(tmp_path: Path) -> Declare:
    """A matrix with one skill per given word; the stub does what the word says."""

    def make(*skills: str, seeds: int = 1) -> Matrix:
        clips = [tmp_path / "clips" / skill for skill in skills]
        for clip in clips:
            clip.parent.mkdir(exist_ok=True)
            clip.touch()
        lines = [f'{clip.name} = {{ motion = "{clip}", samples = 100 }}' for clip in clips]
        path = tmp_path / "stubs.toml"
        path.write_text("\n".join([f"seeds = {list(range(seeds))}", "[methods]", "add = {}", "[skills]", *lines]))
        return Matrix.read(path)

    return make


def attempts(out: Path, skill: str, seed: int = 0) -> list[int]:
    """Processes that tried a cell."""
    path = out / f"{skill}-add-residual-{seed}" / "attempts"
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def steps(out: Path, skill: str) -> list[str]:
    """Lines of a cell's metrics."""
    path = out / f"{skill}-add-residual-0" / "metrics.jsonl"
    return path.read_text().splitlines() if path.exists() else []
