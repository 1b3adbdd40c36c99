"""A score that can be read off the change: two joints, of which the prior knows the first alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration
from pfmhr.score import PoseGeometryScore

from ..score.priors import Matrix, around, joint_names

DT = 1 / 30


@cache
def prior(gain: float = 1.0) -> PosePrior:
    """F(z) = (gain·z₁, 0): the score is gain²·d₁², the squared share of the first joint in the change."""
    return around(Matrix([[gain, 0.0], [0.0, 0.0]]), (0.0, 0.0))


@cache
def gauge(t_eval: float = 0.75, samples: int = 1, stabiliser: float = 1e-6, gain: float = 1.0) -> PoseGeometryScore:
    return PoseGeometryScore(prior(gain), t_eval, samples, stabiliser=stabiliser)


def changes(scores: Sequence[float]) -> NDArray[np.float64]:
    """Changes ``(N, 2)`` of 0.1 rad with these scores in [0, 1]; every other one backwards."""
    shares = np.asarray(scores, dtype=np.float64)
    signs = np.where(np.arange(len(shares)) % 2, -0.1, 0.1)
    return signs[:, None] * np.sqrt(np.stack([shares, 1.0 - shares], axis=1))


def clip(poses: ArrayLike, fps: float = 30.0, **about: Any) -> Motion:
    values = np.asarray(poses, dtype=np.float32)
    frames, joints = values.shape
    about.setdefault("joint_names", joint_names(joints))
    return Motion(values, fps, np.zeros((frames, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1)), robot="toy", **about)  # type: ignore[arg-type]


def clip_scoring(scores: Sequence[float], **about: Any) -> Motion:
    """A clip whose transitions have these scores, in this order."""
    return clip(np.concatenate([np.zeros((1, 2)), changes(scores).cumsum(axis=0)]), **about)


def steps_scoring(scores: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Poses before and after steps with these scores."""
    after = torch.from_numpy(changes(scores)).float()
    return torch.zeros_like(after), after


@cache
def percents() -> Calibration:
    """Reference scores 0.005, 0.015, … 0.995: the percentile of k/100 is k/100."""
    return Calibration.fit(gauge(), [clip_scoring([(k + 0.5) / 100 for k in range(100)])], DT)
