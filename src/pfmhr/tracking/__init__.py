"""A physics tracker that learns a reference motion, with the prior in the loop.

``env`` steps robots, ``rewards`` says how well they follow, ``ppo`` learns, ``runs`` trains, stores and evaluates,
``watch`` shows and exports what came of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfmhr.tracking.config import AdversaryConfig, AgentConfig, EnvironmentConfig, ModulatorConfig, TrackerConfig
    from pfmhr.tracking.env import Frames, MotionLibrary, TrackingEnvironment
    from pfmhr.tracking.presets import tracker_preset
    from pfmhr.tracking.rewards import TrackingReward
    from pfmhr.tracking.run_options import RunOptions
    from pfmhr.tracking.runs import Evaluator, TrackerRun, train_tracker
    from pfmhr.tracking.spec import Clip, RunSpec
    from pfmhr.tracking.watch import export_policy, film, record_episode

__all__ = [
    "AdversaryConfig",
    "AgentConfig",
    "Clip",
    "EnvironmentConfig",
    "Evaluator",
    "Frames",
    "ModulatorConfig",
    "MotionLibrary",
    "RunOptions",
    "RunSpec",
    "TrackerConfig",
    "TrackerRun",
    "TrackingEnvironment",
    "TrackingReward",
    "export_policy",
    "film",
    "record_episode",
    "tracker_preset",
    "train_tracker",
]

_HOMES = {
    "config": ("AdversaryConfig", "AgentConfig", "EnvironmentConfig", "ModulatorConfig", "TrackerConfig"),
    "env": ("Frames", "MotionLibrary", "TrackingEnvironment"),
    "presets": ("tracker_preset",),
    "rewards": ("TrackingReward",),
    "run_options": ("RunOptions",),
    "runs": ("Evaluator", "TrackerRun", "train_tracker"),
    "spec": ("Clip", "RunSpec"),
    "watch": ("export_policy", "film", "record_episode"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: who reads settings does not wait for torch and the physics."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"pfmhr.tracking.{home}"), name)
    raise AttributeError(f"module 'pfmhr.tracking' has no attribute '{name}'; it has {', '.join(__all__)}")
