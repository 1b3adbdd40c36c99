"""Tracking runs on disk: settings, reference clips, metrics, checkpoint and, at the end, the policy and its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any

import torch
from torch import Tensor

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import exclusive, make_folder, write_json
from pfmhr.foreign import read_json
from pfmhr.layout import EPISODES, RESULT, RUN
from pfmhr.learning import claim, is_done
from pfmhr.learning.state import load_state
from pfmhr.motion import Motion
from pfmhr.results.evaluation import with_horizons
from pfmhr.results.records import to_json
from pfmhr.results.run_result import CONVERGED, RunResult, read_result
from pfmhr.robots import Robot
from pfmhr.robots.robot import bundled_robots
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.environment import TrackingEnvironment
from pfmhr.tracking.evaluation import Evaluator, from_both_starts
from pfmhr.tracking.library import MotionLibrary
from pfmhr.tracking.modulation import prior_hash
from pfmhr.tracking.networks import Policy, TrackerNetwork
from pfmhr.tracking.older import modern_run
from pfmhr.tracking.settings import tracker_config_from_json
from pfmhr.tracking.training import CHECKPOINT, Progress, Say, Training, samples_to

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
    about = {
        "kind": "tracker",
        "robot": robot.name if robot.name in bundled_robots() else str(robot.path.absolute()),
        "robot_sha256": robot.sha256,
        "prior_sha256": prior_hash(config.modulator),
        "motions": [{"name": motion.name, "sha256": _fingerprint(motion)} for motion in motions],
        "config": json.loads(json.dumps(asdict(config))),
        "code_version": pfmhr.__version__,
    }
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


@dataclass(frozen=True)
class TrackerRun:
    """A run that can be evaluated, watched or exported, finished or not."""

    directory: Path
    config: TrackerConfig
    robot: Robot
    motions: tuple[Motion, ...]
    library: MotionLibrary
    """Those, as environments want them: made once for all."""
    policy: Policy
    exploration: Tensor
    """(J,) deviation of the actions it explores with, by now."""
    samples: int

    @staticmethod
    def load(directory: Path) -> TrackerRun:
        """Read a run directory; no code from it is run."""
        try:
            about = read_json(directory / RUN, "bad_run")
        except FileNotFoundError:
            raise InputError("not a tracking run", where=directory, expected=RUN, code="not_found") from None
        if not isinstance(about, dict) or about.get("kind") != "tracker":
            raise InputError("not a tracking run", where=directory, code="bad_run")
        if not (directory / CHECKPOINT).exists():
            raise InputError("this run has no checkpoint yet", where=directory, code="not_found")
        require_entries(about, directory / RUN, config=dict, robot=str, robot_sha256=str, motions=list)
        config = tracker_config_from_json(about["config"], directory / RUN)
        robot = Robot.load(about["robot"])
        if robot.sha256 != about["robot_sha256"]:
            fix = "Put back the robot's file, or train anew."
            raise InputError("the robot is not the one it was trained with", where=robot.path, fix=fix, code="bad_run")
        clips = _clips(directory, about["motions"], robot)
        state = _checkpoint(directory / CHECKPOINT, config)
        # The widths of the policy follow from the observations; one environment shows them.
        one = TrackingEnvironment(robot, clips, replace(config.environment, environments=1), threads=1)
        with torch.random.fork_rng(devices=[]):  # weights that are replaced at once should cost nobody random numbers
            actor = TrackerNetwork(one.get_observations(), "actor", robot.num_joints, config.agent)
        one.simulation.close()
        try:
            actor.load_state_dict(state.weights)
        except RuntimeError as error:
            raise _unfitting(directory / CHECKPOINT, str(error)) from None
        policy, samples = Policy(actor).eval(), state.iteration * config.samples_per_iteration
        return TrackerRun(directory, config, robot, clips, one.library, policy, state.deviation, samples)

    def evaluator(
        self, episodes: int, horizon: float | None = None, distance: float | None = None, threads: int | None = None
    ) -> Evaluator:
        """Environments to evaluate this run's policy in."""
        return Evaluator(
            self.robot,
            self.motions,
            self.config.environment,
            episodes,
            horizon=horizon,
            distance=distance,
            threads=threads,
            library=self.library,
        )


@dataclass(frozen=True)
class _Checkpoint:
    """What of a checkpoint a policy needs."""

    weights: dict[str, Tensor]
    deviation: Tensor
    """(J,) of the actions."""
    iteration: int


def _checkpoint(path: Path, config: TrackerConfig) -> _Checkpoint:
    """Read a checkpoint; a config that asks for more than it holds is refused before a network is made."""
    state = load_state(path)
    try:
        weights = state["algorithm"]["actor_state_dict"]
        read = _Checkpoint(weights, weights["distribution.std_param"], int(state["iteration"]))
        widest = max(max(value.shape, default=0) for value in weights.values())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unfitting(path, f"no {error}") from None
    hidden = config.agent.hidden
    if len(hidden) > len(weights) or max(hidden, default=0) > widest:
        raise _unfitting(path, f"layers of {hidden} in the config, at most {widest} in the checkpoint")
    return read


def _unfitting(path: Path, got: str) -> InputError:
    return InputError("the checkpoint is not of the run beside it", where=path, got=got, code="bad_checkpoint")


def _clips(directory: Path, listed: Sequence[Any], robot: Robot) -> tuple[Motion, ...]:
    """The clips a run keeps. A clip's name decides its skill, and files of ours hold none."""
    names = [kept.get("name") if isinstance(kept, dict) else None for kept in listed]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError("a damaged run: its motions have no names", where=directory / RUN, code="bad_run")
    read = [Motion.read(_clip(directory, number), robot) for number in range(len(names))]
    return tuple(replace(motion, name=str(name)) for motion, name in zip(read, names, strict=True))


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
        path = _clip(directory, number)
        if not path.exists():
            motion.write(path)


def _clip(directory: Path, number: int) -> Path:
    return directory / CLIPS / f"{number:04d}.npz"


def _fingerprint(motion: Motion) -> str:
    digest = hashlib.sha256(repr((motion.fps, motion.loop, motion.joint_names)).encode())
    for values in (motion.joint_pos, motion.root_pos, motion.root_quat):
        digest.update(values.tobytes())
    return digest.hexdigest()
