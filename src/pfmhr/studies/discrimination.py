"""How well the score tells coordinated joint changes from spoilt ones, by evaluation time (Table S2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.prior.jacobian import jacobian
from pfmhr.studies.perturbations import FAMILIES

STABILISER = 1e-6
"""η: keeps the direction of a vanishing change finite."""


@dataclass(frozen=True)
class Transitions:
    """Pose changes of several clips, normalised: where each starts, which way it goes, whose it is."""

    previous: Tensor
    """(N, J)"""
    direction: Tensor
    """(N, J), Eq. 14."""
    clip: Tensor
    """(N,) number of the clip."""

    @staticmethod
    def of(prior: PosePrior, motions: list[Motion], per_clip: int, fps: float = 30.0) -> Transitions:
        """Evenly spread changes of each clip, resampled to ``fps``; frames without change are left out."""
        parts = []
        for number, motion in enumerate(motions):
            poses = prior.normalise(motion.resample(fps).joint_pos)
            change = (poses[1:] - poses[:-1]) * fps
            moving = (change.norm(dim=1) > 1e-6).nonzero().squeeze(1)
            chosen = moving[torch.linspace(0, len(moving) - 1, min(per_clip, len(moving))).long()]
            velocity = change[chosen]
            direction = velocity / (velocity.square().sum(dim=1, keepdim=True) + STABILISER).sqrt()
            parts.append((poses[:-1][chosen], direction, torch.full((len(chosen),), number)))
        return Transitions(*(torch.cat(column) for column in zip(*parts, strict=True)))


def discrimination(prior: PosePrior, transitions: Transitions, flow_time: float, seed: int = 0) -> dict[str, float]:
    """Mean fall of the reference percentile under each family of perturbations, and their average.

    The query and its noise are the same before and after; the reference distribution is that of the
    clip itself at the same time, with noise of its own, one sample per transition.
    """
    generator = torch.Generator().manual_seed(seed)
    shape = transitions.previous.shape
    noises = [torch.randn(shape, generator=generator) for _ in range(2)]
    responses = [
        jacobian(prior.denoiser, flow_time * transitions.previous + (1.0 - flow_time) * noise, flow_time)
        for noise in noises
    ]
    reference = _score(responses[0], transitions.direction)
    original = _percentile(_score(responses[1], transitions.direction), reference, transitions.clip)
    fall: dict[str, float] = {}
    for family, (perturb, severities) in FAMILIES.items():
        falls = []
        for severity in severities:
            spoilt = _score(responses[1], perturb(transitions.direction, severity, generator))
            falls.append(float((original - _percentile(spoilt, reference, transitions.clip)).mean()))
        fall[family] = float(np.mean(falls))
    fall["average"] = float(np.mean(list(fall.values())))
    return fall


def _score(response: Tensor, direction: Tensor) -> Tensor:
    """``‖J d‖²``, Eq. 15."""
    return torch.einsum("nij,nj->ni", response, direction).square().sum(dim=1)


def _percentile(score: Tensor, reference: Tensor, clip: Tensor) -> Tensor:
    """Share of the clip's reference scores not above each score."""
    percentile = torch.empty_like(score)
    for number in clip.unique():
        mine = clip == number
        ranked = reference[mine].sort().values
        percentile[mine] = torch.searchsorted(ranked, score[mine], right=True).float() / len(ranked)
    return percentile
