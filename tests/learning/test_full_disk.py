"""A disk that is full at the first checkpoint: nothing of two runs is ever in one place."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch

from pfmhr.corpus import PoseCorpus
from pfmhr.distance import DistanceConfig, train_distance
from pfmhr.distance.network import DistanceNetworkConfig
from pfmhr.distance.pairs import Pairs
from pfmhr.errors import InputError
from pfmhr.files import disk_errors
from pfmhr.learning import state
from pfmhr.learning.logging import METRICS, read_metrics
from pfmhr.learning.runs import GIVEN_UP, RUN
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import train_prior
from pfmhr.robots import Robot
from pfmhr.tracking.runs import train_tracker

from ..prior.conftest import SMALL_RUN, TOY
from ..score.priors import refused
from ..tracking.learning import TINY

torch.set_num_threads(1)  # two test workers share two cores
TIMES = ("second", "time_")
FIELD = DistanceConfig(steps=20, batch_size=32, warmup=5, checkpoint_every=10, evaluate_every=20, log_every=5)


@dataclass(frozen=True)
class Trainer:
    """Trains into a directory with a seed; ``left`` to other settings if it fails before its first checkpoint."""

    train: Callable[[Path, int], Any]
    left: bool


@pytest.fixture(params=["prior", "distance", "tracker"])
def trainer(request: pytest.FixtureRequest, g1: Robot, tmp_path: Path) -> Trainer:
    poses = (g1.default_pose + 0.1 * np.random.default_rng(0).normal(size=(600, 29))).astype(np.float32)
    if request.param == "prior":
        corpus = PoseCorpus.from_array(tmp_path / "corpus", poses, robot=g1)
        return Trainer(lambda out, seed: train_prior(out, corpus, g1, TOY, replace(SMALL_RUN, seed=seed)), True)
    if request.param == "distance":
        pairs = Pairs(poses, np.full(600, 0.5, dtype=np.float32), {})
        learn = partial(train_distance, network=DistanceNetworkConfig(feature=8, hidden=8, head=(16,)))
        return Trainer(lambda out, seed: learn(out, pairs, g1, replace(FIELD, seed=seed)), True)
    short = replace(TINY, samples=48, environment=replace(TINY.environment, episode_seconds=0.1))
    walk = [embedded_motion("walk", g1)]
    return Trainer(lambda out, seed: train_tracker(out, g1, walk, replace(short, seed=seed), threads=1), False)


def full(path: Path, _write: object) -> NoReturn:
    """What the system says of a full disk."""
    with disk_errors(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    raise AssertionError


def figures(run: Path) -> list[dict[str, float]]:
    """What a run wrote as it went, but for how long things took."""
    return [
        {name: value for name, value in line.items() if not any(part in name for part in TIMES)}
        for line in read_metrics(run)
    ]


@pytest.mark.slow
def test_a_run_after_one_whose_disk_was_full_is_as_in_a_new_place(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same settings go on; others are refused, or find nothing of the first."""
    run = tmp_path / "run"
    with monkeypatch.context() as patch, refused("disk_full", "Free some space"):
        patch.setattr(state, "write_atomically", full)
        trainer.train(run, 0)
    assert figures(run) and (run / (GIVEN_UP if trainer.left else RUN)).exists()
    if not trainer.left:
        with refused("exists", "another run is already here", "seed 0 → 1"):
            trainer.train(run, 1)
    seed = 1 if trainer.left else 0
    trainer.train(run, seed)
    trainer.train(tmp_path / "new", seed)
    assert figures(run) == figures(tmp_path / "new") != []
    boards = [len(list((place / "tensorboard").glob("events*"))) for place in (run, tmp_path / "new")]
    assert boards[0] == (boards[1] if trainer.left else boards[1] + min(boards[1], 1))
    assert (run / RUN).read_bytes() == (tmp_path / "new" / RUN).read_bytes() and not (run / GIVEN_UP).exists()


@pytest.mark.parametrize("logs", [METRICS, "tensorboard"])
def test_logs_of_an_unknown_run_are_refused_and_kept(
    trainer: Trainer, tmp_path: Path, logs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / logs).write_text('{"step": 1, "loss": 2.0}\n')
    with refused("not_empty", logs, "another directory"):
        trainer.train(run, 0)
    assert [each.name for each in run.iterdir() if each.name != ".lock"] == [logs]


def test_a_run_whose_settings_could_not_be_written_leaves_no_logs(
    trainer: Trainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pfmhr.learning.runs.write_json", full)
    with pytest.raises(InputError, match="cannot write"):
        trainer.train(tmp_path / "run", 0)
    assert {each.name for each in (tmp_path / "run").iterdir()} <= {".lock"}
