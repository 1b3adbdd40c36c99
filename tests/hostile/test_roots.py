"""Roots where no robot is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import check_motion
from pfmhr.robots import Robot
from pfmhr.tracking.env.library import MotionLibrary


def moved(motion: Motion, by: tuple[float, float, float]) -> Motion:
    return replace(motion, root_pos=motion.root_pos + np.asarray(by, np.float32))


@pytest.mark.parametrize(
    ("by", "code"),
    [((1e8, 0.0, 0.0), "far_away"), ((0.0, -5e6, 0.0), "far_away"), ((0.0, 0.0, -5.0), "under_floor"),
     ((0.0, 0.0, 4.0), "in_the_air")],
)  # fmt: skip
def test_a_root_where_no_robot_is_is_named_and_not_trained_on(
    by: tuple[float, float, float], code: str, walk: Motion, g1: Robot
) -> None:
    clip = moved(walk, by)
    assert code in {fault.code for fault in check_motion(clip, g1)}
    with pytest.raises(InputError, match=code) as caught:
        MotionLibrary(g1, [clip])
    assert caught.value.code == "faulty_motion"


def test_a_csv_with_coordinates_of_a_map_keeps_its_millimetres(walk: Motion, g1: Robot, tmp_path: Path) -> None:
    place = np.array([5e6, -3e6, 0.0])
    root = walk.root_pos.astype(np.float64) + place
    table = np.concatenate([root, walk.root_quat[:, [1, 2, 3, 0]], walk.joint_pos], axis=1)
    np.savetxt(tmp_path / "map.csv", table, delimiter=",", fmt="%.9f")
    read = Motion.read(tmp_path / "map.csv", g1, fps=30, to_origin=True)
    start = walk.root_pos[0] * [1.0, 1.0, 0.0]
    assert np.abs(read.root_pos - (walk.root_pos - start)).max() < 1e-6


def test_a_walk_at_the_other_end_of_the_hall_is_tracked_as_if_at_the_origin(walk: Motion, g1: Robot) -> None:
    steps = np.round(walk.root_pos * 2**12) / 2**12  # float32 holds these here and there
    exact = replace(walk, root_pos=steps.astype(np.float32))
    frames = torch.arange(300)
    here, there = (
        MotionLibrary(g1, [moved(exact, (place, 0.0, 0.0))]).at(torch.zeros(300, dtype=torch.long), frames)
        for place in (0.0, 900.0)
    )
    assert (here.root_velocity - there.root_velocity).abs().max() < 1e-5
