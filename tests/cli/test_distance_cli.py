"""Distance fields from the command line: training, the study they are for, and their benchmark."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
import torch

from pfmhr.cli import main
from pfmhr.corpus import PoseCorpus, build_corpus
from pfmhr.distance import PoseDistanceField
from pfmhr.distance.pairs import Pairs
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion, embedded_motions
from pfmhr.robots import Robot
from pfmhr.studies.corruptions import BAD_CHANGES, BAD_POSES

torch.set_num_threads(1)  # two test workers share two cores
faiss.omp_set_num_threads(1)

Capture = pytest.CaptureFixture[str]
SHORT = ["--pairs.count", "800", "--steps", "10", "--batch-size", "64", "--threads", "1"]
CLIPS = ("walk", "run", "squat", "bow", "wave", "march")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six clips, their corpus, a tiny prior and a field of ten steps."""
    folder, g1 = tmp_path_factory.mktemp("distance"), Robot.load("g1")
    (folder / "clips").mkdir()
    for name in CLIPS:
        embedded_motion(name, g1).write(folder / "clips" / f"{name}.npz", g1)
    build_corpus(folder / "corpus", [folder / "clips"], g1)
    prior = ["prior", "train", str(folder / "corpus"), "-o", str(folder / "prior"), "--preset", "tiny"]
    assert main([*prior, "--steps", "30", "--batch-size", "128", "--threads", "1", "--held-out", "0.4"]) == 0
    assert train(folder, folder / "field") == 0
    return folder


def train(home: Path, out: Path, *more: str) -> int:
    return main(["distance", "train", str(home / "corpus"), "-o", str(out), *SHORT, *more])


# distance train


