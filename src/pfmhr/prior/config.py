"""Everything that defines a prior and its training, as data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pfmhr.errors import InputError
from pfmhr.prior.denoiser import Prediction
from pfmhr.prior.network import NetworkConfig
from pfmhr.prior.normalisation import Kind
from pfmhr.prior.path import DELTA, TimeSampling


@dataclass(frozen=True)
class PriorConfig:
    """What is learned. Where the paper is silent, the defaults are what won `pfmhr study prior-choices`."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    prediction: Prediction = "clean"
    """The network predicts the clean pose (the paper's choice) or the velocity (its ablation)."""
    normalisation: Kind = "standard"
    """Poses in units of their spread over the data, or of the joint ranges."""
    time: TimeSampling = field(default_factory=TimeSampling)
    delta: float = DELTA


@dataclass(frozen=True)
class TrainConfig:
    """How it is learned."""

    steps: int = 20_000
    batch_size: int = 2048
    """Poses per step over all processes."""
    distinct_times: int = 64
    """Flow times per batch, shared by its rows: conditioning then costs this many rows, not the batch."""
    learning_rate: float = 1e-3
    warmup: int = 500
    """Steps over which the learning rate rises."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """After the warm-up: down to a hundredth over the run, or constant."""
    weight_decay: float = 0.0
    gradient_clip: float = 1.0
    gradient_limit: float = 1e6
    """A gradient norm beyond this stops the run: something exploded."""
    ema_decay: float = 0.999
    """The prior is this running average of the weights."""
    held_out: float = 0.05
    """Share of the sources kept from training."""
    seed: int = 0
    checkpoint_every: int = 1000
    evaluate_every: int = 1000
    log_every: int = 50
    compile: bool = False
    """Compile the training step (a minute's wait, then faster)."""

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch_size < 1 or self.distinct_times < 1:
            raise InputError("steps, batch_size and distinct_times must be at least 1", code="bad_config")
        if self.batch_size % self.distinct_times:
            raise InputError(
                "distinct_times must divide the batch",
                expected=f"a divisor of {self.batch_size}",
                got=self.distinct_times,
                code="bad_config",
            )

    def rate_at(self, step: int) -> float:
        """Learning rate of a step, counted from 0."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.learning_rate
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.learning_rate * (0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress))))


def prior_config_from_json(content: dict[str, Any]) -> PriorConfig:
    """As :func:`dataclasses.asdict` wrote it."""
    return PriorConfig(
        network=NetworkConfig(**content["network"]),
        prediction=content["prediction"],
        normalisation=content["normalisation"],
        time=TimeSampling(**content["time"]),
        delta=content["delta"],
    )


def as_json(config: PriorConfig | TrainConfig) -> dict[str, Any]:
    """Plain data for a config file."""
    return asdict(config)
