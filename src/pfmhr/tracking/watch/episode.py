"""One episode of a trained policy, recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.robots.kinematics import heading
from pfmhr.sim import Box
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.runs import TrackerRun

Positions = NDArray[np.float64]
APART = 1.2
"""m between reference and rollout in a picture."""


@dataclass(frozen=True)
class Episode:
    """What happened: MuJoCo positions ``(T, 7 + J)`` before each control step."""

    robot: Robot
    boxes: tuple[Box, ...]
    reference: Positions
    rollout: Positions
    rate: float
    """Control steps per second."""
    tracked: float
    """s until the episode was lost, or its whole length."""
    possible: float
    """s it could have lasted."""
    lost: str
    """Why it was lost; empty if it was not."""

    @property
    def shifts(self) -> tuple[Positions, Positions]:
        """(3,) each: how far reference and rollout are moved aside, along what is left and right at the start."""
        left = np.array([-math.sin(self.heading), math.cos(self.heading), 0.0])
        return -0.5 * APART * left, 0.5 * APART * left

    @property
    def heading(self) -> float:
        """rad about z: where the reference looks at the start."""
        return heading(self.reference[0, 3:7])


def record_episode(run: TrackerRun, clip: int = 0, start: float = 0.0, seconds: float = 10.0) -> Episode:
    """Run the policy's mean actions for up to ``seconds``, from ``start`` s into a clip; lost as in evaluations."""
    rate = run.config.environment.control_rate
    if not (math.isfinite(seconds) and seconds * rate >= 1):
        raise InputError("too short to play", expected=f"at least {1 / rate:.3f} s", got=seconds, code="bad_input")
    if not 0 <= clip < len(run.motions):
        raise InputError(
            f"no clip {clip}", where=run.directory, expected=f"0 to {len(run.motions) - 1}", code="bad_input"
        )
    environment = run.evaluator(1, horizon=seconds, threads=1).environment
    library = environment.library
    length = int(library.length[clip]) / library.rate
    if not 0 <= start < length:
        raise InputError("no such moment of the clip", expected=f"0 to {length:.2f} s", got=start, code="bad_input")
    where, frame = torch.tensor([clip]), torch.tensor([min(round(start * library.rate), int(library.length[clip]) - 1)])
    left = -(-int(library.remaining(where, frame)) // environment.substeps)
    possible = max(1, min(left, environment.config.episode_steps))
    observations = environment.reset(where, frame)
    reference, rollout, failed = [], [], False
    for _ in range(possible):
        # Kept before each step: a lost episode is replaced by a new one within the step.
        reference.append(library.at(environment.clip, environment.frame).states()[0][0].numpy().astype(np.float64))
        rollout.append(environment.simulation.positions[0].copy())
        with torch.no_grad():
            observations, _, _, extras = environment.step(run.policy(observations["policy"]))
        failed = bool(extras["failed"])
        if failed:
            break
    tracked = (len(rollout) - failed) / rate
    boxes = environment.simulation.scene.config.boxes
    reason = _reason(environment) if failed else ""
    states = np.array(reference), np.array(rollout)
    return Episode(run.robot, boxes, *states, rate, tracked, possible / rate, reason)


def _reason(environment: TrackingEnvironment) -> str:
    """Why the episode of the last step was lost."""
    names = environment.robot.body_names
    if environment.counts["exploded"]:
        return "the physics exploded"
    if bool(environment.touching[0]):
        named = environment.config.contacts
        allowed = environment.skill.contacts(environment.robot) if named is None else named
        bodies = [name for name, touch in zip(names, environment.simulation.touched[0], strict=True) if touch]
        return f"{', '.join(name for name in bodies if name not in allowed)} touched the floor"
    worst = names[int(environment.body_error[0].argmax())]
    return f"{worst} {float(environment.farthest[0]):.2f} m from its reference"
