"""A tracker's run: run.json beside a clip and a checkpoint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch

from pfmhr.learning.state import save_state
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot
from pfmhr.tracking.config import AgentConfig, EnvironmentConfig, TrackerConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.ppo.networks import TrackerNetwork
from pfmhr.tracking.runs import TrackerRun
from pfmhr.tracking.runs.training import CHECKPOINT
from pfmhr.tracking.settings import tracker_config_from_json
from tests.fuzz.documents import JSON_TREE, TEXT, to_json
from tests.fuzz.drafts import Stage, at, develop
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.typed import ill_typed

RUN = "run.json"
CLIP = "motions/0000.npz"
WHOLE_SHARE = 0.1
"""Of the cases that many have a checkpoint that fits, and make an environment if they load."""


def make_kind(name: str, scratch: Path) -> Kind:
    torch.set_num_threads(1)
    robot = Robot.load("g1")
    walk = embedded_motion("walk", robot).frames(0, 12)
    config = TrackerConfig(environment=EnvironmentConfig(environments=2), agent=AgentConfig(hidden=(4,), minibatches=2))
    walk.write(scratch / "clip.npz")
    save_state(scratch / CHECKPOINT, _state(robot, walk, config))
    about = {
        "kind": "tracker",
        "robot": "g1",
        "robot_sha256": hashlib.sha256(robot.path.read_bytes()).hexdigest(),
        "prior_sha256": None,
        "motions": [{"name": "walk", "sha256": "0" * 64}],
        "config": asdict(config),
        "code_version": "0.1.0",
    }
    files = {CLIP: (scratch / "clip.npz").read_bytes(), CHECKPOINT: (scratch / CHECKPOINT).read_bytes()}
    return Kind(partial(_make, json.dumps(about), files), _read, (RUN, *files))


def _state(robot: Robot, walk: Any, config: TrackerConfig) -> dict[str, Any]:
    one = TrackingEnvironment(robot, (walk,), replace(config.environment, environments=1), threads=1)
    actor = TrackerNetwork(one.get_observations(), "actor", robot.num_joints, config.agent)
    one.simulation.close()
    return {"algorithm": {"actor_state_dict": actor.state_dict()}, "iteration": 3}


def _make(about: str, files: dict[str, bytes], random: Random) -> tuple[Files, tuple[str, ...]]:
    beside = files if random.random() < WHOLE_SHARE else {**files, CHECKPOINT: b"no checkpoint"}
    stages = (
        Stage(6, JSON_TREE, lambda tree: {RUN: to_json(tree), **beside}),
        Stage(1.5, at(RUN, TEXT)),
        Stage(0.5, at(RUN, BYTES)),
        Stage(0.2, PLACES),
    )
    made, changes = develop(random, json.loads(about), stages)
    return ({**made, **files} if not changes else made), changes


def _read(folder: Path) -> str | None:
    wrong = _config_complaint(folder / RUN)
    if wrong is not None:
        return wrong
    run = TrackerRun.load(folder)
    return ill_typed(run.samples, int, "samples") or ill_typed(run.config, TrackerConfig, "config")


def _config_complaint(path: Path) -> str | None:
    """The settings alone, whatever is said of the checkpoint."""
    try:
        content = json.loads(path.read_bytes() if path.is_file() else b"")["config"]
    except Exception:
        return None  # for the run's own reader to say
    return ill_typed(tracker_config_from_json(content), TrackerConfig, "config")
