"""Tracking runs on disk: settings, reference clips, metrics, checkpoint and, at the end, the policy and its result."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any

import torch

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import exclusive, make_folder, write_json
from pfmhr.foreign import read_json
from pfmhr.layout import EPISODES, RESULT, RUN
from pfmhr.learning import claim, is_done
from pfmhr.motion import Motion
from pfmhr.results.evaluation import with_horizons
from pfmhr.results.records import to_json
from pfmhr.results.run_result import CONVERGED, RunResult, read_result
from pfmhr.robots import Robot
from pfmhr.robots.robot import bundled_robots
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.modulation import prior_hash
from pfmhr.tracking.older import modern_run
from pfmhr.tracking.runs.evaluation import Evaluator, from_both_starts
from pfmhr.tracking.runs.training import Progress, Say, Training, samples_to
from pfmhr.tracking.settings import plain_config

CLIPS = "motions"


def train_tracker(
    directory: Path,
    robot: Robot,
    motions: Sequence[Motion],
    config: TrackerConfig,
    threads: int | None = None,
    say: Say = lambda _: None,
    progress: Progress | None = None,
    made_by: Mapping[str, Any] | None = None,
) -> RunResult:
    """Train a tracker into ``directory``, resuming what is there; returns its result.

    A run that is there with fewer samples goes on to as many as asked for, as if it had never stopped. What
    ``made_by`` says of command, code and machine is kept in the result and decides nothing.
    """
    about = _with_prior_as_there(directory, _about(directory, robot, motions, config))
    if not _is_shorter(directory, about) and is_done(directory, about, finished=RESULT, modern=modern_run):
        say(f"already trained: {directory}")
        return read_result(directory)
    # Everything that can be wrong is found before anything is written.
    training = Training(directory, robot, motions, config, threads)
    with exclusive(directory):
        _lengthen(directory, about)
        claim(directory, about, finished=RESULT, modern=modern_run)
        _keep(directory, motions)
        training.run(say, progress)
        return _finish(directory, training, threads, made_by or {})


def _about(directory: Path, robot: Robot, motions: Sequence[Motion], config: TrackerConfig) -> dict[str, Any]:
    """Everything that decides a run."""
    return {
        "kind": "tracker",
        "robot": robot.name if robot.name in bundled_robots() else str(robot.path.absolute()),
        "robot_sha256": robot.sha256,
        "prior": prior_from_run(directory, config.modulator.prior),
        "prior_sha256": prior_hash(config.modulator),
        "motions": [{"name": motion.name, "sha256": _fingerprint(motion)} for motion in motions],
        "config": plain_config(config),
        "code_version": pfmhr.__version__,
    }


def prior_from_run(directory: Path, prior: str) -> str:
    """How a run names its prior: a directory relative to itself, so that both can be moved, or a name as it is."""
    return os.path.relpath(prior, directory) if prior and Path(prior).is_dir() else prior


def _with_prior_as_there(directory: Path, about: dict[str, Any]) -> dict[str, Any]:
    """The same; a prior of the same hash as that of the run that is there is that prior, wherever both lie now."""
    try:
        before = modern_run(read_json(directory / RUN, "bad_run"))
        same = before["prior_sha256"] == about["prior_sha256"]
        named = before["config"]["modulator"]["prior"]
    except (FileNotFoundError, InputError, KeyError, TypeError):
        return about  # nothing there, or nothing of ours: that is for others to say
    if not same:
        return about
    modulator = {**about["config"]["modulator"], "prior": named}
    about = {**about, "config": {**about["config"], "modulator": modulator}}
    where = {"prior": before["prior"]} if "prior" in before else {}  # earlier versions did not say
    return {**{name: value for name, value in about.items() if name != "prior"}, **where}


def _is_shorter(directory: Path, about: dict[str, Any]) -> bool:
    """Whether the same run is there with fewer samples."""
    try:
        before = modern_run(read_json(directory / RUN, "bad_run"))
        shorter = before["config"]["samples"] < about["config"]["samples"]
    except (FileNotFoundError, InputError, KeyError, TypeError):
        return False  # nothing there, or nothing of ours: that is for others to say
    return shorter and {**before, "config": {**before["config"], "samples": about["config"]["samples"]}} == about


def _lengthen(directory: Path, about: dict[str, Any]) -> None:
    """If the same run is there with fewer samples, it is not finished any more, and has as many as ``about`` says."""
    if _is_shorter(directory, about):
        (directory / RESULT).unlink(missing_ok=True)  # first: killed in between, the run is as it was, but unfinished
        write_json(directory / RUN, about)


def require_entries(content: Any, path: Path, **kinds: type | UnionType) -> None:
    """Refuse a file of a run that lacks an entry, or has something else in its place."""
    entries = content if isinstance(content, dict) else {}
    wrong = [name for name, kind in kinds.items() if not isinstance(entries.get(name), kind)]
    if wrong:
        what = f"a damaged run: {', '.join(wrong)} missing or of another kind"
        raise InputError(what, where=path, expected="what `pfmhr track train` writes", code="bad_run")


def _finish(directory: Path, training: Training, threads: int | None, made_by: Mapping[str, Any]) -> RunResult:
    config = training.config
    robot, clips, library = training.environment.robot, training.motions, training.environment.library
    policy, episodes, longest = training.policy().eval(), max(256, config.evaluation_episodes), max(config.evaluated)
    found = from_both_starts(
        lambda count: Evaluator(
            robot, clips, config.environment, count, horizon=longest, threads=threads, library=library
        ),
        *(episodes, policy, config.evaluated, 1),
    )
    seconds = {**training.seconds, **training.algorithm.seconds}
    result = RunResult(
        motions=tuple(motion.name for motion in training.motions),
        seed=config.seed,
        modulator=config.modulator.kind,
        reward=config.reward,
        actions=config.environment.actions,
        samples=training.samples,
        samples_to_80=samples_to(training.evaluations, CONVERGED),
        grid=config.evaluate_every * config.samples_per_iteration,
        seconds=round(training.elapsed, 1),
        time_shares={name: round(value / sum(seconds.values()), 3) for name, value in seconds.items()},
        threads=torch.get_num_threads(),
        exploded=training.environment.counts["exploded"],
        final={"random": with_horizons(found.random), "beginning": with_horizons(found.beginning)},
        evaluations=tuple(training.evaluations),
        prior_sha256=prior_hash(config.modulator),
        clips_sha256=hashlib.sha256("".join(map(_fingerprint, training.motions)).encode()).hexdigest(),
        made_by=dict(made_by),
    )
    found.episodes.save(directory / EPISODES)
    content = to_json(result)
    del content["summary"]  # which only runs have that are known from a report
    write_json(directory / RESULT, content)
    return result


def _keep(directory: Path, motions: Sequence[Motion]) -> None:
    """A run holds its own references, so that it can be evaluated wherever it goes."""
    make_folder(directory / CLIPS)
    for number, motion in enumerate(motions):
        path = clip_path(directory, number)
        if not path.exists():
            motion.write(path)


def clip_path(directory: Path, number: int) -> Path:
    """File of one of a run's clips."""
    return directory / CLIPS / f"{number:04d}.npz"


def _fingerprint(motion: Motion) -> str:
    digest = hashlib.sha256(repr((motion.fps, motion.loop, motion.joint_names)).encode())
    for values in (motion.joint_pos, motion.root_pos, motion.root_quat):
        digest.update(values.tobytes())
    return digest.hexdigest()
