"""The transitions a study looks at, and the directions it spoils them into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.reward.transitions import moving_transitions
from pfmhr.score import PoseGeometryScore
from pfmhr.studies.perturbations import FAMILIES

CONTROL_DT = 1.0 / 30.0


@dataclass(frozen=True, eq=False)
class Transitions:
    """Pose changes drawn from several clips."""

    motions: tuple[Motion, ...]
    """The references they are judged against."""
    previous: Tensor
    """(N, J) rad."""
    change: Tensor
    """(N, J) rad, to the pose one control step later."""
    clip: Tensor
    """(N,) number of the motion."""
    dt: float

    @staticmethod
    def draw(motions: Sequence[Motion], count: int, dt: float = CONTROL_DT, seed: int = 0) -> Transitions:
        """About ``count`` different moving transitions, evenly many from each clip that has as many.

        What is not finite is left out, and so is a clip that has nothing else.
        """
        parts, generator = [], np.random.default_rng(seed)
        found = [(motion, *_finite(*moving_transitions(motion, dt)[:2])) for motion in motions]
        motions = [motion for motion, before, _ in found if len(before)]
        clips = [(before, after) for _, before, after in found if len(before)]
        if not clips or count < 1:
            raise InputError("no moving transition in the data", code="no_transitions")
        level = _level([len(before) for before, _ in clips], count)
        for number, (before, after) in enumerate(clips):
            chosen = np.sort(generator.permutation(len(before))[:level])
            clip = torch.full((len(chosen),), number)
            parts.append((before[chosen], after[chosen] - before[chosen], clip))
        previous, change, clip = (torch.cat(column) for column in zip(*parts, strict=True))
        return Transitions(tuple(motions), previous, change, clip, dt)

    def __len__(self) -> int:
        return len(self.previous)

    def direction(self, score: PoseGeometryScore, magnitude: float = 1.0) -> Tensor:
        """Normalised directions ``(N, J)`` of the changes times ``magnitude``, Eq. 14."""
        before = self.previous.double()
        return score.direction(before, before + magnitude * self.change.double(), self.dt)[0]


def spoilt_directions(direction: Tensor, seed: int) -> dict[tuple[str, float], Tensor]:
    """Every perturbation at every severity of ``(N, J)`` directions, by family and severity."""
    # Not the generator of the noise: a change would be turned into the very noise its pose is corrupted with.
    generator = torch.Generator().manual_seed(seed + 1)
    return {
        (family, severity): perturb(direction, severity, generator)
        for family, (perturb, severities) in FAMILIES.items()
        for severity in severities
    }


def _finite(before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
    kept = (before.isfinite() & after.isfinite()).all(dim=1)
    return before[kept], after[kept]


def _level(available: list[int], count: int) -> int:
    """How many to take from each clip, short ones giving all they have."""
    level = 0
    while level < max(available) and sum(min(level, size) for size in available) < count:
        level += 1
    return level
