"""How well a policy tracks: success, position error and rotation error, as the paper defines them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.results.common import Episodes
from pfmhr.results.evaluation import Evaluation
from pfmhr.results.statistics import interval_of_mean
from pfmhr.robots import Robot
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import MotionLibrary
from pfmhr.tracking.env.rotations import angle_between, compose, inverse, rotate_back

Start = Literal["random", "beginning"]
STRICT = 0.5
"""m: the second threshold every evaluation reports."""
ERRORS = ("position_error", "rotation_error", "body_error", "root_error", "position_error_turned")
"""Measured at every step: E_pos, E_rot, bodies relative to the root, the root, E_pos with joints turned; see
:class:`Evaluation`."""


class Evaluator:
    """Environments kept for evaluation, so that training need not wait for new ones each time."""

    def __init__(
        self,
        robot: Robot,
        motions: Sequence[Motion],
        config: EnvironmentConfig,
        episodes: int,
        *,
        horizon: float | None = None,
        distance: float | None = None,
        threads: int | None = None,
        library: MotionLibrary | None = None,
    ) -> None:
        """``distance``: m at which an episode is lost; the skill's (1.0, vaults 0.5) unless given."""
        seconds = config.episode_seconds if horizon is None else horizon
        changes = {"environments": episodes, "episode_seconds": seconds}
        environment = TrackingEnvironment(robot, motions, replace(config, **changes), threads=threads, library=library)
        self.distance = environment.skill.distance if distance is None else distance
        if not 0 < self.distance < math.inf:
            raise InputError(
                "no distance to lose an episode at", expected="m, above 0", got=distance, code="bad_config"
            )
        environment.termination_distance = self.distance
        self.environment = environment

    def run(self, policy: nn.Module, start: Start = "random", seed: int = 0) -> Evaluation:
        """One episode per environment with the policy's mean action."""
        return self.run_each(policy, [self.environment.config.episode_seconds], start, seed)[0]

    def run_each(
        self, policy: nn.Module, horizons: Sequence[float], start: Start = "random", seed: int = 0
    ) -> list[Evaluation]:
        """The same episodes, judged as if each had lasted as long as each of ``horizons`` in s, none above our own."""
        return self.trace(policy, horizons, start, seed)[0]

    def trace(
        self, policy: nn.Module, horizons: Sequence[float], start: Start = "random", seed: int = 0
    ) -> tuple[list[Evaluation], Episodes]:
        """As :meth:`run_each`, and the errors of every tracked frame up to the longest horizon."""
        environment = self.environment
        environment.generator.manual_seed(seed)
        clip, frame = environment.library.draw(environment.num_envs, environment.generator)
        if start == "beginning":
            clip = torch.arange(environment.num_envs) % len(environment.library)
            frame = torch.zeros_like(frame)
        records = [_Record(environment, clip, frame, horizon) for horizon in horizons]
        starts, longest = (clip.numpy(), frame.numpy()), max(records, key=lambda record: record.left)
        observations = environment.reset(clip, frame)
        with torch.no_grad():
            while any(bool(record.alive.any()) for record in records):
                clip, frame = environment.clip.clone(), environment.frame + environment.substeps
                observations, _, dones, extras = environment.step(policy(observations["policy"]))
                errors = _errors(environment, clip, frame)
                for record in records:
                    record.count(errors, extras["failed"], dones)
        frames = torch.stack(longest.frames, dim=-1).numpy()
        return [record.summary(self.distance, start) for record in records], Episodes(*starts, *frames)


@dataclass(frozen=True)
class BothStarts:
    """Evaluations by horizon, from random moments and from the beginning of every clip."""

    random: list[Evaluation]
    beginning: list[Evaluation]
    episodes: Episodes
    """The random ones, frame by frame."""


def from_both_starts(
    make: Callable[[int], Evaluator], episodes: int, policy: nn.Module, horizons: Sequence[float], seed: int
) -> BothStarts:
    """From random moments, and every clip once from its beginning, as nothing in a second try would be another.

    Args:
        make: an evaluator of that many episodes. episodes: from random moments.
    """
    random = make(episodes)
    beginning = make(len(random.environment.library))
    evaluations, traced = random.trace(policy, horizons, "random", seed)
    return BothStarts(evaluations, beginning.run_each(policy, horizons, "beginning", seed), traced)


def _errors(environment: TrackingEnvironment, clip: Tensor, frame: Tensor) -> Tensor:
    """:data:`ERRORS` ``(5, N)`` of this step; bodies as sensed, one substep ago."""
    reference = environment.library.at(clip, frame - 1)
    bodies = torch.from_numpy(environment.simulation.frames("position")).float()
    turns = torch.from_numpy(environment.simulation.frames("orientation")).float()
    return tracking_errors(bodies, turns, reference.root_pos, reference.body_pos, reference.body_quat)


