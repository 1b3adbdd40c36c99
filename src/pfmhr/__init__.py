"""Pose flow matching for humanoid robots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pfmhr.corpus import PoseCorpus
    from pfmhr.errors import InputError
    from pfmhr.motion import Motion
    from pfmhr.prior import PosePrior
    from pfmhr.robots import Robot

__all__ = ["InputError", "Motion", "PoseCorpus", "PosePrior", "Robot"]

_HOME = {
    "InputError": "pfmhr.errors",
    "Motion": "pfmhr.motion",
    "PoseCorpus": "pfmhr.corpus",
    "PosePrior": "pfmhr.prior",
    "Robot": "pfmhr.robots",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that reading poses never waits for torch."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pfmhr' has no attribute '{name}'; it has {', '.join(__all__)}")
