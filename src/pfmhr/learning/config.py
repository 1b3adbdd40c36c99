"""How a network is trained, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pfmhr.errors import InputError, unknown_name
from pfmhr.learning.limits import require_numbers


@dataclass(frozen=True)
class LoopConfig:
    """What the loop itself needs to know."""

    steps: int = 20_000
    """How many steps."""
    batch_size: int = 2048
    """Poses per step over all processes."""
    learning_rate: float = 1e-3
    """Peak of the learning rate."""
    warmup: int = 500
    """Steps over which the learning rate rises."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """After the warm-up: down to a hundredth over the run, or constant."""
    weight_decay: float = 0.0
    """Decay of the weights, as in AdamW."""
    gradient_clip: float = 1.0
    """A longer gradient is cut to this norm."""
    gradient_limit: float = 1e6
    """A gradient norm beyond this stops the run: something exploded."""
    ema_decay: float = 0.999
    """What is kept is this running average of the weights."""
    held_out: float = 0.05
    """Share of the sources kept from training."""
    seed: int = 0
    """Decides initial weights, batches, noise and what is held out."""
    checkpoint_every: int = 1000
    """Steps between checkpoints."""
    evaluate_every: int = 1000
    """Steps between evaluations."""
    log_every: int = 50
    """Steps between lines of the log."""
    compile: bool = False
    """Compile the training step (a minute's wait, then faster)."""

    def __post_init__(self) -> None:
        require_numbers(self, at_least_one=("steps", "batch_size", "checkpoint_every", "evaluate_every", "log_every"))
        require_numbers(self, positive=("learning_rate", "gradient_clip", "gradient_limit"))
        require_numbers(self, not_negative=("warmup", "weight_decay"))
        if not 0.0 < self.held_out < 1.0:
            raise InputError("the held-out share must lie between 0 and 1", got=self.held_out, code="bad_config")
        if not 0.0 <= self.ema_decay < 1.0:
            raise InputError("ema_decay must be 0 or more, and below 1", got=self.ema_decay, code="bad_config")
        if not -(2**63) <= self.seed < 2**64:
            raise InputError("seed must be a 64-bit number", got=self.seed, code="bad_config")
        if self.schedule not in ("cosine", "constant"):
            raise unknown_name("schedule", self.schedule, ("cosine", "constant"))

    def due(self, step: int, every: int) -> bool:
        """Whether something is to be done after so many steps: every so often, and at the end."""
        return step % every == 0 or step == self.steps

    def rate_at(self, step: int) -> float:
        """Learning rate of a step, counted from 0."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.learning_rate
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.learning_rate * (0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress))))
