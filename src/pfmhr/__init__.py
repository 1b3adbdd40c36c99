"""Pose flow matching for humanoid robots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pfmhr.corpus import PoseCorpus
    from pfmhr.errors import InputError
    from pfmhr.motion import Motion
    from pfmhr.prior import PosePrior
    from pfmhr.reward import Calibration, RewardModulator
    from pfmhr.robots import Robot
    from pfmhr.score import PoseGeometryScore

__all__ = [
    "Calibration",
    "InputError",
    "Motion",
    "PoseCorpus",
    "PoseGeometryScore",
    "PosePrior",
    "RewardModulator",
    "Robot",
]

_HOME = {
    "Calibration": "pfmhr.reward",
    "InputError": "pfmhr.errors",
    "Motion": "pfmhr.motion",
    "PoseCorpus": "pfmhr.corpus",
    "PoseGeometryScore": "pfmhr.score",
    "PosePrior": "pfmhr.prior",
    "RewardModulator": "pfmhr.reward",
    "Robot": "pfmhr.robots",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that reading poses never waits for torch."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pfmhr' has no attribute '{name}'; it has {', '.join(__all__)}")
