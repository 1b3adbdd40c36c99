"""A modulator of your own: transitions faster than the reference ever is are worth less.

Put this folder on PYTHONPATH and name the class where a modulator is named:

    PYTHONPATH=examples pfmhr track train embedded:walk -o runs/limited \
        --modulator own_modulator:SpeedLimit --set modulator.margin=1.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pfmhr.reward.available import Ingredients


@dataclass(frozen=True)
class SpeedSettings:
    """What ``--set modulator.NAME=value`` can change."""

    margin: float = 1.5
    """Times the reference's fastest speed of a joint that is still left alone."""
    lowest: float = 0.5
    """The factor on transitions with a faster joint."""


class SpeedLimit:
    """Factor 1, or ``lowest`` where any joint is faster than ``margin`` times its fastest in the reference."""

    Settings = SpeedSettings
    needs = "nothing"  # "prior": given.load_prior() is the one that --prior names; "field": given.load_field()

    def __init__(self, given: Ingredients, settings: SpeedSettings) -> None:
        self.lowest, self.factors = settings.lowest, torch.ones(0)
        clips = [torch.from_numpy(motion.resample(1.0 / given.dt).joint_pos) for motion in given.motions]
        fastest = torch.stack([poses.diff(dim=0).abs().amax(dim=0) / given.dt for poses in clips])
        self.limits = settings.margin * fastest  # (motions, J) rad/s

    def __call__(
        self, previous_pose: Any, pose: Any, dt: float, *, motion_id: Any = 0, valid: Tensor | None = None, **_: Any
    ) -> Tensor:
        """Factors ``(N,)`` of transitions ``(N, J)``, ``(N, J)`` rad; 1 where ``valid`` is False."""
        speed = (torch.as_tensor(pose) - torch.as_tensor(previous_pose)).abs() / dt
        fast = (speed > self.limits[motion_id]).any(dim=1)
        if valid is not None:
            fast = fast & valid
        self.factors = torch.where(fast, self.lowest, 1.0)
        return self.factors

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """What becomes of the tracking reward ``(N,)``."""
        return reward * factor

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """Figures for the training log."""
        return {"multiplier": float(self.factors.mean()), "share_cut": float((self.factors < 1.0).float().mean())}
