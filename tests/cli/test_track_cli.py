"""The commands of trackers, as typed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.score.priors import random_prior

from pfmhr.cli import main
from pfmhr.learning.logging import read_metrics
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot

SMALL = ["--environments", "4", "--samples", "96", "--episodes", "3", "--horizon", "0.2", "0.4", "--threads", "1"]
NETWORKS = ["--set", "agent.hidden=[16,8]", "adversary.hidden=[16,8]"]
LOOP = ["--prior", "g1-small", "--t-eval", "0.9", "--alpha", "1.5", "--p-good", "0.2", "--p-bad", "0.1", "--pooled"]
CLOCK = re.compile("time_|samples_per_second")
"""Figures that no two runs share."""


def read(capsys: pytest.CaptureFixture[str]) -> Any:
    """What was printed, as JSON."""
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One iteration of 96 samples with the bundled prior in the loop."""
    directory = tmp_path_factory.mktemp("runs") / "squat"
    words = ["track", "train", "embedded:squat", "-o", str(directory), "--actions", "absolute", "--seed", "3"]
    assert main([*words, *SMALL, *LOOP, *NETWORKS]) == 0
    return directory


def test_every_option_of_training_reaches_the_run(run: Path) -> None:
    config = json.loads((run / "run.json").read_text())["config"]
    modulator, settings = config["modulator"], config["modulator"]["settings"]
    assert (modulator["kind"], modulator["prior"]) == ("pfm", "g1-small")
    assert settings["ramp"] == {"alpha": 1.5, "p_good": 0.2, "p_bad": 0.1}
    assert settings["t_eval"] == 0.9 and settings["pooled"] is True
    assert (config["samples"], config["seed"], config["evaluation_episodes"]) == (96, 3, 3)
    assert (config["environment"]["environments"], config["environment"]["actions"]) == (4, "absolute")
    assert config["horizons"] == [0.2, 0.4] and config["agent"]["hidden"] == [16, 8]


def test_what_is_trained_is_not_trained_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (run / "checkpoint.safetensors").stat().st_mtime_ns
    words = ["track", "train", "embedded:squat", "-o", str(run), "--actions", "absolute", "--seed", "3"]
    assert main([*words, *SMALL, *LOOP, *NETWORKS]) == 0
    assert "already trained" in capsys.readouterr().out
    assert main([*words, *SMALL, *LOOP, *NETWORKS, "agent.std=0.3"]) == 2  # another tracker: not into this directory
    assert "another run is already here (got config.agent.std 0.05 → 0.3)" in capsys.readouterr().err
    assert (run / "checkpoint.safetensors").stat().st_mtime_ns == before


def test_killed_and_gone_on_with_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Ten iterations of which every second is kept, killed after the fifth at the earliest."""
    words = ["track", "train", "embedded:squat", *SMALL, "--samples", "960", *NETWORKS, "checkpoint_every=2"]

    def start(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pfmhr", *words, "-o", str(tmp_path / name)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def lines(name: str) -> list[dict[str, Any]]:
        kept = [{k: v for k, v in line.items() if not CLOCK.match(k)} for line in read_metrics(tmp_path / name)]
        return sorted(kept, key=lambda line: (line["step"], len(line)))

    killed = start("killed")
    while len(lines("killed")) < 6:
        assert killed.poll() is None
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed" / "result.json").exists()
    both = [start("killed"), start("straight")]
    assert [process.wait() for process in both] == [0, 0]
    assert lines("killed") == lines("straight") and len(lines("straight")) == 12
    same = [json.loads((tmp_path / name / "result.json").read_text())["final"] for name in ("killed", "straight")]
    assert same[0] == same[1]


def test_an_evaluation_has_both_starts_at_every_horizon(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["track", "eval", str(run), "--episodes", "3", "--horizon", "0.1", "0.3", "--threads", "1"]
    assert main([*words, "--json"]) == 0
    rows = read(capsys)["evaluations"]
    assert [(row["horizon"], row["start"], row["episodes"]) for row in rows] == [
        (0.1, "random", 3), (0.1, "beginning", 1), (0.3, "random", 3), (0.3, "beginning", 1),
    ]  # fmt: skip
    assert all(0.0 <= row["success"] <= 1.0 for row in rows)
    assert main(words) == 0
    assert "after 96 samples, 3 random starts" in capsys.readouterr().out


def test_runs_are_compared_written_and_drawn(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure, output = tmp_path / "new" / "curves.png", tmp_path / "new" / "compared.json"
    assert main(["track", "compare", str(run), "--figure", str(figure), "--output", str(output)]) == 0
    (row,) = json.loads(output.read_text())["rows"]
    assert row["name"] in capsys.readouterr().out and figure.stat().st_size > 1000
    assert (row["seeds"], row["modulator"], row["actions"]) == (1, "pfm", "absolute")


def test_a_policy_is_filmed_and_exported(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film = tmp_path / "squat.gif"
    size = ["--width", "160", "--height", "120", "--fps", "10"]
    assert main(["track", "play", str(run), "--output", str(film), "--seconds", "0.3", *size, "--json"]) == 0
    told = read(capsys)
    assert film.read_bytes()[:3] == b"GIF" and 0.0 < told["tracked"] <= told["possible"] == pytest.approx(0.3)
    assert main(["track", "export", str(run), "-o", str(tmp_path / "squat.onnx"), "--json"]) == 0
    told = read(capsys)
    assert told["samples"] == 96 and told["metadata"]["action_type"] == "absolute"
    assert (tmp_path / "squat.onnx").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda motion: {"joint_pos": np.rad2deg(motion.joint_pos)}, "degrees"),
        (lambda motion: {"root_pos": 100 * motion.root_pos}, "centimetres"),
    ],
)
def test_a_clip_in_other_units_is_not_trained_on(
    change: Callable[[Motion], dict[str, Any]], told: str, tmp_path: Path, g1: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = embedded_motion("walk", g1)
    replace(walk, **change(walk)).write(tmp_path / "walk.npz")
    assert main(["track", "train", str(tmp_path / "walk.npz"), "-o", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert told in said and "walk.npz" in said and "pfmhr check" in said and not (tmp_path / "run").exists()


@pytest.mark.parametrize("options", [["--distance", "nan"], ["--distance", "-1"], ["--horizon", "10", "nan"]])
def test_an_evaluation_that_would_mean_nothing_is_refused(
    options: list[str], run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["track", "eval", str(run), "--episodes", "1", *options]) == 2
    assert "unexpected" not in capsys.readouterr().err


def test_nothing_is_written_when_the_prior_is_of_another_robot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random_prior(dtype=torch.float32).save(tmp_path / "toy")
    out = tmp_path / "run"
    assert main(["track", "train", "embedded:squat", "-o", str(out), "--prior", str(tmp_path / "toy"), *SMALL]) == 2
    assert "joints" in capsys.readouterr().err
    assert not (out / "run.json").exists()
