"""Runs: the same command resumes an unfinished one, accepts a finished one, refuses another's directory."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pfmhr
from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.split import split_by_source
from pfmhr.errors import InputError
from pfmhr.files import exclusive, write_json
from pfmhr.prior.config import PriorConfig, TrainConfig, as_json
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_denoiser
from pfmhr.prior.training import Progress, Say, Training, processes, run_training
from pfmhr.robots import Robot

RUN = "run.json"
NORMALISATION_POSES = 1_000_000


def train_prior(
    directory: Path,
    corpus: PoseCorpus,
    robot: Robot,
    config: PriorConfig,
    train: TrainConfig,
    say: Say = lambda _: None,
    progress: Progress | None = None,
) -> PosePrior:
    """Train a prior from scratch into ``directory``, resuming what is there."""
    return _run(directory, corpus, robot, config, train, None, say, progress)


def extend_prior(
    prior: PosePrior,
    directory: Path,
    corpus: PoseCorpus,
    robot: Robot,
    train: TrainConfig,
    say: Say = lambda _: None,
    progress: Progress | None = None,
) -> PosePrior:
    """Go on training a prior on more data into a directory of its own, with the same normalisation.

    The prior it starts from stays as it is: calibrations made with it remain valid.
    """
    return _run(directory, corpus, robot, prior.config, train, prior, say, progress)


def _run(
    directory: Path,
    corpus: PoseCorpus,
    robot: Robot,
    config: PriorConfig,
    train: TrainConfig,
    start: PosePrior | None,
    say: Say,
    progress: Progress | None,
) -> PosePrior:
    about = _about(corpus, config, train, start)
    rank, world = processes()
    # Two processes on one run would write the same checkpoints and a log of twice as many lines.
    with exclusive(directory) if rank == 0 else nullcontext():
        if rank == 0 and _claim(directory, about):
            say(f"already trained: {directory}")
            return PosePrior.load(directory)
        training = _prepare(directory, corpus, robot, config, train, start, rank, world)
        training.about = about
        return run_training(training, say, progress)


def _prepare(
    directory: Path,
    corpus: PoseCorpus,
    robot: Robot,
    config: PriorConfig,
    train: TrainConfig,
    start: PosePrior | None,
    rank: int,
    world: int,
) -> Training:
    """The split, the normalisation, and the weights to start from: those of ``start``, or new ones."""
    corpus.require(robot)
    if train.distinct_times % world:
        raise InputError(
            "distinct_times must divide among processes", expected=f"a multiple of {world}", got=train.distinct_times,
            code="bad_config",
        )  # fmt: skip
    split = split_by_source(corpus, train.held_out, train.seed)
    model = new_denoiser(config, robot.num_joints, train.seed)
    if start is None:
        rows = split.train.spread(NORMALISATION_POSES)
        normalisation = Normalisation.fit(config.normalisation, robot, corpus, rows)
    else:
        start.require(robot)
        normalisation = start.normalisation
        model.load_state_dict(start.denoiser.state_dict())
    used = PosePrior(config, normalisation, robot.name, robot.joint_names, new_denoiser(config, robot.num_joints))
    return Training(directory, corpus, split, config, train, used, model, rank=rank, world=world)


def _about(corpus: PoseCorpus, config: PriorConfig, train: TrainConfig, start: PosePrior | None) -> dict[str, Any]:
    return {
        "corpus": {
            "fingerprint": corpus.manifest.fingerprint,
            "additions": list(corpus.manifest.additions),
            "poses": len(corpus),
            "sources": len(corpus.sources),
        },
        "prior": as_json(config),
        "training": as_json(train),
        "extends": start.hash if start else None,
        "code_version": pfmhr.__version__,
    }


def _claim(directory: Path, about: dict[str, Any]) -> bool:
    """Make the directory this run's; True if the run is already finished there."""
    path = directory / RUN
    if not path.exists():
        if (directory / "config.json").exists():
            raise InputError("a prior from elsewhere is already here", where=directory, code="exists")
        directory.mkdir(parents=True, exist_ok=True)
        write_json(path, about)
        return False
    try:
        before = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"unreadable JSON: {error}", where=path, code="bad_run") from error
    different = [f"{key}: {_brief(before.get(key), value)}" for key, value in about.items() if before.get(key) != value]
    if different:
        raise InputError(
            "another run is already here",
            where=directory,
            got="; ".join(different)[:400],
            fix="Use the same settings to go on with it, or another directory.",
            code="exists",
        )
    return (directory / "config.json").exists()


def _brief(before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        return ", ".join(f"{key} {before.get(key)} → {value}" for key, value in now.items() if before.get(key) != value)
    return f"{before} → {now}"
