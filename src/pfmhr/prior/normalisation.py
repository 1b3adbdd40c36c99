"""Between radians and the coordinates the prior works in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.corpus import PoseCorpus
from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.text import shown

Kind = Literal["limits", "standard"]
SMALLEST, LARGEST = 1e-6, 1e6
"""rad: no joint spreads less or is further away."""


@dataclass(frozen=True)
class Normalisation:
    """``normalised = (q − centre) / scale`` per joint."""

    kind: Kind
    centre: tuple[float, ...]
    scale: tuple[float, ...]

    @staticmethod
    def from_limits(robot: Robot) -> Normalisation:
        """Joint range → [−1, 1]."""
        lower, upper = robot.lower.astype(np.float64), robot.upper.astype(np.float64)
        return Normalisation._of("limits", (lower + upper) / 2, (upper - lower) / 2)

    @staticmethod
    def from_poses(poses: NDArray[np.float32]) -> Normalisation:
        """Mean 0 and standard deviation 1 over ``poses``, shape ``(N, J)``.

        A joint that does not move in the data keeps its unit, so that nothing is divided by zero.
        """
        spread = poses.std(axis=0, dtype=np.float64)
        return Normalisation._of("standard", poses.mean(axis=0, dtype=np.float64), np.where(spread < 1e-4, 1.0, spread))

    @staticmethod
    def fit(kind: Kind, robot: Robot, corpus: PoseCorpus, rows: NDArray[np.int64]) -> Normalisation:
        """The normalisation of the given kind, from the robot or from these rows of the corpus."""
        return Normalisation.from_limits(robot) if kind == "limits" else Normalisation.from_poses(corpus.rows(rows))

    @staticmethod
    def _of(kind: Kind, centre: NDArray[np.float64], scale: NDArray[np.float64]) -> Normalisation:
        # Through float32, so that the numbers stored in text are the numbers used.
        return Normalisation(kind, *(tuple(float(x) for x in v.astype(np.float32)) for v in (centre, scale)))

    def __post_init__(self) -> None:
        centres = all(abs(centre) <= LARGEST for centre in self.centre)
        scales = all(SMALLEST <= scale <= LARGEST for scale in self.scale)
        if len(self.centre) != len(self.scale) or not (centres and scales):
            raise InputError(
                "not a normalisation: a finite centre and a positive scale per joint are needed",
                expected=f"scales from {SMALLEST:g} to {LARGEST:g} rad",
                got=f"centres {shown(self.centre)}, scales {shown(self.scale)}",
                code="bad_config",
            )

    def tensors(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Centre and scale, shape ``(J,)``, on the device and in the precision of ``like``."""
        return tuple(torch.tensor(v, dtype=like.dtype, device=like.device) for v in (self.centre, self.scale))  # type: ignore[return-value]
