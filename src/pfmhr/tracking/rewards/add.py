"""ADD: the reward is what a discriminator makes of the difference between reference and robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from pfmhr.robots import Robot
from pfmhr.tracking.config import AdversaryConfig, EnvironmentConfig
from pfmhr.tracking.env.observations import RobotState
from pfmhr.tracking.env.transitions import Transitions
from pfmhr.tracking.rewards.adversary import Adversary
from pfmhr.tracking.rewards.difference import difference
from pfmhr.tracking.rewards.reward import TrackingReward


class AddReward(TrackingReward):
    """The discriminator's reward; it learns from every rollout."""

    def __init__(self, settings: AdversaryConfig, robot: Robot, environment: EnvironmentConfig) -> None:
        self.settings = settings
        self.axes = torch.from_numpy(robot.joint_axes) if settings.joints == "rotations" else None
        one = RobotState.zeros(1, robot)
        self.adversary = Adversary(difference(one, one, self.axes).shape[1], settings)
        self._differences = torch.zeros(0)

    def differences(self, rollout: Transitions) -> Tensor:
        """Reference minus robot ``(N, D)``, cut where the settings say; zero where the simulation exploded."""
        gap = difference(rollout.state, rollout.reference, self.axes)
        gap = torch.where(rollout.valid[:, None], gap, 0.0)
        largest = self.settings.difference_clip
        return gap if largest is None else gap.clamp(-largest, largest)

    def compute(self, rollout: Transitions) -> Tensor:
        """The reward ``(N,)``; the discriminator learns nothing of a simulation that exploded."""
        differences = self.differences(rollout)
        self._differences = differences[rollout.valid]
        self.adversary.replay.push(self._differences, self.settings.replay_samples)
        if not int(self.adversary.normaliser.count):
            self.adversary.normaliser.learn(self._differences)  # nothing to divide by yet
        return self.adversary.reward(differences)

    def learn(self, warm_up: bool) -> dict[str, float]:
        """Discriminator first, then normaliser; a warm-up's differences are in the normaliser already."""
        figures = self.adversary.update(self._differences)
        if not warm_up:
            self.adversary.normaliser.learn(self._differences)
        return figures

    @property
    def networks(self) -> Mapping[str, nn.Module]:
        """The discriminator and what normalises its input."""
        return {"discriminator": self.adversary.network, "normaliser": self.adversary.normaliser}

    def state_dict(self) -> dict[str, Any]:
        """Of the discriminator, its normaliser, replay and optimiser."""
        return self.adversary.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
        self.adversary.load_state_dict(dict(state))
