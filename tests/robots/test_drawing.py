"""Drawing a robot without a display."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from pfmhr.robots import Robot
from pfmhr.robots.drawing import Pen, frame_axes

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def drawn(robot: Robot, pose: np.ndarray, **options: float) -> np.ndarray:
    """Corners of the box around everything drawn: left, bottom, right, top in m."""
    figure, axes = plt.subplots()
    Pen(robot, **options).draw(axes, pose)
    frame_axes(axes)
    boxes = np.array([path.get_extents().extents for shapes in axes.collections for path in shapes.get_paths()])
    plt.close(figure)
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def test_a_standing_g1_is_as_tall_as_a_g1(g1: Robot) -> None:
    left, bottom, right, top = drawn(g1, g1.default_pose, azimuth=0.0, elevation=0.0)
    assert bottom == pytest.approx(0.0, abs=0.01)
    assert top == pytest.approx(1.32, abs=0.01)  # Unitree states 1.32 m
    assert left == pytest.approx(-right, abs=0.01)  # seen from the front it is symmetric
    assert 0.4 < right - left < 0.7


def test_a_raised_arm_is_drawn_raised(g1: Robot) -> None:
    pose = g1.default_pose.copy()
    pose[g1.joint_indices(["left_shoulder_pitch_joint"])[0]] = -3.0
    assert drawn(g1, pose)[3] > drawn(g1, g1.default_pose)[3] + 0.1
