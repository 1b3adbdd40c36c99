"""What tests of the simulation share: the G1 on its floor."""

from __future__ import annotations

import pytest

from pfmhr.robots import Robot
from pfmhr.sim import Scene


@pytest.fixture(scope="package")
def scene(g1: Robot) -> Scene:
    return Scene(g1)
