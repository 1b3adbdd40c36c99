"""The prior: flow matching on single poses, trained on unordered data, frozen afterwards."""

from pfmhr.prior.config import PriorConfig, TrainConfig
from pfmhr.prior.fitting import fit_prior
from pfmhr.prior.network import NetworkConfig, preset
from pfmhr.prior.prior import PosePrior
from pfmhr.prior.runs import extend_prior, train_prior

__all__ = [
    "NetworkConfig",
    "PosePrior",
    "PriorConfig",
    "TrainConfig",
    "extend_prior",
    "fit_prior",
    "preset",
    "train_prior",
]
