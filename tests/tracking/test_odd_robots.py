"""Robots at the edge: one joint learns as any other; physics that fails is told, and no figure is NaN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pfmhr.learning.logging import read_metrics
from pfmhr.motion import Motion
from pfmhr.results.run_result import read_result
from pfmhr.robots import Robot
from pfmhr.tracking.runs import train_tracker

from ..score.priors import refused
from .learning import TINY

HOPPER = """
<mujoco><worldbody><body name="trunk" pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="{trunk}"/>
  <body name="leg"><joint name="hip" axis="0 1 0" range="-90 90"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03" mass="{leg}"/></body></body></worldbody>
  <actuator><position joint="hip" kp="20" dampratio="1" forcerange="-40 40"/></actuator></mujoco>"""
SHORT = replace(TINY, samples=48, environment=replace(TINY.environment, contacts=("leg",), key_bodies=("leg",)))

Train = Callable[[float, float], Path]


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """A hopper of given masses in kg, trained on one second of swinging its leg."""

    def run(trunk: float, leg: float) -> Path:
        path = tmp_path / "hopper.xml"
        path.write_text(HOPPER.format(trunk=trunk, leg=leg))
        robot = Robot.load(path)
        swing = 0.4 * np.sin(2 * np.pi * np.arange(60) / 60)[:, None]
        motion = Motion.from_arrays(robot, swing, fps=60, root_pos=np.tile([0.0, 0.0, 0.3], (60, 1)), name="swing")
        train_tracker(tmp_path / "run", robot, [motion], SHORT, threads=1)
        return tmp_path / "run"

    return run


def test_a_robot_of_one_joint_is_trained(train: Train) -> None:
    run = train(2.0, 0.5)
    assert read_result(run).samples == 48 and read_result(run).exploded == 0


def test_masses_with_which_the_physics_fails_are_told_at_the_first_iteration(train: Train, tmp_path: Path) -> None:
    """A millionth of a gram on a motor of 40 N·m: every step explodes, and nothing could be learned for hours."""
    with refused("unstable", "hopper.xml", "48 of the 48 steps of iteration 1", "physics_rate", "masses"):
        train(1e-9, 1e-9)
    lines = read_metrics(tmp_path / "run")
    assert len(lines) == 1 and all(value == value for value in lines[0].values())
