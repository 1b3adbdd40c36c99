"""The prior from the command line, end to end on embedded motions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pfmhr.cli import main
from pfmhr.corpus import build_corpus
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion, embedded_motions
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot

Capture = pytest.CaptureFixture[str]
SHORT = ["--preset", "tiny", "--steps", "30", "--batch-size", "128", "--threads", "1"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prior") / "corpus"
    build_corpus(folder, embedded_motions(2), Robot.load("g1"))
    return folder


@pytest.fixture(scope="module")
def prior(corpus: Path) -> Path:
    assert main(["prior", "train", str(corpus), "-o", str(corpus.parent / "prior"), *SHORT]) == 0
    return corpus.parent / "prior"


def test_training_again_says_it_is_done_and_other_settings_are_refused(
    prior: Path, corpus: Path, capsys: Capture
) -> None:
    assert main(["prior", "train", str(corpus), "-o", str(prior), *SHORT]) == 0
    assert "already trained" in capsys.readouterr().out
    assert main(["prior", "train", str(corpus), "-o", str(prior), *SHORT, "--seed", "5"]) == 2
    assert "another run is already here" in capsys.readouterr().err


def test_what_a_prior_is_can_be_asked(prior: Path, capsys: Capture) -> None:
    assert main(["prior", "info", str(prior), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["robot"], facts["joints"], facts["network"]["width"]) == ("g1", 29, 64)
    assert facts["about"]["training"]["steps"] == 30


def test_evaluation_writes_figures_and_a_page(prior: Path, corpus: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["prior", "eval", str(prior), str(corpus), "-o", str(tmp_path / "eval"), "--poses", "300"]) == 0
    figures = json.loads((tmp_path / "eval" / "eval.json").read_text())
    assert set(figures["jacobian"]) == {"0.5", "0.75", "0.9"}
    assert figures["two_halves_of_the_data"]["wasserstein_per_joint"] > 0
    assert (tmp_path / "eval" / "eval.png").stat().st_size > 50_000


def test_an_evaluation_of_fewer_poses_than_panels_is_drawn(prior: Path, corpus: Path, tmp_path: Path) -> None:
    assert main(["prior", "eval", str(prior), str(corpus), "-o", str(tmp_path / "eval"), "--poses", "8"]) == 0
    assert (tmp_path / "eval" / "eval.png").exists()


def test_an_extended_prior_shares_as_many_times(corpus: Path, tmp_path: Path) -> None:
    """96 poses cannot be shared among the usual 64 times."""
    size = ["--steps", "4", "--batch-size", "96", "--threads", "1"]
    train = ["prior", "train", str(corpus), "-o", str(tmp_path / "prior"), "--preset", "tiny", "--distinct-times", "8"]
    assert main([*train, *size]) == 0
    extend = ["prior", "extend", str(tmp_path / "prior"), str(corpus), *size]
    assert main(extend) == 0
    assert main([*extend, "-o", str(tmp_path / "other"), "--distinct-times", "4"]) == 0
    found = [PosePrior.load(tmp_path / name).about["training"] for name in ("prior-extended", "other")]
    assert [each["distinct_times"] for each in found] == [8, 4]


def test_samples_are_written_as_a_motion(prior: Path, tmp_path: Path, g1: Robot, capsys: Capture) -> None:
    assert main(["prior", "sample", str(prior), "-o", str(tmp_path / "poses.npz"), "--count", "7"]) == 0
    assert Motion.read(tmp_path / "poses.npz", g1).joint_pos.shape == (7, 29)


def test_samples_do_not_get_the_names_of_another_robot_s_joints(prior: Path, tmp_path: Path, capsys: Capture) -> None:
    text = Robot.load("g1").path.read_text()
    swapped = text.replace("left_", "?_").replace("right_", "left_").replace("?_", "right_")
    (tmp_path / "g1.xml").write_text(swapped)
    line = ["prior", "sample", str(prior), "-o", str(tmp_path / "poses.npz"), "--robot", str(tmp_path / "g1.xml")]
    assert main(line) == 2 and "joints" in capsys.readouterr().err
    assert not (tmp_path / "poses.npz").exists()


def test_an_extended_prior_holds_out_what_the_first_did(corpus: Path, tmp_path: Path) -> None:
    words = ["-o", str(tmp_path / "prior"), *SHORT, "--held-out", "0.4", "--seed", "7"]
    assert main(["prior", "train", str(corpus), *words]) == 0
    extend = ["prior", "extend", str(tmp_path / "prior"), str(corpus), "--steps", "5", "--batch-size", "128"]
    assert main([*extend, "--threads", "1"]) == 0
    first, second = (PosePrior.load(tmp_path / name).about for name in ("prior", "prior-extended"))
    assert second["held_out_sources"] == first["held_out_sources"] and len(first["held_out_sources"]) > 2
    assert (second["training"]["held_out"], second["training"]["seed"]) == (0.4, 7)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("--learning-rate nan", "learning_rate must be above 0 (got nan)"),
        ("--learning-rate 0", "learning_rate must be above 0 (got 0.0)"),
        ("--learning-rate -1", "learning_rate must be above 0 (got -1.0)"),
        ("--held-out 0", "the held-out share must lie between 0 and 1 (got 0.0)"),
        ("--held-out 1", "the held-out share must lie between 0 and 1 (got 1.0)"),
        ("--held-out nan", "the held-out share must lie between 0 and 1 (got nan)"),
        ("--time.mean nan", "mean and spread of flow times must be finite"),
        ("--time.std inf", "mean and spread of flow times must be finite"),
        ("--batch-size 64000000000000", "a batch does not fit into memory"),
        (f"--seed {2**64}", "seed must be a 64-bit number"),
    ],
)
def test_a_refused_command_leaves_nothing_behind(
    wrong: str, message: str, corpus: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["prior", "train", str(corpus), "-o", str(tmp_path / "run"), *SHORT, *wrong.split()]) == 2
    said = capsys.readouterr().err
    assert said.startswith("pfmhr: ") and message in said
    assert not (tmp_path / "run").exists()


def test_a_corpus_and_a_folder_of_motions_are_no_places_for_a_run(
    corpus: Path, tmp_path: Path, g1: Robot, capsys: Capture
) -> None:
    (tmp_path / "clips").mkdir()
    embedded_motion("walk", g1).write(tmp_path / "clips" / "walk.npz", g1)
    for place in (corpus, tmp_path / "clips"):
        before = {file.name for file in place.iterdir()}
        assert main(["prior", "train", str(corpus), "-o", str(place), *SHORT]) == 2
        assert "the directory holds other files" in capsys.readouterr().err
        assert {file.name for file in place.iterdir()} == before


def test_a_refused_extension_leaves_nothing_behind(prior: Path, corpus: Path, tmp_path: Path, capsys: Capture) -> None:
    extend = ["prior", "extend", str(prior), str(corpus), "-o", str(tmp_path / "more"), "--learning-rate", "nan"]
    assert main(extend) == 2
    assert "learning_rate must be above 0 (got nan)" in capsys.readouterr().err
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prior", "info", "nothing"], "unknown prior 'nothing'"),
        (["prior", "train", "absent", "-o", "x"], "no corpus here"),
    ],
)
def test_wrong_use_is_one_message(arguments: list[str], message: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
