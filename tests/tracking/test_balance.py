"""No clip starves next to another."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import EnvironmentConfig
from pfmhr.tracking.env.balance import ClipMeans
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import MotionLibrary


def test_means_by_hand() -> None:
    means = ClipMeans(3, memory=1.0)
    assert means.relative().tolist() == [1.0, 1.0, 1.0]
    means.learn(torch.tensor([0, 0, 1]), torch.tensor([1.0, 3.0, 10.0]))
    assert means.means.tolist() == [2.0, 10.0, 0.0]
    assert means.relative().tolist() == pytest.approx([2 / 6, 10 / 6, 1.0])
    means.learn(torch.tensor([0]), torch.tensor([5.0]))
    assert float(means.means[0]) == pytest.approx(5.0 - 3.0 * math.exp(-1.0)) and float(means.means[1]) == 10.0


def test_one_clip_is_its_own_measure() -> None:
    means = ClipMeans(1, memory=10.0)
    means.learn(torch.zeros(7, dtype=torch.long), torch.linspace(0.1, 0.7, 7))
    assert means.relative().tolist() == [1.0]


def test_what_is_worth_next_to_nothing_is_no_unit() -> None:
    means = ClipMeans(3, memory=10.0)
    means.learn(torch.tensor([0, 1, 2]), torch.tensor([0.0, 1e-6, 1.0]))
    assert means.relative().tolist() == pytest.approx([1.0, 0.01, 2.0], rel=1e-5)


def test_draws_may_be_tilted(g1: Robot, walking: Motion) -> None:
    library = MotionLibrary(g1, [walking, walking], weights=[1.0, 2.0])
    clip, _ = library.draw(4000, torch.Generator().manual_seed(0), torch.tensor([6.0, 1.0]))
    assert float((clip == 0).float().mean()) == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("balanced", [False, True])
def test_clips_share_samples_or_episodes(g1: Robot, walking: Motion, balanced: bool) -> None:
    """A clip of a tenth of a second ends after three steps at most, the other after twelve."""
    short = replace(walking.frames(0, round(0.1 * walking.fps) + 1), name="short", loop=False)
    config = EnvironmentConfig(environments=64, episode_seconds=0.4, balanced=balanced, termination_distance=50.0)
    environment = TrackingEnvironment(g1, [short, walking], replace(config, contacts=()), threads=1)
    share = []
    for _ in range(90):
        share.append(float((environment.clip == 0).float().mean()))
        environment.step(torch.zeros(64, 29))
    assert sum(share[30:]) / 60 == pytest.approx(0.5 if balanced else 0.15, abs=0.06)
