"""A tracking run read from its directory: settings, robot, clips and policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.foreign import read_json
from pfmhr.layout import RUN
from pfmhr.learning.state import load_state
from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import MotionLibrary
from pfmhr.tracking.ppo.networks import Policy, TrackerNetwork
from pfmhr.tracking.runs.directory import clip_path, require_entries
from pfmhr.tracking.runs.evaluation import Evaluator
from pfmhr.tracking.runs.training import CHECKPOINT
from pfmhr.tracking.settings import tracker_config_from_json
from pfmhr.tracking.spec import Clip, RunSpec


def spec_of_run(directory: Path) -> RunSpec:
    """What a run was begun with, from the clips that it keeps and the prior where it says: to go on with it anywhere.

    ``spec_of_run(directory).train(directory)`` goes on with a run that was moved together with its prior.
    """
    about = read_about(directory)
    config = tracker_config_from_json(about["config"], directory / RUN)
    prior = directory / str(about.get("prior", config.modulator.prior))
    if config.modulator.prior and prior.is_dir():
        config = replace(config, modulator=replace(config.modulator, prior=str(prior)))
    names = _clip_names(directory, about["motions"])
    clips = [Clip(str(clip_path(directory, number)), name=name) for number, name in enumerate(names)]
    return RunSpec(tuple(clips), about["robot"], config)


def read_about(directory: Path) -> dict[str, Any]:
    """What a run says of itself."""
    try:
        about = read_json(directory / RUN, "bad_run")
    except FileNotFoundError:
        raise InputError("not a tracking run", where=directory, expected=RUN, code="not_found") from None
    if not isinstance(about, dict) or about.get("kind") != "tracker":
        raise InputError("not a tracking run", where=directory, code="bad_run")
    require_entries(about, directory / RUN, config=dict, robot=str, robot_sha256=str, motions=list)
    return about


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
        # What the run says of itself, and whether its parts are those it was trained with.
        about = read_about(directory)
        if not (directory / CHECKPOINT).exists():
            raise InputError("this run has no checkpoint yet", where=directory, code="not_found")
        config = tracker_config_from_json(about["config"], directory / RUN)
        robot = _robot(about["robot"], about["robot_sha256"])
        clips = _clips(directory, about["motions"], robot)
        # The policy, with weights from the checkpoint.
        state = _checkpoint(directory / CHECKPOINT, config)
        actor, library = _new_actor(robot, clips, config)
        try:
            actor.load_state_dict(state.weights)
        except RuntimeError as error:
            raise _unfitting(directory / CHECKPOINT, str(error)) from None
        policy, samples = Policy(actor).eval(), state.iteration * config.samples_per_iteration
        return TrackerRun(directory, config, robot, clips, library, policy, state.deviation, samples)

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


def _robot(name: str, sha256: str) -> Robot:
    robot = Robot.load(name)
    if robot.sha256 != sha256:
        fix = "Put back the robot's file, or train anew."
        raise InputError("the robot is not the one it was trained with", where=robot.path, fix=fix, code="bad_run")
    return robot


def _new_actor(robot: Robot, clips: Sequence[Motion], config: TrackerConfig) -> tuple[TrackerNetwork, MotionLibrary]:
    """A network of the run's size, and the library of its clips."""
    # The widths of the policy follow from the observations; one environment shows them.
    one = TrackingEnvironment(robot, clips, replace(config.environment, environments=1), threads=1)
    with torch.random.fork_rng(devices=[]):  # weights that are replaced at once should cost nobody random numbers
        actor = TrackerNetwork(one.get_observations(), "actor", robot.num_joints, config.agent)
    one.simulation.close()
    return actor, one.library


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
    names = _clip_names(directory, listed)
    read = [Motion.read(clip_path(directory, number), robot) for number in range(len(names))]
    return tuple(replace(motion, name=name) for motion, name in zip(read, names, strict=True))


def _clip_names(directory: Path, listed: Sequence[Any]) -> list[str]:
    names = [kept.get("name") if isinstance(kept, dict) else None for kept in listed]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError("a damaged run: its motions have no names", where=directory / RUN, code="bad_run")
    return [str(name) for name in names]
