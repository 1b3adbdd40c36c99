"""What the environment tells of its steps: all that rewards and modulators are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from pfmhr.tracking.env.library import BodyMotion, Frames
from pfmhr.tracking.env.observations import RobotState


@dataclass(frozen=True)
class Transitions:
    """N steps of robots, all of it from before any reset; of a simulation that exploded, numbers may be NaN."""

    previous_pose: Tensor
    """(N, J) rad, before the step."""
    state: RobotState
    """The robots after the step."""
    reference: Frames
    """Where they should be, ``body_pos`` one physics step ago as in ``state``."""
    clip: Tensor
    """(N,) number of the clip."""
    valid: Tensor
    """(N,) False where the simulation exploded."""
    bodies: BodyMotion | None = None
    """Of the robots; only if the reward needs it."""
    reference_bodies: BodyMotion | None = None
    """Of the reference; only if the reward needs it."""

    def __len__(self) -> int:
        return len(self.clip)

    @staticmethod
    def joined(steps: Sequence[Transitions]) -> Transitions:
        """Steps of a rollout one after the other, ``(T·N, …)``."""
        return _joined(steps)


def _joined(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if first is None:
        return None
    if isinstance(first, Tensor):
        return torch.cat(list(parts))
    names = [field.name for field in fields(first)]
    return type(first)(**{name: _joined([getattr(part, name) for part in parts]) for name in names})
