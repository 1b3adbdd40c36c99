"""A robot that is not bundled is found again from what was made for it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.subsets import make_subset
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior, PriorConfig, TrainConfig, preset, train_prior
from pfmhr.robots import Robot

from .bodies import quadruped

QUICK = TrainConfig(steps=2, batch_size=64, distinct_times=4, warmup=1, held_out=0.2)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a robot, a corpus, a subset of it and a prior."""
    robot = quadruped(tmp_path)
    rng = np.random.default_rng(0)
    clips = []
    for number in range(5):
        steps = np.cumsum(0.01 * rng.standard_normal((80, robot.num_joints)), axis=0)
        clips.append(Motion.from_arrays(robot, steps, fps=30, name=f"clip{number}"))
    corpus = PoseCorpus.build(tmp_path / "corpora" / "own", clips, robot)
    make_subset(corpus, tmp_path / "part", 100)
    train_prior(tmp_path / "runs" / "prior", corpus, robot, PriorConfig(network=preset("tiny")), QUICK)
    return tmp_path


def test_corpus_subset_and_prior_know_their_robot_wherever_the_tree_is(
    made: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    moved = tmp_path_factory.mktemp("elsewhere") / "tree"
    shutil.copytree(made, moved)
    for folder in (made, moved):
        things = (PoseCorpus.open(folder / "corpora" / "own"), PoseCorpus.open(folder / "part"))
        for thing in (*things, PosePrior.load(folder / "runs" / "prior")):
            assert thing.load_robot().path == folder / "own.xml"
    stated = json.loads((made / "runs" / "prior" / "config.json").read_text())["robot_file"]
    assert stated["path"] == "../../own.xml" and len(stated["sha256"]) == 64
    saved = PosePrior.load(made / "runs" / "prior")
    saved.save(moved / "copy")
    assert PosePrior.load(moved / "copy").load_robot().path == made / "own.xml"


def test_commands_need_no_robot(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = Robot.load(made / "own.xml")
    poses = np.cumsum(0.01 * np.ones((40, robot.num_joints)), axis=0)
    Motion.from_arrays(robot, poses, fps=30, name="drift").write(made / "drift.npz")
    prior = str(made / "runs" / "prior")
    assert main(["calibrate", str(made / "drift.npz"), "--prior", prior, "-o", str(made / "c.npz")]) == 0
    (made / "own.xml").write_text((made / "own.xml").read_text().replace("0.2", "0.21"))
    assert main(["calibrate", str(made / "drift.npz"), "--prior", prior, "-o", str(made / "d.npz")]) == 2
    assert "the robot's file has changed, or its roles. Name the robot with --robot" in capsys.readouterr().err
    named = ["--robot", str(made / "own.xml")]
    assert main(["calibrate", str(made / "drift.npz"), "--prior", prior, "-o", str(made / "d.npz"), *named]) == 0


def test_a_file_that_is_gone_is_said_to_be(made: Path) -> None:
    (made / "own.xml").unlink()
    with pytest.raises(InputError, match=r"own.xml: the robot's file is not here any more.*--robot"):
        PoseCorpus.open(made / "part").load_robot()


def test_a_bundled_robot_is_known_by_its_name(g1: Robot, tmp_path: Path) -> None:
    """Manifests and configs stay as they were, and those of earlier versions are read."""
    corpus = PoseCorpus.from_array(tmp_path / "g1", np.zeros((3, 29)), g1)
    assert corpus.load_robot().path == g1.path and "robot_file" not in (tmp_path / "g1" / "manifest.json").read_text()
    prior = PosePrior.load("g1-small")
    assert prior.robot_file is None and prior.load_robot().path == g1.path
    prior.save(tmp_path / "prior")
    assert "robot_file" not in (tmp_path / "prior" / "config.json").read_text()
