"""ADD's discriminator: it learns what no difference looks like, and rewards what looks like it."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.modules import MLP
from torch import Tensor, nn
from torch.nn import functional

from pfmhr.tracking.config import AdversaryConfig

SMALLEST = 1e-4
"""Floor of the normaliser's divisors, and of 1 − σ in the reward."""


class MagnitudeNormaliser(nn.Module):
    """Divides each number by its mean magnitude so far; zero stays zero."""

    def __init__(self, width: int, until: int) -> None:
        super().__init__()
        self.until = until
        self.register_buffer("magnitude", torch.ones(width))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.magnitude: Tensor
        self.count: Tensor

    def forward(self, values: Tensor) -> Tensor:
        """``(N, D)`` → ``(N, D)``."""
        return values / self.magnitude.clamp(min=SMALLEST)

    def learn(self, values: Tensor) -> None:
        """Take rows into the mean; the first ones replace what it started with."""
        if int(self.count) >= self.until or not len(values):
            return
        self.count += len(values)
        self.magnitude += (values.abs().mean(dim=0) - self.magnitude) * (len(values) / self.count)


class Replay:
    """Differences of earlier rollouts, in a ring."""

    def __init__(self, capacity: int, width: int) -> None:
        self.rows = torch.zeros(capacity, width)
        self.filled = self.next = 0

    def push(self, rows: Tensor, when_full: int) -> None:
        """All rows while there is room; once full, ``when_full`` random ones over the oldest."""
        if self.filled == len(self.rows):
            rows = rows[torch.randperm(len(rows))[:when_full]]
        rows = rows[-len(self.rows) :]
        places = (self.next + torch.arange(len(rows))) % len(self.rows)
        self.rows[places] = rows
        self.next = int(self.next + len(rows)) % len(self.rows)
        self.filled = min(len(self.rows), self.filled + len(rows))

    def draw(self, count: int) -> Tensor:
        """Random rows ``(count, D)``."""
        return self.rows[torch.randint(self.filled, (count,))]


class Adversary:
    """Discriminator, normaliser, replay and optimiser."""

    def __init__(self, width: int, config: AdversaryConfig) -> None:
        self.config = config
        self.network = MLP(width, 1, config.hidden, "relu")
        self._last = [layer for layer in self.network if isinstance(layer, nn.Linear)][-1]
        for layer in self.network:
            if isinstance(layer, nn.Linear):
                nn.init.zeros_(layer.bias)
        nn.init.uniform_(self._last.weight, -1.0, 1.0)
        self.normaliser = MagnitudeNormaliser(width, config.normaliser_samples)
        self.replay = Replay(config.replay, width)
        settings: dict[str, Any] = {"lr": config.learning_rate, "weight_decay": config.weight_decay}
        if config.optimiser == "sgd":
            self.optimiser: torch.optim.Optimizer = torch.optim.SGD(
                self.network.parameters(), momentum=config.momentum, **settings
            )
        else:
            self.optimiser = torch.optim.AdamW(self.network.parameters(), **settings)

    def reward(self, differences: Tensor) -> Tensor:
        """``−2·log(max(1 − σ(D), 1e-4))``: differences ``(N, D)`` → ``(N,)`` in [0, 18.4]."""
        with torch.no_grad():
            logit = self.network(self.normaliser(differences)).squeeze(-1)
        return -self.config.reward_scale * torch.log((1.0 - torch.sigmoid(logit)).clamp(min=SMALLEST))

    def loss(self, negatives: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Loss on normalised differences ``(N, D)`` of the policy; the one positive is no difference at all."""
        config = self.config
        rows = torch.cat([torch.zeros(1, negatives.shape[1]), negatives]).requires_grad_()
        logit = self.network(rows).squeeze(-1)
        (slope,) = torch.autograd.grad(logit.sum(), rows, create_graph=True)
        steepness = slope.square().sum(dim=-1)
        real, fake = logit[0], logit[1:]
        classes = 0.5 * (functional.softplus(-real) + functional.softplus(fake).mean())
        penalty = 0.5 * (steepness[0] + steepness[1:].mean())
        size = self._last.weight.square().sum()
        total = classes + config.logit_regularisation * size + config.gradient_penalty * penalty
        figures = {
            "discriminator_loss": total,
            "gradient_penalty": penalty,
            "accuracy_reference": (real > 0).float(),
            "accuracy_policy": (fake < 0).float().mean(),
            "logit_reference": real,
            "logit_policy": fake.mean(),
        }
        return total, {name: value.detach() for name, value in figures.items()}

    def update(self, differences: Tensor) -> dict[str, float]:
        """Learn from a rollout's differences ``(N, D)`` and as many replayed ones; returns mean figures."""
        if not len(differences):
            return {}
        size = max(1, len(differences) // self.config.minibatches)
        sums: dict[str, Tensor] = {}
        steps = 0
        for _ in range(self.config.epochs):
            order = torch.randperm(len(differences))
            for part in order.split(size)[: self.config.minibatches]:
                negatives = torch.cat([differences[part], self.replay.draw(len(part))])
                loss, figures = self.loss(self.normaliser(negatives))
                self.optimiser.zero_grad(set_to_none=True)
                loss.backward()
                self.optimiser.step()
                steps += 1
                sums = {name: sums.get(name, torch.zeros(())) + value for name, value in figures.items()}
        return {name: float(value) / steps for name, value in sums.items()}

    def state_dict(self) -> dict[str, Any]:
        """Everything a resumed run needs."""
        return {
            "network": self.network.state_dict(),
            "normaliser": self.normaliser.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "replay": self.replay.rows[: self.replay.filled],
            "replay_next": self.replay.next,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
        self.network.load_state_dict(state["network"])
        self.normaliser.load_state_dict(state["normaliser"])
        self.optimiser.load_state_dict(state["optimiser"])
        rows = state["replay"]
        self.replay.rows[: len(rows)] = rows
        self.replay.filled, self.replay.next = len(rows), int(state["replay_next"])
