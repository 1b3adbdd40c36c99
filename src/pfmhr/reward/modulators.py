"""Factors on the tracking reward, one interface for all: PFM-HR, FM-Recon, none; PDF-HR's is in ``distance.py``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import torch
from torch import Tensor

from pfmhr.inputs import Array, as_floats, as_mask, as_pose_pair, as_reward_and_factor
from pfmhr.reward.calibration import Calibration, TransitionScore
from pfmhr.reward.ramp import Ramp
from pfmhr.reward.tally import Tally
from pfmhr.reward.transitions import is_moving
from pfmhr.score import PoseGeometryScore, ReconstructionScore

Poses = Array


class Modulator(Protocol):
    """Gives the factor by which the tracking reward of each transition is multiplied."""

    def __call__(
        self,
        previous_pose: Poses,
        pose: Poses,
        dt: float,
        *,
        motion_id: int | Tensor = 0,
        valid: Tensor | None = None,
        generator: torch.Generator | None = None,
        reference_pose: Poses | None = None,
    ) -> Tensor:
        """Factors ``(N,)`` for transitions ``(N, J)``, ``(N, J)`` rad.

        Args:
            motion_id: which reference each environment tracks.
            valid: False where there is no previous pose (the first step after a reset); the factor is 1 there.
            reference_pose: ``(N, J)`` the reference at the time of ``pose``; only some modulators look at it.
        """
        ...

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """The tracking reward ``(N,)`` with the factor on it."""
        ...

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """Figures for the training log since the last reset."""
        ...


class NoModulation:
    """The reward as it is."""

    def __call__(self, previous_pose: Poses, pose: Poses, dt: float, **_: Any) -> Tensor:
        """Ones, ``(N,)``."""
        poses = as_floats(pose, "poses")
        return torch.ones(len(poses), device=poses.device)

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """The reward as it is."""
        return as_reward_and_factor(reward, factor)[0]

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """Nothing to tell."""
        return {}


class _CalibratedModulator(ABC):
    """Score → reference percentile → ramp. What differs is how a score becomes a percentile."""

    def __init__(self, score: TransitionScore, calibration: Calibration, ramp: Ramp | None = None) -> None:
        calibration.require(score)
        self.score, self.calibration, self.ramp = score, calibration, ramp or Ramp()
        self._tally = Tally()

    def __call__(
        self,
        previous_pose: Poses,
        pose: Poses,
        dt: float,
        *,
        motion_id: int | Tensor = 0,
        valid: Tensor | None = None,
        generator: torch.Generator | None = None,
        reference_pose: Poses | None = None,
    ) -> Tensor:
        """Factors ``(N,)`` in [exp(−α), 1]; 1 where ``valid`` is False, a pose is not finite, or nothing moves."""
        del reference_pose  # the reference is in the calibration
        self.calibration.require_dt(dt)
        before, after = as_pose_pair(previous_pose, pose, len(self.score.prior.joint_names))
        values, finite = self.score.evaluate(before, after, dt, generator=generator)
        percentile = self.percentile(values, motion_id)
        judged = finite if valid is None else finite & as_mask(valid, finite)
        if self.score.of_changes:
            judged = judged & is_moving(before, after, dt)
        multiplier = torch.where(judged, self.ramp.multiplier(percentile), 1.0)
        self._tally.add(multiplier, percentile, self.ramp.shortfall(percentile), judged, finite)
        return multiplier

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """``r^T·r^P``, Eq. 18."""
        rewards, factors = as_reward_and_factor(reward, factor)
        return rewards * factors

    @abstractmethod
    def percentile(self, values: Tensor, motion_id: int | Tensor) -> Tensor:
        """Reference percentile ``(N,)`` of score values ``(channels, N)``; high is good."""

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """Mean factor and percentile, shares of the three regions of the ramp, how many were masked or not finite."""
        return self._tally.figures(reset)


class RewardModulator(_CalibratedModulator):
    """PFM-HR: the Pose Geometry Score, ranked among the reference's own scores.

    The percentile becomes a factor by the ramp of Eq. 17.
    """

    def __init__(self, score: PoseGeometryScore, calibration: Calibration, ramp: Ramp | None = None) -> None:
        super().__init__(score, calibration, ramp)

    def percentile(self, values: Tensor, motion_id: int | Tensor) -> Tensor:
        """Empirical CDF of the reference at the score."""
        return self.calibration.percentile(values[0], motion_id)


class ReconstructionModulator(_CalibratedModulator):
    """FM-Recon: reconstruction errors, ranked in reverse at each noise level, averaged over the levels."""

    def __init__(self, score: ReconstructionScore, calibration: Calibration, ramp: Ramp | None = None) -> None:
        super().__init__(score, calibration, ramp)

    def percentile(self, values: Tensor, motion_id: int | Tensor) -> Tensor:
        """Mean over levels of the share of reference errors not below each error."""
        motion = self.calibration.motion_ids(values, motion_id)
        levels = zip(self.calibration.distributions, values, strict=True)
        return torch.stack([reference.not_below(error, motion) for reference, error in levels]).mean(dim=0)
