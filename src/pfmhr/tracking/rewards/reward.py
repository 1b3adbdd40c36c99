"""What a tracking reward is, for those of this package and for your own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from torch import Tensor, nn

from pfmhr.tracking.env.transitions import Transitions


class TrackingReward(Protocol):
    """How well robots followed their reference in a rollout.

    Only :meth:`compute` has to be written. A reward that learns overrides the others. It is made once per run, from
    its settings, the robot and the environment's config.
    """

    def compute(self, rollout: Transitions) -> Tensor:
        """The reward ``(N,)`` of each transition; what exploded earns nothing, whatever stands here."""
        ...

    def learn(self, warm_up: bool) -> dict[str, float]:
        """Learn from the rollout computed last, after the policy has; returns figures for the log.

        ``warm_up``: whether the policy left that rollout out, which the run begins with.
        """
        return {}

    def statistics(self) -> dict[str, float]:
        """Figures of the rollout computed last, for the log."""
        return {}

    @property
    def networks(self) -> Mapping[str, nn.Module]:
        """What training stops for when it is no longer finite, by name."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """Everything a resumed run needs."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
