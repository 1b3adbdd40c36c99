"""Runs: the same command resumes an unfinished one, accepts a finished one, refuses another's directory."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pfmhr
from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.split import held_out_sources, split_by_source
from pfmhr.errors import InputError
from pfmhr.files import exclusive
from pfmhr.layout import CONFIG
from pfmhr.learning import (
    Progress,
    Say,
    claim,
    given_up,
    is_done,
    processes,
    require_memory,
    run_loop,
    said_by_first,
)
from pfmhr.prior.config import PriorConfig, TrainConfig, as_json
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_denoiser
from pfmhr.prior.training import PriorTask
from pfmhr.robots import Robot

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
    if config.mixture is not None:
        fix = "Fit it to the corpus: `pfmhr prior fit`."
        raise InputError("a mixture of Gaussians is fitted, not trained", fix=fix, code="bad_config")
    about = _about(corpus, config, train, start)
    rank, world = processes()
    if said_by_first(rank == 0 and is_done(directory, about, finished=CONFIG)):
        if rank == 0:
            say(f"already trained: {directory}")
        return PosePrior.load(directory)
    # Everything that can be wrong is found before anything is written.
    task = _prepare(corpus, robot, config, train, start, rank, world)
    # Two processes on one run would write the same checkpoints and a log of twice as many lines.
    with exclusive(directory) if rank == 0 else nullcontext():
        if rank == 0:
            claim(directory, about, finished=CONFIG)
        with given_up(directory):
            averaged = run_loop(directory, task, train, say, progress)
        return _finish(directory, task, averaged, about, rank)


def _prepare(
    corpus: PoseCorpus,
    robot: Robot,
    config: PriorConfig,
    train: TrainConfig,
    start: PosePrior | None,
    rank: int,
    world: int,
) -> PriorTask:
    """The split, the normalisation, and the weights to start from: those of ``start``, or new ones."""
    corpus.require(robot)
    if train.distinct_times % world:
        raise InputError(
            "distinct_times must divide among processes", expected=f"a multiple of {world}", got=train.distinct_times,
            code="bad_config",
        )  # fmt: skip
    least = 2 * robot.num_joints + config.network.depth * config.network.linears_per_block * config.network.width
    require_memory(train.batch_size, least, world)  # poses, noise, and what each linear map gives for its gradient
    before = () if start is None else start.about.get("held_out_sources", ())
    split = split_by_source(corpus, train.held_out, train.seed, before)
    model = new_denoiser(config, robot.num_joints, train.seed)
    if start is None:
        rows = split.train.spread(NORMALISATION_POSES)
        normalisation = Normalisation.fit(config.normalisation, robot, corpus, rows)
    else:
        start.require(robot)
        normalisation = start.normalisation
        model.load_state_dict(start.denoiser.state_dict())
    used = PosePrior(config, normalisation, robot.name, robot.joint_names, new_denoiser(config, robot.num_joints))
    return PriorTask(corpus, split, config, train, used, model, rank, world)


def _finish(directory: Path, task: PriorTask, averaged: Any, about: dict[str, Any], rank: int) -> PosePrior:
    """The averaged weights as a frozen prior, written by the first process."""
    prior = task.prior
    prior.denoiser.load_state_dict(averaged.state_dict())
    prior.denoiser.eval().requires_grad_(False)
    prior.about = {
        **about,
        "steps": task.train.steps,
        "held_out_loss": task.held_out_loss(prior.denoiser),
        "held_out_sources": held_out_sources(task.corpus, task.split),
        "finished": True,
    }
    if rank == 0:
        prior.save(directory)
    return prior


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
