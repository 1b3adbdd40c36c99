"""What a prior says of the changes a policy really makes: whether it would cut anything, when, and whether it should.

A factor of 1 on every transition changes nothing, and one that falls on all alike changes little. Here a trained
run is rolled out as it was when training began (no action but exploration) and as it is now, or was at several moments,
and every transition is judged at several flow times. Beside it stands what became of the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from scipy.stats import spearmanr
from torch import Tensor

from pfmhr.errors import InputError, unknown_name
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.results.statistics import chance_above
from pfmhr.reward import Calibration
from pfmhr.reward.ramp import Ramp
from pfmhr.reward.settings import CalibratedSettings
from pfmhr.reward.transitions import moving_transitions
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.runs import TrackerRun

SOON = 6
"""Control steps: an episode that is lost within as many was going wrong already."""
TIMES = (0.3, 0.5, 0.75, 0.9)


@dataclass(frozen=True, eq=False)
class Rollout:
    """Transitions of a policy, and what became of them; ``N`` steps times environments."""

    before: Tensor
    """(N, J) rad."""
    after: Tensor
    """(N, J) rad."""
    motion: Tensor
    """(N,) number of the clip."""
    error: Tensor
    """(N,) m, mean over bodies."""
    lost_soon: Tensor
    """(N,) whether the episode is lost within a fifth of a second."""


def rollout_study(
    runs: Sequence[TrackerRun],
    prior: PosePrior,
    times: Sequence[float] = TIMES,
    ramp: Ramp | None = None,
    steps: int = 60,
    seed: int = 0,
    hold: Sequence[str] = (),
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Factors, regions and their meaning, per phase of training and flow time; and which joints move in cut changes.

    Args:
        runs: one, or copies of one that were made at several moments of its training.
        hold: joints with one of these words in their names count as still, in the rollouts as in the reference.
    """
    if steps <= SOON:
        raise InputError(
            "too few steps to see what becomes of an episode", expected=f"over {SOON}", got=steps, code="bad_config"
        )
    ramp, run = ramp or Ramp(), _same(runs)
    start = torch.full((run.robot.num_joints,), run.config.agent.std)
    phases = {
        "beginning": roll_out(run, lambda observation: torch.zeros(len(observation), len(start)), start, steps, seed),
        **{
            _moment(each, runs): roll_out(each, each.policy, each.exploration, steps, seed)
            for each in sorted(runs, key=lambda each: each.samples)
        },
    }
    held = _joints(run.robot, hold)
    phases = {phase: _holding(rollout, held) for phase, rollout in phases.items()}
    motions = [_still(motion, held) for motion in run.motions]
    dt = 1.0 / run.config.environment.control_rate
    phases_per_step = getattr(run.config.modulator.settings, "phases", CalibratedSettings.phases)
    rows, joints = [], {}
    for done, flow_time in enumerate(times):
        progress(done, len(times))
        score = PoseGeometryScore(prior, flow_time)
        generator = torch.Generator().manual_seed(seed)
        calibration = Calibration.fit(score, motions, dt, generator, phases=phases_per_step)
        for phase, rollout in phases.items():
            values = score(rollout.before, rollout.after, dt, generator=generator)
            percentile = calibration.percentile(values, rollout.motion)
            rows.append({"t_eval": flow_time, "phase": phase, **_figures(percentile, ramp, rollout)})
            joints[f"{phase}, {flow_time:g}"] = _moved(score, rollout, percentile < ramp.p_good, dt, motions)
    return {"rows": rows, "joints": joints, "joint_names": list(run.robot.joint_names), "samples": run.samples}


def _same(runs: Sequence[TrackerRun]) -> TrackerRun:
    """The longest trained of runs that are one run at different moments."""
    if not runs:
        raise InputError("no run to roll out", code="bad_input")
    first, *others = sorted(runs, key=lambda run: -run.samples)
    for later, run in pairwise([first, *others]):
        if run.samples == later.samples or replace(run.config, samples=first.config.samples) != first.config:
            raise InputError(
                "not another moment of the same run",
                where=run.directory,
                expected=f"a copy of {first.directory}, made at another moment of its training",
                code="bad_run",
            )
    return first


