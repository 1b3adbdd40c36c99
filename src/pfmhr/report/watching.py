"""Scenes for the player: a run beside its reference, or clips beside each other, with their score under them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.report.page import Player
from pfmhr.report.player import BLUE, GREY, RED, Actor, Line, Track, heading, scene
from pfmhr.reward import Calibration, Ramp
from pfmhr.reward.timeline import Timeline, score_motion
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore
from pfmhr.tracking.runs import TrackerRun
from pfmhr.tracking.watch.episode import Episode, record_episode

APART = 1.1
"""m between robots."""
COLOURS = (BLUE, GREY, RED)


def run_player(directory: Path, prior: PosePrior, seconds: float = 10.0) -> Player:
    """One episode of a run from the beginning of its first clip; the score is calibrated on that clip."""
    run = TrackerRun.load(directory)
    if run.robot.joint_names != prior.joint_names:
        raise InputError(
            "the run is of another robot than the prior that is to judge it",
            where=directory,
            expected=f"{prior.robot}, {len(prior.joint_names)} joints",
            got=f"{run.robot.name}, {run.robot.num_joints} joints",
            fix="Name a prior of this robot with --prior, or leave the run out.",
            code="wrong_robot",
        )
    episode = record_episode(run, seconds=seconds)
    done = _as_motion(run.robot, episode.rollout, episode.rate, "policy")
    wanted = _as_motion(run.robot, episode.reference, episode.rate, "reference")
    lines = _scored(prior, run.motions[0], [wanted, done], 1.0 / episode.rate)
    end = f"lost after {episode.tracked:.1f} s" if episode.lost else ""
    actors = [
        Actor("reference", episode.reference, BLUE, _triple(episode.shifts[0])),
        Actor("policy", episode.rollout, GREY, _triple(episode.shifts[1]), end),
    ]
    content = scene(run.robot, episode.rate, actors, _tracks(lines), episode.boxes)
    several = f", “{run.motions[0].name}” of its {len(run.motions)} clips" if len(run.motions) > 1 else ""
    return Player(content, f"{directory.name}, {run.samples:,} samples{several}: {_ending(episode)}.")


def clips_player(prior: PosePrior, robot: Robot, clips: Mapping[str, Motion], dt: float, caption: str) -> Player:
    """Clips side by side; the first one is the reference that the others are judged by."""
    motions = list(clips.values())
    lines = _scored(prior, motions[0], motions, dt)
    played = [motion.resample(1.0 / dt) for motion in motions]
    ahead = heading(played[0].root_quat[0])
    actors = []
    for number, (name, motion) in enumerate(zip(clips, played, strict=True)):
        aside = APART * (number - 0.5 * (len(played) - 1))
        shift = (-aside * math.sin(ahead), aside * math.cos(ahead), 0.0)  # to the left of where the first one looks
        positions = np.concatenate([motion.root_pos, motion.root_quat, motion.joint_pos], axis=1)
        actors.append(Actor(name, positions, COLOURS[number % len(COLOURS)], shift))
    return Player(scene(robot, 1.0 / dt, actors, _tracks(lines)), caption)


def _as_motion(robot: Robot, positions: Any, rate: float, name: str) -> Motion:
    root, turn, joints = positions[:, :3], positions[:, 3:7], positions[:, 7:].astype(np.float32)
    return Motion(joints, rate, root, turn, robot.joint_names, robot.name, name=name)


def _scored(prior: PosePrior, reference: Motion, motions: Sequence[Motion], dt: float) -> list[Timeline | None]:
    """Each clip judged by the reference's own scores; one that ended after a frame or two has none."""
    score, generator = PoseGeometryScore(prior), torch.Generator().manual_seed(0)
    try:
        calibration = Calibration.fit(score, [reference], dt, generator)
    except InputError as error:
        if error.code != "bad_calibration":
            raise
        return [None] * len(motions)  # a reference that stands still has no scores to be judged by
    return [
        score_motion(score, calibration, replace(motion, loop=False), Ramp(), generator)
        if motion.num_frames > 2
        else None
        for motion in motions
    ]


def _tracks(lines: Sequence[Timeline | None]) -> list[Track]:
    def curves(what: str) -> list[Line]:
        return [
            Line(line.time.tolist(), getattr(line, what).tolist(), COLOURS[number % len(COLOURS)])
            for number, line in enumerate(lines)
            if line is not None
        ]

    if not any(lines):
        return []
    return [
        Track("score", curves("score")),
        Track("percentile", curves("percentile"), (0.0, 1.0)),
        Track("reward factor", curves("multiplier"), (0.6, 1.02)),
    ]


def _triple(values: Any) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _ending(episode: Episode) -> str:
    kept = f"tracked {episode.tracked:.1f} of {episode.possible:.1f} s"
    return f"{kept}, then lost ({episode.lost})" if episode.lost else kept
