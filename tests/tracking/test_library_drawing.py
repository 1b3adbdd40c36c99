"""Which clips and frames are drawn, and which clips are refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import MotionLibrary

from ..score.priors import refused, seeded
from .clips import moving

# Drawing


def test_clips_are_drawn_by_weight(g1: Robot) -> None:
    library = MotionLibrary(g1, [moving(g1), moving(g1), moving(g1)], weights=[1.0, 0.0, 3.0])
    clip, _ = library.draw(4000, seeded(0))
    counts = clip.bincount(minlength=3).tolist()
    assert counts[1] == 0 and 900 < counts[0] < 1100


def test_starts_are_anywhere_but_at_the_end(g1: Robot) -> None:
    library = MotionLibrary(g1, [moving(g1, frames=3), moving(g1)], rate=30.0)
    clip, frame = library.draw(5000, seeded(1))
    assert sorted(set(frame[clip == 0].tolist())) == [0, 1]
    assert sorted(set(frame[clip == 1].tolist())) == [0, 1, 2, 3, 4, 5]
    assert not library.ended(clip, frame).any()


def test_draws_repeat_with_their_seed(g1: Robot, walking: Motion) -> None:
    library = MotionLibrary(g1, [walking, moving(g1)])
    for once, again in zip(library.draw(50, seeded(3)), library.draw(50, seeded(3)), strict=True):
        assert torch.equal(once, again)


# What is refused


def test_no_motion_is_refused(g1: Robot) -> None:
    with refused("bad_input", "no motion"):
        MotionLibrary(g1, [])


def test_another_robots_motion_is_refused(g1: Robot) -> None:
    mine = moving(g1)
    names = ("elsewhere_joint", *mine.joint_names[1:])
    with refused("wrong_robot", "other joints", "robot 'g1'", "elsewhere_joint", "foreign"):
        MotionLibrary(g1, [mine, replace(mine, joint_names=names, robot="g1x", name="foreign")])


@pytest.mark.parametrize("frames", [1, 2])
def test_a_motion_without_a_middle_is_refused(g1: Robot, frames: int) -> None:
    with refused("short", "3 frames", f"got {frames}"):
        MotionLibrary(g1, [moving(g1).frames(0, frames)])


@pytest.mark.parametrize("name", ["joint_pos", "root_pos", "root_quat"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_broken_numbers_are_refused(g1: Robot, name: str, value: float) -> None:
    broken = moving(g1)
    getattr(broken, name)[3, 1] = value
    with refused("not_finite", name):
        MotionLibrary(g1, [broken])


@pytest.mark.parametrize("weights", [[1.0], [1.0, -0.1], [0.0, 0.0], [1.0, math.nan], [1.0, math.inf], []])
def test_impossible_weights_are_refused(g1: Robot, weights: list[float]) -> None:
    with refused("bad_config", "one weight per motion"):
        MotionLibrary(g1, [moving(g1), moving(g1)], weights=weights)
