"""Everything that defines a prior and its training, as data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from pfmhr.errors import InputError, unknown_name
from pfmhr.learning import LoopConfig, require_numbers
from pfmhr.prior.denoiser import Prediction
from pfmhr.prior.gaussians import MixtureConfig
from pfmhr.prior.network import NetworkConfig
from pfmhr.prior.normalisation import Kind
from pfmhr.prior.path import DELTA, TimeSampling


@dataclass(frozen=True)
class PriorConfig:
    """What is learned. Where the paper is silent, the defaults are what won in experiments/prior_choices.py."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    prediction: Prediction = "clean"
    """The network predicts the clean pose (the paper's choice) or the velocity (its ablation)."""
    normalisation: Kind = "standard"
    """Poses in units of their spread over the data, or of the joint ranges."""
    time: TimeSampling = field(default_factory=TimeSampling)
    delta: float = DELTA
    """Velocities are divided by 1 − t, and by no less than this."""
    mixture: MixtureConfig | None = None
    """A mixture of Gaussians in place of the network: fitted, not trained."""

    def __post_init__(self) -> None:
        for name, kinds in (("prediction", get_args(Prediction)), ("normalisation", get_args(Kind))):
            if getattr(self, name) not in kinds:
                raise unknown_name(name, str(getattr(self, name)), kinds)
        if self.mixture is not None and self.prediction != "clean":
            raise InputError("a mixture of Gaussians predicts clean poses", got=self.prediction, code="bad_config")
        require_numbers(self, positive=("delta",))
        require_numbers(self.network, positive=("time_scale",))
        if not (math.isfinite(self.time.mean) and math.isfinite(self.time.std)):
            raise InputError("mean and spread of flow times must be finite", got=self.time, code="bad_config")


@dataclass(frozen=True)
class TrainConfig(LoopConfig):
    """How it is learned."""

    distinct_times: int = 64
    """Flow times per batch, shared by its rows: conditioning then costs this many rows, not the batch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distinct_times < 1 or self.batch_size % self.distinct_times:
            raise InputError(
                "distinct_times must divide the batch",
                expected=f"a divisor of {self.batch_size}",
                got=self.distinct_times,
                code="bad_config",
            )


def as_json(config: PriorConfig | TrainConfig) -> dict[str, Any]:
    """Plain data for a config file: the network's shape or, in closed form, the mixture's."""
    content = asdict(config)
    if isinstance(config, PriorConfig):
        del content["mixture" if config.mixture is None else "network"]
    return content