class _Record:
    """The first episode of every environment, up to a horizon."""

    def __init__(self, environment: TrackingEnvironment, clip: Tensor, frame: Tensor, horizon: float) -> None:
        self.environment, self.clip, self.horizon = environment, clip, horizon
        count = environment.num_envs
        self.left = max(1, min(round(horizon * environment.config.control_rate), environment.max_episode_length))
        remaining = -(-environment.library.remaining(clip, frame) // environment.substeps)
        self.possible = remaining.clamp(max=self.left).clamp(min=1)
        self.alive = torch.ones(count, dtype=torch.bool)
        self.strict = torch.ones(count, dtype=torch.bool)
        self.survived, self.survived_strict = torch.zeros(count), torch.zeros(count)
        self.sums = torch.zeros(len(ERRORS), count)
        self.frames: list[Tensor] = []
        """(2, N) by step: E_pos and E_rot, NaN once an episode is over."""

    def count(self, errors: Tensor, lost: Tensor, dones: Tensor) -> None:
        """One control step, of which :data:`ERRORS` ``(5, N)``, failures and ends are known."""
        counted = self.alive & ~lost
        self.survived += counted
        self.strict &= counted & (self.environment.farthest <= STRICT)
        self.survived_strict += self.strict
        self.sums += errors.nan_to_num(0.0) * counted
        self.frames.append(torch.where(counted, errors[:2], math.nan))
        self.left -= 1
        self.alive &= ~dones if self.left else torch.zeros_like(dones)

    def summary(self, distance: float, start: str) -> Evaluation:
        """Means and intervals."""
        success = (self.survived / self.possible).clamp(max=1.0)
        strict = (self.survived_strict / self.possible).clamp(max=1.0)
        pooled = self.survived.clamp(max=self.possible).sum() / self.possible.sum()
        clips = [success[self.clip == number] for number in range(len(self.environment.library))]
        return replace(
            self._errors(),
            success=float(success.mean()),
            success_pooled=float(pooled),
            success_interval=interval_of_mean(success, torch.ones_like(success)),
            success_strict=float(strict.mean()),
            success_by_clip=tuple(float(each.mean()) if len(each) else None for each in clips),
            episodes=len(success),
            distance=distance,
            start=start,
            horizon=self.horizon,
        )

    def _errors(self) -> Evaluation:
        """Errors over all tracked frames; none if there are no such frames."""
        tracked = self.survived > 0
        if not tracked.any():
            return Evaluation(success=0.0)
        weight = self.survived[tracked]
        errors = self.sums[:, tracked] / weight
        position, rotation, body, root, turned = ((errors * weight).sum(dim=1) / weight.sum()).tolist()
        return Evaluation(
            success=0.0,
            position_error=position,
            rotation_error=rotation,
            body_error=body,
            root_error=root,
            position_error_turned=turned,
            position_interval=interval_of_mean(errors[0], weight),
            rotation_interval=interval_of_mean(errors[1], weight),
        )


def tracking_errors(bodies: Tensor, turns: Tensor, root_pos: Tensor, body_pos: Tensor, body_quat: Tensor) -> Tensor:
    """:data:`ERRORS` ``(5, N)`` of N robots.

    Args:
        bodies: ``(N, B, 3)`` simulated positions in the world, root first. turns: ``(N, B, 4)`` orientations.
        root_pos: ``(N, 3)`` reference. body_pos: ``(N, B, 3)`` relative to it. body_quat: ``(N, B, 4)``.
    """
    relative = bodies[:, 1:] - bodies[:, :1]
    local = torch.linalg.vector_norm(relative - body_pos[:, 1:], dim=-1)
    root = torch.linalg.vector_norm(bodies[:, 0] - root_pos, dim=-1)
    own = compose(inverse(turns[:, :1]), turns[:, 1:])
    wanted = compose(inverse(body_quat[:, :1]), body_quat[:, 1:])
    turned = angle_between(own, wanted)
    root_turned = angle_between(turns[:, 0], body_quat[:, 0])
    count = bodies.shape[1]
    position = (local.sum(dim=1) + root) / count
    rotation = (turned.sum(dim=1) + root_turned) / count
    inside = rotate_back(turns[:, :1], relative) - rotate_back(body_quat[:, :1], body_pos[:, 1:])
    position_turned = (torch.linalg.vector_norm(inside, dim=-1).sum(dim=1) + root) / count
    return torch.stack([position, rotation, local.mean(dim=1), root, position_turned])
