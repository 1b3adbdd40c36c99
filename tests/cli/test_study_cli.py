"""Studies that train priors of their own, from the command line, with two steps each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pfmhr.cli import main
from pfmhr.motion.embedded import embedded_motions
from pfmhr.robots import Robot

torch.set_num_threads(1)  # two test workers share two cores

Study = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, g1 = tmp_path_factory.mktemp("study") / "clips", Robot.load("g1")
    folder.mkdir()
    for motion in embedded_motions(3, g1):
        motion.write(folder / f"{motion.name}.npz", g1)
    return folder


@pytest.fixture
def study(clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Study:
    """Runs a study, and once more for people: that one finds everything trained."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *more: str, batch: str = "64") -> dict[str, Any]:
        words = ["study", name, str(clips), "--steps", "2", "--batch-size", batch, "--threads", "1", *more]
        assert main([*words, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert main(words) == 0
        return {**told, "shown": capsys.readouterr().out}

    return run


def test_data_scale(study: Study) -> None:
    told = study("data-scale", "--transitions", "50")
    sizes = [int(size) for size in told["sizes"]]
    assert len(sizes) == 3 and sizes[2] == pytest.approx(4 * sizes[1], abs=4) == pytest.approx(16 * sizes[0], abs=16)
    assert all(0.0 < each["held_out_loss"] < 100.0 for each in told["sizes"].values())
    assert f"{sizes[0]:,}" in told["shown"] and Path("runs/data-scale/data_scale.png").exists()


def test_extension(study: Study) -> None:
    told = study("extension")
    assert set(told["held_out_loss"]) == {"half", "scratch", "extended"} and told["steps_from_scratch"] == 2
    assert told["poses"]["half"] < told["poses"]["whole"] and "as good as the one from scratch" in told["shown"]


def test_nothing_to_train_with_is_said_so(clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "extension", str(clips), "--steps", "0"]) == 2
    assert "--steps must be at least 1" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["study", "extension", str(tmp_path / "empty"), "-o", str(tmp_path / "out")]) == 2
    assert "empty" in capsys.readouterr().err and not (tmp_path / "out").exists()
