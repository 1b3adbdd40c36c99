"""A prior, a server without a browser, and the page's own clips; one core for each test worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import viser

from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.viewer.server import running
from pfmhr.viewer.takes import Take, motion_takes

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def prior() -> PosePrior:
    return PosePrior.load("g1-small")


@pytest.fixture(scope="session")
def takes(prior: PosePrior, g1: Robot, make_walk: Callable[..., Motion]) -> list[Take]:
    """Two seconds and one second of walking, 60 and 30 frames."""
    clips = [make_walk(frames=60, name="long"), make_walk(frames=30, stride=0.3, name="short")]
    return motion_takes(prior, clips, g1, 30.0)


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    with running("127.0.0.1", 0) as made:
        yield made
