"""From scores to a factor on the tracking reward."""

from typing import TYPE_CHECKING

from pfmhr.lazy import attributes

if TYPE_CHECKING:
    from pfmhr.reward.calibration import Calibration
    from pfmhr.reward.controls import RandomModulation, ShuffledModulation
    from pfmhr.reward.distance import DistanceModulator
    from pfmhr.reward.fading import Fading
    from pfmhr.reward.modulators import Modulator, NoModulation, ReconstructionModulator, RewardModulator
    from pfmhr.reward.ramp import Ramp
    from pfmhr.reward.settings import DistanceReward

__all__ = [
    "Calibration",
    "DistanceModulator",
    "DistanceReward",
    "Fading",
    "Modulator",
    "NoModulation",
    "Ramp",
    "RandomModulation",
    "ReconstructionModulator",
    "RewardModulator",
    "ShuffledModulation",
]

_HOMES = {
    "Calibration": "pfmhr.reward.calibration",
    "DistanceModulator": "pfmhr.reward.distance",
    "DistanceReward": "pfmhr.reward.settings",
    "Fading": "pfmhr.reward.fading",
    "Modulator": "pfmhr.reward.modulators",
    "NoModulation": "pfmhr.reward.modulators",
    "Ramp": "pfmhr.reward.ramp",
    "RandomModulation": "pfmhr.reward.controls",
    "ReconstructionModulator": "pfmhr.reward.modulators",
    "RewardModulator": "pfmhr.reward.modulators",
    "ShuffledModulation": "pfmhr.reward.controls",
}

__getattr__ = attributes(__name__, _HOMES)
