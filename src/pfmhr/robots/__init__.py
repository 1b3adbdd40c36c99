"""Robots: joint names, order, limits and motors from an MJCF file."""

from pfmhr.robots.kinematics import body_poses
from pfmhr.robots.robot import Robot

__all__ = ["Robot", "body_poses"]
