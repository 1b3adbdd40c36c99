"""One's own robot and one's own loop: the examples run, and show what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from pfmhr import Robot
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots.kinematics import body_poses
from tests.examples.conftest import EXAMPLES


def test_a_robot_of_ones_own_gets_a_prior_and_a_tracker(
    example: Callable[[str], ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    factors = example("own_robot").main(tmp_path, prior_steps=300, samples=1536)
    assert factors["as in the clip"] > 0.95 and factors["one leg backwards"] < 0.7
    for written in ("biped.xml", "corpus/manifest.json", "prior/model.safetensors", "tracker/result.json"):
        assert (tmp_path / written).exists(), written
    printed = capsys.readouterr().out
    assert printed.startswith("biped: left_hip, left_knee, left_ankle, right_hip")
    assert re.search(r"the tracker follows \d+% of the clip after 1,536 samples", printed)


def test_the_squats_keep_the_soles_flat_on_the_floor_below_the_hips(
    example: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    own = example("own_robot")
    (tmp_path / "biped.xml").write_text(own.MJCF)
    robot = Robot.load(tmp_path / "biped.xml")
    clip = own.squats(robot, seconds=3.0, pace=0.5, depth=1.2)
    places, turns = body_poses(robot, clip.root_pos, clip.root_quat, clip.joint_pos)
    for side in ("left", "right"):
        foot = robot.body_names.index(f"{side}_foot")
        assert places[:, foot, 2] == pytest.approx(np.full(180, own.SOLE), abs=1e-5)
        assert places[:, foot, 0] == pytest.approx(np.zeros(180), abs=1e-5)
        assert np.abs(turns[:, foot, 0]) == pytest.approx(np.ones(180), abs=1e-5)  # upright
    assert np.ptp(clip.root_pos[:, 2]) > 0.05


def test_the_loop_learns_and_reports_the_factor(example: Callable[[str], ModuleType]) -> None:
    log = example("own_loop").main(iterations=14, robots=48, steps=8)
    assert np.mean([row["reward"] for row in log[-3:]]) > 1.2 * np.mean([row["reward"] for row in log[:3]])
    for row in log:
        assert 0.61 <= row["multiplier"] < 1.0 and row["not_finite"] == 0


def test_the_loop_never_scores_a_step_across_a_reset(example: Callable[[str], ModuleType]) -> None:
    """Robots leap to other frames when they are reset; no pair of poses is that far apart but by the motors."""
    loop = example("own_loop")
    torch.manual_seed(0)
    reference = torch.from_numpy(embedded_motion("front_kick").resample(30.0).joint_pos)
    environment, policy = loop.Environment(reference, robots=32), loop.Policy(29)
    rows = loop.collect(environment, policy, steps=40)
    assert rows["over"][:-1].any()
    moved = (rows["after"] - rows["before"]) - 0.6 * (rows["done"] - rows["before"])
    assert moved.abs().max() < 0.08  # what is left is the push: 0.01 rad, and 6 of its deviations
    leapt = (rows["before"][1:] != rows["after"][:-1]).any(dim=2)
    assert leapt.equal(rows["over"][:-1])


def test_returns_end_with_their_episode(example: Callable[[str], ModuleType]) -> None:
    rewards = torch.tensor([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    over = torch.tensor([[False, False], [True, False], [False, False]])
    sums = example("own_loop").returns_of(rewards, over, discount=0.5)
    assert sums.tolist() == [[2.0, 3.0], [2.0, 4.0], [4.0, 4.0]]


def test_each_example_is_linked_from_the_readme_and_the_documentation() -> None:
    root = EXAMPLES.parent
    readme, index = (root / "README.md").read_text(), (root / "docs" / "index.md").read_text()
    for example in EXAMPLES.glob("*.py"):
        assert f"examples/{example.name}" in readme and f"examples/{example.name}" in index, example.name
