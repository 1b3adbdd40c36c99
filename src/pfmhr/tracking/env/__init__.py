"""Many simulated robots, each following its reference."""

from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import Frames, MotionLibrary
from pfmhr.tracking.env.observations import RobotState

__all__ = ["Frames", "MotionLibrary", "RobotState", "TrackingEnvironment"]