def _joints(robot: Robot, words: Sequence[str]) -> list[int]:
    for word in words:
        if not any(word in name for name in robot.joint_names):
            raise unknown_name(f"joint of robot '{robot.name}'", word, robot.joint_names)
    return [place for place, name in enumerate(robot.joint_names) if any(word in name for word in words)]


def _holding(rollout: Rollout, held: list[int]) -> Rollout:
    """The same transitions, in which some joints do not move."""
    after = rollout.after.clone()
    after[:, held] = rollout.before[:, held]
    return replace(rollout, after=after)


def _still(motion: Motion, held: list[int]) -> Motion:
    """The same clip, in which some joints stay at their mean."""
    poses = motion.joint_pos.copy()
    poses[:, held] = poses[:, held].mean(axis=0)
    return replace(motion, joint_pos=poses)


def _moment(run: TrackerRun, runs: Sequence[TrackerRun]) -> str:
    return "now" if len(runs) == 1 else f"{run.samples:,} samples"


@torch.no_grad()
def roll_out(
    run: TrackerRun, policy: Callable[[Tensor], Tensor], deviation: Tensor, steps: int, seed: int = 0
) -> Rollout:
    """Transitions of training's own environments with exploring actions."""
    environment = TrackingEnvironment(run.robot, run.motions, run.config.environment, seed=seed, library=run.library)
    generator = torch.Generator().manual_seed(seed)
    observations, kept = environment.get_observations(), []
    for _ in range(steps):
        mean = policy(observations["policy"])
        noise = torch.randn(mean.shape, generator=generator)
        observations, _, dones, extras = environment.step(mean + deviation * noise)
        error = environment.body_error.mean(dim=1)
        made = extras["transitions"]
        poses = (made.previous_pose, made.state.joint_pos)
        kept.append((*poses, made.clip, error, made.valid, extras["failed"], dones))
    environment.simulation.close()
    *told, valid, failed, done = map(torch.stack, zip(*kept, strict=True))
    # Of the last fifth of a second nobody knows what would have become.
    used = valid & (torch.arange(steps) < steps - SOON)[:, None]
    before, after, motion, error = (values[used] for values in told)
    return Rollout(before, after, motion, error, lost_soon(failed, done)[used])


def lost_soon(failed: Tensor, done: Tensor) -> Tensor:
    """(T, N): whether the episode a step belongs to is lost at it or within the next :data:`SOON`."""
    left = torch.full((failed.shape[1],), SOON + 1)
    found = torch.zeros_like(failed)
    for step in range(len(failed) - 1, -1, -1):
        left = torch.where(failed[step], 0, torch.where(done[step], SOON + 1, left + 1))
        found[step] = left <= SOON
    return found


def _figures(percentile: Tensor, ramp: Ramp, rollout: Rollout) -> dict[str, float]:
    shortfall = ramp.shortfall(percentile)
    soon, others = percentile[rollout.lost_soon], percentile[~rollout.lost_soon]
    return {
        "multiplier": float(ramp.multiplier(percentile).mean()),
        "share_good": float((shortfall <= 0).double().mean()),
        "share_bad": float((shortfall >= 1).double().mean()),
        "median_percentile": float(percentile.median()),
        "lost_soon": float(rollout.lost_soon.double().mean()),
        "tells_lost": float(chance_above(others, soon)) if len(soon) and len(others) else 0.5,
        "rank_correlation_with_error": float(spearmanr(percentile.numpy(), rollout.error.numpy())[0]),  # type: ignore[arg-type]
    }


def _moved(
    score: PoseGeometryScore, rollout: Rollout, cut: Tensor, dt: float, motions: Sequence[Motion]
) -> dict[str, Any]:
    """(J,) each: share of the normalised change that lies in every joint; cut, not cut, and in the reference."""
    direction = score.direction(rollout.before, rollout.after, dt)[0].square()
    reference = [moving_transitions(motion, dt)[:2] for motion in motions]
    real = torch.cat([score.direction(before, after, dt)[0].square() for before, after in reference])
    parts = {"cut": direction[cut], "not_cut": direction[~cut], "reference": real}
    return {name: [round(float(v), 4) for v in part.mean(dim=0)] if len(part) else None for name, part in parts.items()}
