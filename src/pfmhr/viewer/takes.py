"""What is played: a robot's positions frame by frame, and what the prior says of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.inputs import as_positions
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.reward.available import Ingredients
from pfmhr.reward.settings import PoseGeometrySettings
from pfmhr.reward.timeline import Timeline, score_motion
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore
from pfmhr.sim import Box

if TYPE_CHECKING:
    from pfmhr.tracking.watch.episode import Episode

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameScores:
    """Scores of the steps that end at each of T frames; NaN where there is none, as at the first."""

    score: Floats
    """(T,)"""
    percentile: Floats
    """(T,) among the reference's scores."""
    multiplier: Floats
    """(T,) factor on a tracking reward."""
    parts: Floats
    """(T, J) contributions of the joints; 0 where there is no score."""

    @staticmethod
    def of(timeline: Timeline, frames: int, rate: float) -> FrameScores:
        """A timeline's transitions, each at the frame it ends at; a cycle's closing step has none and is left out."""
        ends = np.rint(timeline.time.double().numpy() * rate).astype(np.intp)
        shown = timeline.finite.numpy() & (ends < frames)
        ends = ends[shown]

        def spread(values: torch.Tensor, empty: float) -> Floats:
            rows = np.full((frames, *values.shape[1:]), empty)
            rows[ends] = values.numpy()[shown]
            return rows

        return FrameScores(
            spread(timeline.score, np.nan),
            spread(timeline.percentile, np.nan),
            spread(timeline.multiplier, np.nan),
            spread(timeline.contributions, 0.0),
        )


@dataclass(frozen=True, eq=False)
class Take:
    """T frames of one robot at the control rate."""

    name: str
    positions: Floats
    """(T, 7 + J) MuJoCo positions; (T, J) for a robot that does not float."""
    rate: float
    """Frames per second."""
    joint_names: tuple[str, ...]
    scores: FrameScores | None = None
    broken: int = 0
    """Frames with NaN or infinity in the file; the frame before is shown instead."""
    note: str = ""
    """Why there are no scores, or how an episode ended."""
    boxes: tuple[Box, ...] = ()
    """What stands in the robot's way."""


def require_take(robot: Robot, take: Take) -> None:
    """Refuse what cannot be shown on this robot: other shapes, frames that are not finite, scores of other frames."""
    frames = len(as_positions(take.positions, robot.num_joints, f"clip '{take.name}'", robot.floating_base))
    scores = take.scores
    lengths = () if scores is None else (scores.score, scores.percentile, scores.multiplier, scores.parts)
    if any(len(values) != frames for values in lengths):
        got = tuple(len(values) for values in lengths)
        raise InputError(
            f"clip '{take.name}': one score per frame is needed", expected=frames, got=got, code="bad_shape"
        )


class Judge:
    """A prior's score, calibrated on one reference."""

    def __init__(
        self,
        prior: PosePrior,
        reference: Motion,
        rate: float,
        settings: PoseGeometrySettings | None = None,
        pooled: Sequence[Motion] = (),
    ) -> None:
        """``pooled``: all references, where they share one distribution."""
        settings = settings or PoseGeometrySettings(phases=1)
        self.prior, self.rate, self.ramp = prior, rate, settings.ramp
        self._score = PoseGeometryScore(prior, settings.t_eval)
        judged = Ingredients(pooled or [reference], 1.0 / rate)
        self._calibration = judged.calibrate(self._score, replace(settings, pooled=bool(pooled)))

    def scores(self, motion: Motion, frames: int) -> FrameScores:
        """What it says of a motion shown in so many frames."""
        noise = torch.Generator().manual_seed(1)
        timeline = score_motion(self._score, self._calibration, motion, self.ramp, noise)
        return FrameScores.of(timeline, frames, self.rate)


def motion_takes(prior: PosePrior, motions: list[Motion], robot: Robot, rate: float) -> list[Take]:
    """Clips resampled to the control rate, scored by a prior that is calibrated on the first of them."""
    mended = [_mended(motion) for motion in motions]
    takes = [replace(_take(motion, robot, rate), broken=broken) for motion, broken in mended]
    # A step out of a frame that was not there is none: joints are judged as they are.
    motions = [replace(whole, joint_pos=motion.joint_pos) for motion, (whole, _) in zip(motions, mended, strict=True)]
    try:
        judge = Judge(prior, motions[0], rate)
    except InputError as error:
        if error.code != "bad_calibration":
            raise
        return [replace(take, note=f"Not scored: {error.what}.") for take in takes]
    return [
        replace(take, scores=judge.scores(motion, len(take.positions)))
        for take, motion in zip(takes, motions, strict=True)
    ]


def episode_takes(episode: Episode, judge: Judge | None, both: bool = False) -> tuple[Take, Take]:
    """The reference and the policy of an episode; the policy is scored, the reference too for ``both``.

    Neither is without a judge, nor if it ends at once.
    """
    ending = f"Tracked {episode.tracked:.2f} of {episode.possible:.2f} s"
    note = f"{ending}, then lost: {episode.lost}." if episode.lost else f"{ending}."
    wanted = _episode_take(episode, "reference", episode.reference, judge if both else None)
    return wanted, replace(_episode_take(episode, "policy", episode.rollout, judge), note=note)


def _episode_take(episode: Episode, name: str, positions: Floats, judge: Judge | None) -> Take:
    robot, frames = episode.robot, len(positions)
    scores = None
    if judge is not None and frames > 1:
        scores = judge.scores(Motion.from_arrays(robot, positions[:, 7:], episode.rate, name=name), frames)
    return Take(name, positions, episode.rate, robot.joint_names, scores, boxes=episode.boxes)


def _mended(motion: Motion) -> tuple[Motion, int]:
    """The motion with the frame before in place of every one with NaN or infinity, and how many those were."""
    names = ("joint_pos", "root_pos", "root_quat")
    sound = np.all([np.isfinite(getattr(motion, name)).all(axis=1) for name in names], axis=0)
    if sound.all():
        return motion, 0
    if not sound.any():
        raise InputError("no frame of this motion is finite", where=motion.source or motion.name, code="not_finite")
    last = np.maximum.accumulate(np.where(sound, np.arange(len(sound)), -1))
    last[last < 0] = int(np.argmax(sound))  # before the first sound frame there is none to go back to
    return replace(motion, **{name: getattr(motion, name)[last] for name in names}), int((~sound).sum())


def _take(motion: Motion, robot: Robot, rate: float) -> Take:
    shown = motion.resample(rate)
    root = [shown.root_pos, shown.root_quat] if robot.floating_base else []
    positions = np.concatenate([*root, shown.joint_pos], axis=1).astype(np.float64)
    return Take(motion.name, positions, rate, robot.joint_names)
