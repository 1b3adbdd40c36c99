"""Scores, calibrations and the studies of a prior from the command line, end to end on a tiny prior."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.reward.gauge import clip_scoring, gauge, percents

from pfmhr.cli import main
from pfmhr.corpus import build_corpus
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motions
from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration, Ramp
from pfmhr.reward.plots import timeline_plot
from pfmhr.reward.timeline import score_motion
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore

torch.set_num_threads(1)  # two test workers share two cores

Capture = pytest.CaptureFixture[str]
COLUMNS = ["time", "score", "percentile", "multiplier", "finite", "joint_1", "joint_2", "joint_3"]
COLUMNS += ["part_1", "part_2", "part_3"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, make_walk: Callable[..., Motion]) -> Path:
    """Clips, a walk of 90 frames at 30 Hz, a still one, and two priors of thirty steps."""
    folder, g1 = tmp_path_factory.mktemp("score"), Robot.load("g1")
    (folder / "clips").mkdir()
    for motion in embedded_motions(1, g1):
        motion.write(folder / "clips" / f"{motion.name}.npz", g1)
    make_walk(frames=90).write(folder / "walk.npz", g1)
    make_walk(frames=60, stride=0.2).write(folder / "stroll.npz", g1)
    Motion.from_arrays(g1, np.tile(g1.default_pose, (30, 1)), 30.0).write(folder / "still.npz", g1)
    build_corpus(folder / "corpus", [folder / "clips"], g1)
    short = ["--preset", "tiny", "--steps", "30", "--batch-size", "128", "--threads", "1", "--held-out", "0.3"]
    for name, seed in (("prior", "0"), ("other", "1")):
        command = ["prior", "train", str(folder / "corpus"), "-o", str(folder / name), "--seed", seed]
        assert main([*command, *short]) == 0
    return folder


@pytest.fixture
def unpictured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second less per picture, where numbers are meant."""
    for name in ("reward.plots.timeline_plot", "studies.plots.timestep_figure"):
        monkeypatch.setattr(f"pfmhr.{name}", lambda *_: None)


def score(
    home: Path, out: Path, *more: str | Path, clips: tuple[str, ...] = ("walk.npz",), prior: str = "prior"
) -> int:
    files = [str(home / clip) for clip in clips]
    return main(["score", *files, "--prior", str(home / prior), "-o", str(out), *map(str, more)])


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


# score


def test_a_clip_is_scored_step_by_step(home: Path, tmp_path: Path, g1: Robot, capsys: Capture) -> None:
    assert score(home, tmp_path) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split("  ")[0] == "clip" and shown[1].split()[:3] == ["walk", "89", "0"]
    rows = table(tmp_path / "walk.csv")
    assert list(rows[0]) == COLUMNS and len(rows) == 89
    assert [float(row["time"]) for row in rows] == pytest.approx([(n + 1) / 30 for n in range(89)], abs=1e-4)
    for row in rows:
        joints, parts = [row[f"joint_{n}"] for n in (1, 2, 3)], [float(row[f"part_{n}"]) for n in (1, 2, 3)]
        assert set(joints) <= set(g1.joint_names) and len(set(joints)) == 3
        assert parts == sorted(parts, reverse=True) and sum(parts) <= 1.001 * float(row["score"])
        assert row["finite"] == "1" and 0.0 <= float(row["percentile"]) <= 1.0
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("unpictured")
def test_the_multiplier_follows_from_the_percentile(home: Path, tmp_path: Path) -> None:
    assert score(home, tmp_path, "--alpha", "2", "--p-good", "0.8", "--p-bad", "0.2") == 0
    rows = table(tmp_path / "walk.csv")
    percentile = np.array([float(row["percentile"]) for row in rows])
    expected = np.exp(-2.0 * np.clip((0.8 - percentile) / 0.6, 0.0, 1.0))
    assert [float(row["multiplier"]) for row in rows] == pytest.approx(expected.tolist(), abs=1e-4)
    assert len(np.unique(percentile)) > 20


