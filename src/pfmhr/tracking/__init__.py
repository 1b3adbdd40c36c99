"""A physics tracker that learns a reference motion, with the prior in the loop."""

from pfmhr.tracking.config import (
    AdversaryConfig,
    AgentConfig,
    EnvironmentConfig,
    ModulatorConfig,
    TrackerConfig,
)
from pfmhr.tracking.library import Frames, MotionLibrary
from pfmhr.tracking.presets import tracker_preset

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
