"""One core for each test worker; clips from memory, and environments of a few robots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot
from pfmhr.tracking import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment

torch.set_num_threads(1)  # two test workers share two cores


@pytest.fixture(scope="session")
def walking(g1: Robot) -> Motion:
    """Two looping seconds of walking."""
    return embedded_motion("walk", g1)


@pytest.fixture
def environment(g1: Robot) -> Callable[..., TrackingEnvironment]:
    """Makes environments, all of them at the first frame of the first clip."""

    def make(
        *motions: Motion, environments: int = 4, body_motion: bool = False, **settings: Any
    ) -> TrackingEnvironment:
        config = EnvironmentConfig(environments=environments, **settings)
        made = TrackingEnvironment(g1, motions, config, threads=1, body_motion=body_motion)
        start = torch.zeros(environments, dtype=torch.long)
        made.reset(start, start)
        return made

    return make
