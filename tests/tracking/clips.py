"""Clips whose every number is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import Frames
from pfmhr.tracking.env.observations import RobotState

FPS = 30.0


def moving(robot: Robot, frames: int = 7, tilt: float = 0.0, turning: float = 0.0, **about: Any) -> Motion:
    """0.6 m/s ahead, joint 0 at 0.9 rad/s, tilted about x and turning about z of the world by rad/s."""
    time = np.arange(frames) / FPS
    poses = np.zeros((frames, robot.num_joints))
    poses[:, 0] = 0.9 * time
    root = np.stack([0.6 * time, 0.0 * time, np.full(frames, 0.8)], axis=1)
    turn = Rotation.from_euler("z", turning * time[:, None]) * Rotation.from_euler("x", tilt)
    return Motion.from_arrays(robot, poses, FPS, root, turn.as_quat(scalar_first=True), **about)


def still(robot: Robot, seconds: float = 0.5, loop: bool = False, **about: Any) -> Motion:
    """Stands in its default pose."""
    frames = round(seconds * FPS) + 1
    return Motion.from_arrays(robot, np.tile(robot.default_pose, (frames, 1)), FPS, loop=loop, **about)


def lying(robot: Robot, seconds: float = 1.0, **about: Any) -> Motion:
    """Lies on its back, every joint at zero."""
    frames = round(seconds * FPS) + 1
    root = np.tile([0.0, 0.0, 0.08], (frames, 1))
    turn = np.tile(Rotation.from_euler("y", -np.pi / 2).as_quat(scalar_first=True), (frames, 1))
    return Motion.from_arrays(robot, np.zeros((frames, robot.num_joints)), FPS, root, turn, **about)


def cycle(robot: Robot, open_ended: bool = False, **about: Any) -> Motion:
    """Four frames of 0.1 m and back to the first pose; ``open_ended`` leaves that last frame out."""
    frames = 4 if open_ended else 5
    poses = np.zeros((frames, robot.num_joints))
    poses[:, 3] = [0.0, 0.2, 0.4, 0.2, 0.0][:frames]
    poses[:, 9] = [0.2, 0.4, 0.2, 0.0, 0.2][:frames]
    root = np.stack([0.1 * np.arange(frames), np.zeros(frames), np.full(frames, 0.8)], axis=1)
    return Motion.from_arrays(robot, poses, FPS, root, loop=True, **about)


def on_reference(frames: Frames) -> RobotState:
    """A robot exactly there."""
    return RobotState(
        frames.root_pos,
        frames.root_quat,
        frames.joint_pos,
        frames.root_velocity,
        frames.root_spin,
        frames.joint_vel,
        frames.body_pos,
    )
