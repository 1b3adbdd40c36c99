"""A physics tracker that learns a reference motion, with the prior in the loop."""

from pfmhr.tracking.config import (
    AdversaryConfig,
    AgentConfig,
    EnvironmentConfig,
    ModulatorConfig,
    TrackerConfig,
    tracker_preset,
)
from pfmhr.tracking.library import Frames, MotionLibrary

__all__ = [
    "AdversaryConfig",
    "AgentConfig",
    "EnvironmentConfig",
    "Frames",
    "ModulatorConfig",
    "MotionLibrary",
    "TrackerConfig",
    "tracker_preset",
]
