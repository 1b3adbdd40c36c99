"""Pose flow matching for humanoid robots."""

from typing import TYPE_CHECKING

from pfmhr.lazy import attributes

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

_HOMES = {
    "Calibration": "pfmhr.reward",
    "InputError": "pfmhr.errors",
    "Motion": "pfmhr.motion",
    "PoseCorpus": "pfmhr.corpus",
    "PoseGeometryScore": "pfmhr.score",
    "PosePrior": "pfmhr.prior",
    "RewardModulator": "pfmhr.reward",
    "Robot": "pfmhr.robots",
}

__getattr__ = attributes(__name__, _HOMES)
