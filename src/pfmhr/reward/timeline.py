"""A whole clip scored, transition by transition, for looking at it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pfmhr.files import write_atomically
from pfmhr.motion import Motion
from pfmhr.reward.calibration import Calibration
from pfmhr.reward.ramp import Ramp
from pfmhr.reward.transitions import moving_transitions, require_joints
from pfmhr.score import PoseGeometryScore

TOP_JOINTS = 3


@dataclass(frozen=True, eq=False)
class Timeline:
    """Scores of the N moving transitions of one clip."""

    name: str
    time: Tensor
    """(N,) seconds from the clip's start to the end of each transition."""
    score: Tensor
    """(N,)"""
    percentile: Tensor
    """(N,) among the scores of the reference."""
    multiplier: Tensor
    """(N,) factor on the tracking reward."""
    contributions: Tensor
    """(N, J) parts of the score by joint."""
    finite: Tensor
    """(N,) whether both poses are; where not, the score is 0 and the multiplier 1."""
    joint_names: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """The clip in a few numbers."""
        judged = self.finite
        count = max(1, int(judged.sum()))
        return {
            "clip": self.name,
            "transitions": len(self.score),
            "not_finite": int((~judged).sum()),
            "median_score": float(self.score[judged].median()) if judged.any() else None,
            "mean_percentile": float(self.percentile[judged].sum()) / count,
            "mean_multiplier": float(self.multiplier[judged].sum()) / count if judged.any() else 1.0,
            "share_cut": float((self.multiplier[judged] < 1.0).sum()) / count,
        }

    def worst(self, count: int) -> Tensor:
        """Indices of the transitions that fit least, worst first."""
        order = torch.where(self.finite, self.score, torch.inf).argsort()
        return order[: min(count, int(self.finite.sum()))]

    def write_csv(self, path: Path) -> None:
        """One line per transition."""
        text = io.StringIO()
        writer = csv.writer(text)
        head = ["time", "score", "percentile", "multiplier", "finite"]
        shown = range(1, 1 + min(TOP_JOINTS, len(self.joint_names)))
        writer.writerow([*head, *(f"joint_{n}" for n in shown), *(f"part_{n}" for n in shown)])
        parts, joints = self.contributions.topk(len(shown), dim=1)
        columns = (self.time, self.score, self.percentile, self.multiplier, self.finite.int(), joints, parts)
        for time, score, percentile, factor, finite, top, part in zip(*(c.tolist() for c in columns), strict=True):
            names = [self.joint_names[joint] for joint in top]
            numbers = [f"{time:.4f}", f"{score:.6g}", f"{percentile:.5f}", f"{factor:.5f}", finite]
            writer.writerow([*numbers, *names, *(f"{value:.4g}" for value in part)])
        write_atomically(path, lambda handle: handle.write(text.getvalue().encode()))


def score_motion(
    score: PoseGeometryScore,
    calibration: Calibration,
    motion: Motion,
    ramp: Ramp,
    generator: torch.Generator | None = None,
    motion_id: int = 0,
) -> Timeline:
    """Score every moving transition of a clip against one reference of the calibration."""
    calibration.require(score)
    require_joints(score.prior, motion)
    before, after, moving = moving_transitions(motion, calibration.dt)
    time = (1 + moving.nonzero().squeeze(1)) * calibration.dt
    device = score.prior.device
    before, after = before.to(device), after.to(device)
    noise = torch.randn(score.samples, *before.shape, generator=generator).to(device)
    finite = score.direction(before, after, calibration.dt)[1]
    parts = score.contributions(before, after, calibration.dt, noise=noise)
    values = parts.sum(dim=1)
    percentile = calibration.percentile(values, motion_id)
    multiplier = torch.where(finite, ramp.multiplier(percentile), 1.0)
    return Timeline(
        motion.name,
        time,
        values.cpu(),
        percentile.cpu(),
        multiplier.cpu(),
        parts.cpu(),
        finite.cpu(),
        motion.joint_names,
    )
