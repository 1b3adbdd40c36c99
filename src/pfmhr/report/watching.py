"""Robots to watch: a run beside its reference, or clips beside each other, with their score under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.report.curves import TINTS, score_curves
from pfmhr.report.page import Player
from pfmhr.robots import Robot
from pfmhr.tracking.runs import TrackerRun
from pfmhr.tracking.watch.episode import Episode, record_episode
from pfmhr.viewer.lineup import Part
from pfmhr.viewer.recording import record
from pfmhr.viewer.takes import Judge, Take, episode_takes, motion_takes


def run_player(directory: Path, prior: PosePrior, seconds: float = 10.0) -> Player:
    """One episode of a run from the beginning of its first clip; the score is calibrated on that clip."""
    run = TrackerRun.load(directory)
    fix = "Name a prior of this robot with --prior, or leave the run out."
    run.robot.require_joints(prior.joint_names, "the prior that is to judge the run", directory, fix)
    episode = record_episode(run, seconds=seconds)
    takes = episode_takes(episode, _judge(prior, run.motions[0], episode.rate), both=True)
    end = f"lost after {episode.tracked:.1f} s" if episode.lost else ""
    several = f", “{run.motions[0].name}” of its {len(run.motions)} clips" if len(run.motions) > 1 else ""
    caption = f"{directory.name}, {run.samples:,} samples{several}: {_ending(episode)}."
    return _player(run.robot, takes, caption, end)


def clips_player(prior: PosePrior, robot: Robot, clips: Mapping[str, Motion], dt: float, caption: str) -> Player:
    """Clips side by side; the first one is the reference that the others are judged by."""
    named = [replace(motion, name=name) for name, motion in clips.items()]
    return _player(robot, motion_takes(prior, named, robot, 1.0 / dt), caption)


def _player(robot: Robot, takes: Sequence[Take], caption: str, end: str = "") -> Player:
    """``end``: what to say of the last take once it is over."""
    tints = [TINTS[number % len(TINTS)] for number in range(len(takes))]
    parts = [Part(take, tint) for take, tint in zip(takes, tints, strict=True)]
    parts[-1] = replace(parts[-1], end=end)
    recording = record(robot, parts)
    return Player(recording, caption, score_curves(parts, recording.seconds))


def _judge(prior: PosePrior, reference: Motion, rate: float) -> Judge | None:
    """None for a reference that stands still: it has no scores to be judged by."""
    try:
        return Judge(prior, reference, rate)
    except InputError as error:
        if error.code != "bad_calibration":
            raise
        return None


def _ending(episode: Episode) -> str:
    kept = f"tracked {episode.tracked:.1f} of {episode.possible:.1f} s"
    return f"{kept}, then lost ({episode.lost})" if episode.lost else kept
