"""MimicKit's way to update: critic first, then actor, each by plain SGD with its own minibatches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from tensordict import TensorDict
from torch import Tensor

from pfmhr.tracking.config import SeparateUpdates

if TYPE_CHECKING:
    from pfmhr.tracking.ppo.algorithm import TrackerPPO


class SeparateOptimisers:
    """Two SGD optimisers and the loops over a rollout."""

    def __init__(self, owner: TrackerPPO, settings: SeparateUpdates) -> None:
        self._owner, self.settings = owner, settings
        self.actor = torch.optim.SGD(owner.actor.parameters(), settings.actor_rate, settings.momentum)
        self.critic = torch.optim.SGD(owner.critic.parameters(), settings.critic_rate, settings.momentum)
        owner.learning_rate = settings.actor_rate

    def update(self) -> dict[str, float]:
        """One iteration; returns mean losses."""
        owner, settings, storage = self._owner, self.settings, self._owner.storage
        environments = storage.num_envs
        names = ("actions", "actions_log_prob", "advantages", "returns")
        flat = {name: getattr(storage, name).flatten(0, 1) for name in names}
        observations = storage.observations.flatten(0, 1)
        critic = [
            self._critic_step(observations[rows], flat["returns"][rows])
            for rows in _minibatches(len(flat["returns"]), settings.critic_batch * environments, settings.critic_epochs)
        ]
        actor = [
            self._actor_step(observations[rows], {name: values[rows] for name, values in flat.items()})
            for rows in _minibatches(len(flat["returns"]), settings.actor_batch * environments, settings.actor_epochs)
        ]
        storage.clear()
        surrogate, bound = (sum(step[index] for step in actor) / len(actor) for index in range(2))
        entropy = float(owner.actor.output_entropy.mean().detach())
        return {
            "value": sum(critic) / len(critic),
            "surrogate": surrogate,
            "action_bound": bound,
            "entropy": entropy,
        }

    def _critic_step(self, observations: TensorDict, returns: Tensor) -> float:
        loss = (self._owner.critic(observations) - returns).square().mean()
        self.critic.zero_grad(set_to_none=True)
        loss.backward()
        self.critic.step()
        return float(loss.detach())

    def _actor_step(self, observations: TensorDict, batch: dict[str, Tensor]) -> tuple[float, float]:
        owner = self._owner
        owner.actor(observations, stochastic_output=True)
        ratio = torch.exp(owner.actor.get_output_log_prob(batch["actions"]) - batch["actions_log_prob"].squeeze(-1))
        advantage = batch["advantages"].squeeze(-1)
        clipped = ratio.clamp(1.0 - owner.clip_param, 1.0 + owner.clip_param)
        surrogate = -torch.minimum(advantage * ratio, advantage * clipped).mean()
        bound = action_bound_loss(owner.actor.output_mean)
        entropy = owner.actor.output_entropy.mean()
        loss = surrogate + self.settings.action_bound * bound - owner.entropy_coef * entropy
        self.actor.zero_grad(set_to_none=True)
        loss.backward()
        self.actor.step()
        return float(surrogate.detach()), float(bound.detach())

    def state_dict(self) -> dict[str, Any]:
        """State of both optimisers."""
        return {"actor_optimiser": self.actor.state_dict(), "critic_optimiser": self.critic.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
        self.actor.load_state_dict(state["actor_optimiser"])
        self.critic.load_state_dict(state["critic_optimiser"])


def action_bound_loss(mean: Tensor) -> Tensor:
    """Mean over rows of the summed squares by which mean actions ``(N, J)`` leave [−1, 1]."""
    return (mean.abs() - 1.0).clamp(min=0.0).square().sum(dim=-1).mean()


def _minibatches(rows: int, size: int, epochs: int) -> Iterator[Tensor]:
    """Shuffled rows in parts of ``size``, each row once per epoch."""
    for _ in range(epochs):
        yield from torch.randperm(rows).split(min(size, rows))