def test_a_field_is_trained_with_its_pairs_beside_it(home: Path, tmp_path: Path, g1: Robot, capsys: Capture) -> None:
    assert train(home, tmp_path / "run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1.0000 of the labels are within 1 % of brute force"
    assert lines[1] == "held-out error in rad, by distance" and lines[2].split() == ["distance", "error", "pairs"]
    field = PoseDistanceField.load(tmp_path / "run", g1)
    held_out = field.about["held_out"]
    assert lines[-1].endswith(f"held-out error {held_out['error']:.4f} rad")
    assert len(lines) == 4 + len(held_out["by_distance"])
    assert sum(band["pairs"] for band in held_out["by_distance"].values()) == 40  # 5 % of 800
    pairs = Pairs.open(tmp_path / "run" / "pairs")
    assert pairs.poses.shape == (800, 29) and pairs.about["poses"] == len(PoseCorpus.open(home / "corpus"))
    assert (field.about["training"]["steps"], field.about["training"]["batch_size"]) == (10, 64)


def test_training_again_says_it_is_done_and_other_settings_are_refused(home: Path, capsys: Capture) -> None:
    before = (home / "field" / "model.safetensors").read_bytes()
    assert train(home, home / "field") == 0
    assert "already trained" in capsys.readouterr().out
    for more, message in (
        (("--seed", "5"), "other pairs are already here"),
        (("--pairs.neighbours", "2"), "other pairs are already here"),
        (("--steps", "20"), "steps 10 → 20"),
        (("--preset", "paper"), "another run is already here"),
    ):
        assert train(home, home / "field", *more) == 2
        assert message in capsys.readouterr().err
    assert (home / "field" / "model.safetensors").read_bytes() == before


def test_metric_neighbours_and_preset_reach_the_training(home: Path, tmp_path: Path, g1: Robot) -> None:
    arguments = ("--pairs.metric", "l1", "--pairs.neighbours", "3", "--preset", "paper", "--seed", "4", "--steps", "2")
    assert train(home, tmp_path / "run", *arguments) == 0
    about = PoseDistanceField.load(tmp_path / "run", g1).about
    pairs = about["pairs"]["pairs"]
    assert (pairs["metric"], pairs["neighbours"], pairs["seed"], pairs["count"]) == ("l1", 3, 4, 800)
    training = about["training"]
    assert (training["learning_rate"], training["schedule"], training["seed"]) == (1e-4, "constant", 4)
    assert (training["steps"], training["batch_size"]) == (2, 64)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--pairs.count", "0"], "impossible pairs"),
        (["--pairs.count", "-1"], "impossible pairs"),
        (["--pairs.neighbours", "0"], "impossible pairs"),
        (["--steps", "0"], "steps must be at least 1 (got 0)"),
        (["--batch-size", "0"], "batch_size must be at least 1 (got 0)"),
        (["--batch-size", "1000000000000"], "a batch does not fit into memory"),
        (["--learning-rate", "nan"], "learning_rate must be above 0 (got nan)"),
        (["--pairs.count", "5"], "too few pairs to hold any out"),
        (["--pairs.neighbours", "100000"], "impossible number of neighbours"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_one_message(more: list[str], message: str, home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert train(home, tmp_path / "run", *more) == 2
    said = capsys.readouterr().err
    assert said.startswith("pfmhr: ") and message in said
    assert not (tmp_path / "run").exists()


def test_a_field_is_not_trained_in_a_priors_directory(home: Path, capsys: Capture) -> None:
    assert train(home, home / "prior") == 2
    assert "this directory holds a prior, not a distance field" in capsys.readouterr().err
    assert not (home / "prior" / "pairs").exists()


def test_what_is_no_corpus_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert main(["distance", "train", str(tmp_path / "absent"), "-o", str(tmp_path / "run")]) == 2
    assert "no corpus here" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


# study plausibility


def plausibility(home: Path, out: Path, *more: str, field: str = "field", data: str = "clips") -> int:
    given = ["--prior", str(home / "prior"), "--field", str(home / field), "--data", str(home / data), "--threads", "1"]
    return main(["study", "plausibility", *given, "-o", str(out), *more])


def test_the_study_of_plausibility(home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert plausibility(home, tmp_path, "--transitions", "200", "--clips", "held-out") == 0
    result = json.loads((tmp_path / "plausibility.json").read_text())
    assert [row["corruption"] for row in result["rows"]] == [*BAD_POSES, *BAD_CHANGES]
    assert result["field"] == str(home / "field") and result["clips"] == "held-out"
    with (tmp_path / "plausibility.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0]) == ["group", "corruption", "PDF-HR", "FM-Recon", "PGS"] and len(rows) == 10
    assert [float(row["PGS"]) for row in rows] == pytest.approx([row["PGS"] for row in result["rows"]])
    assert all(0.0 <= float(row[method]) <= 1.0 for row in rows for method in ("PDF-HR", "FM-Recon", "PGS"))
    assert (tmp_path / "plausibility.png").read_bytes().startswith(b"\x89PNG")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["group", "corruption", "PDF-HR", "FM-Recon", "PGS"] and len(lines) == 12
    assert lines[-1].startswith(f"{result['transitions']:,} transitions")


def test_the_study_of_plausibility_as_json(home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert plausibility(home, tmp_path, "--transitions", "50", "--t-eval", "0.5", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["transitions"], printed["t_eval"], len(printed["rows"])) == (50, 0.5, 10)


@pytest.mark.parametrize(
    ("more", "given", "message"),
    [
        ([], {"field": "prior"}, "this is a prior, not a distance field"),
        ([], {"field": "nowhere"}, "no such distance field: there is no such directory"),
        ([], {"data": "nowhere"}, "no such file or folder"),
        (["--t-eval", "1"], {}, "flow time"),
        (["--transitions", "0"], {}, "--transitions must be at least 1"),
        (["--control-rate", "0"], {}, "impossible frame rate"),
    ],
    ids=str,
)
def test_wrong_use_of_the_study_is_one_message(
    more: list[str], given: dict[str, str], message: str, home: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert plausibility(home, tmp_path, *more, **given) == 2
    said = capsys.readouterr().err
    assert said.startswith("pfmhr: ") and message in said


def test_a_clip_of_one_frame_has_no_transition(home: Path, tmp_path: Path, g1: Robot, capsys: Capture) -> None:
    Motion.from_arrays(g1, g1.default_pose[None], 30.0).write(tmp_path / "pose.npz", g1)
    data = ["--prior", str(home / "prior"), "--field", str(home / "field"), "--data", str(tmp_path / "pose.npz")]
    assert main(["study", "plausibility", *data, "-o", str(tmp_path), "--threads", "1"]) == 2
    assert "no transition in the data" in capsys.readouterr().err


# bench distance


def check_benchmark(printed: dict[str, Any], poses: int) -> None:
    assert [row["poses"] for row in printed["rows"]] == [poses, 4 * poses, 16 * poses]
    for row in printed["rows"]:
        assert set(row) == {
            *("poses", "seconds_to_build", "labels_per_second", "microseconds_per_label"),
            *("brute_force_labels_per_second", "ratio", "recall_within_1_percent"),
        }
        assert row["labels_per_second"] * row["microseconds_per_label"] == pytest.approx(1e6, rel=0.05)
        assert row["recall_within_1_percent"] >= 0.9
    first, last = printed["rows"][0], printed["rows"][-1]
    assert printed["projection"]["poses"] == printed["projection"]["labels"] == 60_000_000
    assert printed["projection"]["hours_on_this_machine"] > 0
    measured = np.log(last["microseconds_per_label"] / first["microseconds_per_label"]) / np.log(16)
    assert printed["growth_exponent"] == pytest.approx(measured, abs=0.01)  # the middle point has no lever
    assert {"commit", "processor", "cores"} <= set(printed)


def test_the_benchmark_of_labelling(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pfmhr.bench.distance.embedded_motions", lambda _: embedded_motions(2))  # rather than 20
    command = ["bench", "distance", "--poses", "2000", "--queries", "200"]
    assert main([*command, "--output", str(tmp_path / "bench.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "bench.json").read_text())
    check_benchmark(printed, 2000)


def test_the_benchmark_of_labelling_on_a_corpus(home: Path, capsys: Capture) -> None:
    assert main(["bench", "distance", "--corpus", str(home / "corpus"), "--poses", "300", "--queries", "100"]) == 0
    check_benchmark(json.loads(capsys.readouterr().out), 300)
