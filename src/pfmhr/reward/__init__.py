"""From scores to a factor on the tracking reward."""

from pfmhr.reward.calibration import Calibration
from pfmhr.reward.distance import DistanceModulator, DistanceReward
from pfmhr.reward.modulators import Modulator, NoModulation, ReconstructionModulator, RewardModulator
from pfmhr.reward.ramp import Ramp

__all__ = [
    "Calibration",
    "DistanceModulator",
    "DistanceReward",
    "Modulator",
    "NoModulation",
    "Ramp",
    "ReconstructionModulator",
    "RewardModulator",
]