def test_scores_as_json(home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert score(home, tmp_path, "--json", clips=("walk.npz", "clips/squat-000.npz")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["out"] == str(tmp_path)
    assert [each["clip"] for each in printed["clips"]] == ["walk", "squat-000"]
    walk = printed["clips"][0]
    rows = table(tmp_path / "walk.csv")
    assert (walk["transitions"], walk["not_finite"]) == (89, 0)
    for name, column in (("mean_percentile", "percentile"), ("mean_multiplier", "multiplier")):
        assert walk[name] == pytest.approx(np.mean([float(row[column]) for row in rows]), abs=1e-4)
    assert walk["share_cut"] == pytest.approx(np.mean([float(row["multiplier"]) < 1 for row in rows]), abs=1e-6)
    assert {file.name for file in tmp_path.iterdir()} == {
        f"{name}.{kind}" for name in ("walk", "squat-000") for kind in ("csv", "png")
    }


@pytest.mark.usefixtures("unpictured")
def test_clips_of_the_same_name_get_files_of_their_own(home: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "walk.npz").write_bytes((home / "stroll.npz").read_bytes())
    out = tmp_path / "out"
    arguments = ["score", str(home / "walk.npz"), str(tmp_path / "again" / "walk.npz")]
    assert main([*arguments, "--prior", str(home / "prior"), "-o", str(out)]) == 0
    assert (len(table(out / "walk.csv")), len(table(out / "walk-2.csv"))) == (89, 59)


@pytest.mark.usefixtures("unpictured")
def test_the_seed_decides_the_scores(home: Path, tmp_path: Path) -> None:
    for name, seed in (("first", "1"), ("again", "1"), ("other", "2")):
        assert score(home, tmp_path / name, "--seed", seed) == 0
    first, again, other = ((tmp_path / name / "walk.csv").read_bytes() for name in ("first", "again", "other"))
    assert first == again != other


@pytest.mark.usefixtures("unpictured")
def test_a_reference_judges_other_clips(home: Path, tmp_path: Path, g1: Robot) -> None:
    """The percentile of a score is the share of the reference's scores not above it."""
    assert score(home, tmp_path, "--reference", home / "stroll.npz", "--seed", "4") == 0
    scorer, generator = PoseGeometryScore(PosePrior.load(home / "prior")), torch.Generator().manual_seed(4)
    reference = Calibration.fit(scorer, [Motion.read(home / "stroll.npz", g1)], 1 / 30, generator).values[0][0].numpy()
    assert len(reference) == 59
    rows = table(tmp_path / "walk.csv")
    expected = [np.mean(reference <= float(row["score"])) for row in rows]
    assert [float(row["percentile"]) for row in rows] == pytest.approx(expected, abs=0.02)


@pytest.mark.usefixtures("unpictured")
def test_the_control_rate_decides_the_steps(home: Path, tmp_path: Path) -> None:
    assert score(home, tmp_path, "--control-rate", "15") == 0
    assert len(table(tmp_path / "walk.csv")) == 44


@pytest.mark.usefixtures("unpictured")
def test_a_csv_needs_its_frame_rate(home: Path, tmp_path: Path, raw: Any, g1: Robot, capsys: Capture) -> None:
    (tmp_path / "walk.csv").write_bytes(raw.unitree_csv(Motion.read(home / "walk.npz", g1)))
    command = ["score", str(tmp_path / "walk.csv"), "--prior", str(home / "prior"), "-o", str(tmp_path / "out")]
    assert main(command) == 2
    assert "--fps" in capsys.readouterr().err
    assert main([*command, "--fps", "30"]) == 0
    assert len(table(tmp_path / "out" / "walk.csv")) == 89


def test_a_still_clip_has_nothing_to_judge(home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert score(home, tmp_path, clips=("still.npz",)) == 2
    assert "no transition to calibrate on" in capsys.readouterr().err
    assert score(home, tmp_path, "--reference", home / "walk.npz", "--json", clips=("still.npz",)) == 0
    (still,) = json.loads(capsys.readouterr().out)["clips"]
    assert (still["transitions"], still["median_score"], still["share_cut"]) == (0, None, 0.0)
    assert still["mean_multiplier"] in (None, 1.0)  # nothing is cut
    assert table(tmp_path / "still.csv") == []


def test_a_robot_of_two_joints_has_a_timeline_too(tmp_path: Path) -> None:
    """The header has as many columns as each line, and the joints named are the robot's."""
    timeline = score_motion(gauge(), percents(), clip_scoring([0.02, 0.5, 0.9]), Ramp())
    timeline.write_csv(tmp_path / "clip.csv")
    with (tmp_path / "clip.csv").open(newline="") as handle:
        header, *rows = csv.reader(handle)
    assert len(rows) == 3 and all(len(row) == len(header) for row in rows)
    first = dict(zip(header, rows[1], strict=True))
    assert {first["joint_1"], first["joint_2"]} == {"joint_0", "joint_1"}
    assert float(first["part_1"]) == pytest.approx(0.5, rel=1e-3)
    timeline_plot(tmp_path / "clip.png", timeline, Ramp())
    assert (tmp_path / "clip.png").read_bytes().startswith(b"\x89PNG")


# calibrate


@pytest.fixture(scope="module")
def calibration(home: Path) -> Path:
    path = home / "walk.calibration.npz"
    clips = [str(home / "walk.npz"), str(home / "stroll.npz")]
    assert main(["calibrate", *clips, "--prior", str(home / "prior"), "-o", str(path)]) == 0
    return path


def test_a_calibration_says_what_it_holds(home: Path, tmp_path: Path, capsys: Capture) -> None:
    clips = [str(home / "walk.npz"), str(home / "stroll.npz")]
    command = ["calibrate", *clips, "--prior", str(home / "prior"), "--t-eval", "0.5", "--control-rate", "15"]
    assert main([*command, "-o", str(tmp_path / "deep" / "made.npz")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in shown[1:3]] == [["0", "walk", "44"], ["1", "stroll", "29"]]
    assert "2 reference(s) at 15 steps/s, t_eval 0.5" in shown[3]
    made = Calibration.load(tmp_path / "deep" / "made.npz")
    assert made.dt == pytest.approx(1 / 15) and made.settings["t_eval"] == [0.5] and not made.pooled
    assert [reference.name for reference in made.references] == ["walk", "stroll"]


def test_a_calibration_of_few_transitions_is_made_with_a_remark(home: Path, tmp_path: Path, capsys: Capture) -> None:
    """A clip of 90 frames has 89 transitions, one of 20 has 19, one of two a single one."""
    walk = Motion.read(home / "walk.npz", Robot.load("g1"))
    for frames in (2, 20, 21):
        walk.frames(0, frames).write(tmp_path / f"clip{frames}.npz")
        words = ["calibrate", str(tmp_path / f"clip{frames}.npz"), "--prior", str(home / "prior")]
        assert main([*words, "-o", str(tmp_path / f"{frames}.calibration.npz")]) == 0
        told = capsys.readouterr().err
        assert (f"clip{frames}: {frames - 1} transition(s) say little" in told) is (frames - 1 < 20)
    pair = [str(tmp_path / f"clip{frames}.npz") for frames in (2, 20)]
    words = ["calibrate", *pair, "--prior", str(home / "prior"), "-o", str(tmp_path / "pooled.npz")]
    assert main([*words, "--pooled"]) == 0
    assert "say little" not in capsys.readouterr().err


def test_a_calibration_may_be_pooled(home: Path, tmp_path: Path) -> None:
    clips = [str(home / "walk.npz"), str(home / "stroll.npz")]
    command = ["calibrate", *clips, "--prior", str(home / "prior"), "-o", str(tmp_path / "made.npz"), "--pooled"]
    assert main(command) == 0
    assert Calibration.load(tmp_path / "made.npz").pooled


@pytest.mark.usefixtures("unpictured")
def test_a_calibrations_first_motion_is_the_reference(home: Path, calibration: Path, tmp_path: Path) -> None:
    assert score(home, tmp_path, "--calibration", calibration, clips=("stroll.npz",)) == 0
    reference = Calibration.load(calibration).values[0][0].numpy()
    assert len(reference) == 89
    rows = table(tmp_path / "stroll.csv")
    expected = [np.mean(reference <= float(row["score"])) for row in rows]
    assert [float(row["percentile"]) for row in rows] == pytest.approx(expected, abs=0.015)


def test_a_calibration_at_another_control_rate_is_refused(
    home: Path, calibration: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert score(home, tmp_path, "--calibration", calibration, "--control-rate", "50", clips=("stroll.npz",)) == 2
    assert "0.02" in capsys.readouterr().err
    assert score(home, tmp_path, "--calibration", calibration, "--control-rate", "30", clips=("stroll.npz",)) == 0


def test_a_reference_and_a_calibration_are_one_too_many(
    home: Path, calibration: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert score(home, tmp_path / "out", "--calibration", calibration, "--reference", home / "walk.npz") == 2
    assert "not both" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "prior", "message"),
    [
        ([], "other", "made with another prior"),
        (["--t-eval", "0.5"], "prior", "made with another t_eval"),
        (["--samples", "2"], "prior", "made with another samples"),
    ],
)
def test_the_calibration_of_another_score_is_refused(
    more: list[str], prior: str, message: str, home: Path, calibration: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert score(home, tmp_path, "--calibration", calibration, *more, prior=prior) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--control-rate", "-30"], "impossible control rate"),
        (["--control-rate", "nan"], "impossible control rate"),
        (["--control-rate", "1e9"], "impossible control rate (expected 0.01 to 10000 Hz, got 1e+09 Hz)"),
        (["--control-rate", "1e-9"], "impossible control rate (expected 0.01 to 10000 Hz, got 1e-09 Hz)"),
        (["--t-eval", "1"], "flow time"),
        (["--samples", "0"], "samples must be a whole number from 1 on (got 0)"),
        (["--p-good", "0.01", "--p-bad", "0.05"], "impossible ramp"),
        (["--calibration", "nowhere.npz"], "no such calibration"),
        (["--calibration", __file__], "not a calibration: truncated or damaged npz (expected an npz made by"),
        (["--reference", "nowhere.npz"], "no such file"),
        (["--prior", "nothing"], "unknown prior 'nothing'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_of_score_is_one_message(
    more: list[str], message: str, home: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert score(home, tmp_path, *more) == 2
    said = capsys.readouterr().err
    assert said.startswith("pfmhr: ") and message in said and said.count("\n") == 1


@pytest.mark.parametrize("command", ["score", "calibrate", "study timestep"])
def test_no_rate_at_all_is_refused(command: str, home: Path, tmp_path: Path, capsys: Capture) -> None:
    given = ["--data", str(home / "walk.npz")] if command.startswith("study") else [str(home / "walk.npz")]
    arguments = [*command.split(), *given, "--prior", str(home / "prior"), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--control-rate", "0"]) == 2
    assert "impossible control rate (expected a positive number of Hz, got 0.0)" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["score", "calibrate", "study timestep"])
def test_a_place_that_cannot_be_written_is_named(command: str, home: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("in the way")
    given = ["--data", str(home / "walk.npz")] if command.startswith("study") else [str(home / "walk.npz")]
    arguments = [*command.split(), *given, "--prior", str(home / "prior"), "-o", str(tmp_path / "file" / "out.npz")]
    few = ["--times", "0.5", "--transitions", "20"] if command.startswith("study") else []
    assert main([*arguments, *few]) == 2
    said = capsys.readouterr().err
    assert "cannot write" in said and str(tmp_path / "file") in said
    assert (tmp_path / "file").read_text() == "in the way"


# studies


def study(home: Path, out: Path, name: str, *more: str) -> int:
    material = ["--prior", str(home / "prior"), "--data", str(home / "clips"), "--threads", "1"]
    return main(["study", name, *material, "-o", str(out), *more])


def written(folder: Path, name: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """A study's json and csv; the figure must be there too."""
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    return json.loads((folder / f"{name}.json").read_text()), table(folder / f"{name}.csv")


def test_the_timestep_study_recommends(home: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("--times", "0.5", "0.75", "--recommend", "--transitions", "200")
    assert study(home, tmp_path, "timestep", *arguments) == 0
    result, rows = written(tmp_path, "timestep")
    assert [row["t_eval"] for row in result["rows"]] == [0.5, 0.75]
    assert [row["t_eval"] for row in rows] == ["0.5", "0.75"]
    assert [row["average (paper)"] for row in rows] == ["0.064", "0.124"]
    for row in result["rows"]:
        assert row["average"] == pytest.approx((row["angular"] + row["permutation"] + row["sign_flip"]) / 3)
    best = max(result["rows"], key=lambda row: row["average"])["t_eval"]
    assert result["best_t_eval"] == best and 200 <= result["transitions"] < 211
    assert (result["clips"], result["seed"]) == ("all", 0) and "commit" in result
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"use t_eval {best:g}: discrimination ")


@pytest.mark.usefixtures("unpictured")
def test_the_timestep_study_as_json(home: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("--times", "0.6", "--recommend", "--transitions", "50", "--json")
    assert study(home, tmp_path, "timestep", *arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["t_eval"] for row in printed["rows"]] == [0.6] and printed["best_t_eval"] == 0.6
    assert table(tmp_path / "timestep.csv")[0]["average (paper)"] == "0.089"


def test_the_noise_study(home: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pfmhr.studies.noise.LATENCY_BATCH", 32)
    assert study(home, tmp_path, "noise", "--transitions", "40", "--motions", "3") == 0
    result, rows = written(tmp_path, "noise")
    assert [row["samples"] for row in result["rows"]] == [1, 2, 4, 8, 128]
    assert result["rows"][-1]["rank_correlation"] == pytest.approx(1.0) and result["latency_batch"] == 32
    assert [row["rank_correlation (paper)"] for row in rows] == ["0.976", "0.981", "0.99", "0.996", "1.0"]
    assert "noise.json" in capsys.readouterr().out.splitlines()[-1]


def test_the_perturbation_study_of_clips_the_prior_has_not_seen(home: Path, tmp_path: Path, capsys: Capture) -> None:
    assert study(home, tmp_path, "perturbation", "--clips", "held-out", "--transitions", "100") == 0
    result, rows = written(tmp_path, "perturbation")
    assert len(rows) == len(result["rows"]) == 4 + 6 + 4 + 4
    assert result["clips"] == "held-out"
    by_kind = {(row["perturbation"], row["severity"]): row for row in result["rows"]}
    assert by_kind["sign_flip", 1.0]["normalised_score"] == pytest.approx(1.0, abs=1e-4)  # the change backwards
    assert by_kind["sign_flip", 1.0]["region_agreement"] == 1.0
    assert {row["normalised_score (paper)"] for row in rows} >= {"0.984", "0.268", "1.0"}
    assert 100 <= result["transitions"] < 111
    assert f"{result['transitions']} transitions" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.usefixtures("unpictured")
def test_seen_and_unseen_clips_are_together_all(home: Path, tmp_path: Path) -> None:
    counts = {}
    for clips in ("all", "trained", "held-out"):
        arguments = ("--clips", clips, "--transitions", "100000", "--times", "0.5")
        assert study(home, tmp_path, "timestep", *arguments) == 0
        counts[clips] = json.loads((tmp_path / "timestep.json").read_text())["transitions"]
    assert counts["trained"] + counts["held-out"] == counts["all"] and min(counts.values()) > 50


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--times", "1.0"], "flow time"),
        (["--transitions", "-5"], "--transitions must be at least 1 (got -5)"),
        (["--motions", "0"], "--motions must be at least 1 (got 0)"),
        (["--seed", "-1"], "--seed must be 0 or more (got -1)"),
        (["--data", "nowhere"], "no such file or folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_of_a_study_is_one_message(
    more: list[str], message: str, home: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert study(home, tmp_path, "timestep", *more) == 2
    said = capsys.readouterr().err
    assert said.startswith("pfmhr: ") and message in said


# bench


def test_the_benchmark_of_the_score(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(command: list[str], **_: Any) -> SimpleNamespace:
        """Runs what would be run in a process of its own."""
        codes.append(command[2])
        with redirect_stdout(io.StringIO()) as out:
            exec(command[2], {})
        return SimpleNamespace(stdout=out.getvalue())

    codes: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", here)
        patch.setattr("pfmhr.bench.score.provenance", lambda: {"commit": "known"})
        command = ["bench", "score", "--preset", "tiny", "--batch", "64", "--repeats", "1", "--threads", "1"]
        assert main([*command, "--output", str(tmp_path / "bench.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "bench.json").read_text())
    ways = {"bare_products", "jvp_with_a_time_per_pose", "jvp", "fused_float32", "three_denoiser_calls"}
    ways |= {"three_fused_denoiser_calls"}
    assert ways <= set(printed["milliseconds"]) == set(printed["ratio"])
    assert all(value > 0 for value in printed["milliseconds"].values()) and printed["ratio"]["bare_products"] == 1.0
    assert (printed["preset"], printed["batch"], printed["threads"]) == ("tiny", 64, 1)
    assert set(printed["peak_extra_megabytes"]) == {"64", "512"} and printed["commit"] == "known"
    assert len(codes) == 2 and "'tiny', 512" in codes[1]
