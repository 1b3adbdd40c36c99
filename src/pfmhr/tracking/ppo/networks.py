"""Actor and critic: rsl_rl's networks, with observations cut and the output layer started small."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.models import MLPModel
from rsl_rl.modules import EmpiricalNormalization
from tensordict import TensorDict
from torch import Tensor, nn

from pfmhr.tracking.config import AgentConfig


class TrackerNetwork(MLPModel):
    """An MLP on normalised observations."""

    def __init__(
        self, obs: TensorDict, obs_set: str, outputs: int, config: AgentConfig, output_scale: float | None = None
    ) -> None:
        """``output_scale``: bound of the output layer's first weights, biases zero; rsl_rl's own unless given."""
        gaussian: dict[str, Any] | None = {
            "class_name": "rsl_rl.modules.distribution:GaussianDistribution",
            "init_std": config.std,
            "learn_std": config.learn_std,
        }
        super().__init__(
            obs,
            {obs_set: ["policy"]},
            obs_set,
            outputs,
            config.hidden,
            config.activation,
            obs_normalization=True,
            distribution_cfg=gaussian if obs_set == "actor" else None,
        )
        self.obs_normalizer = EmpiricalNormalization(self.obs_dim, eps=1e-4, until=config.normaliser_samples)
        self.observation_clip = config.observation_clip
        if output_scale is not None:
            last = [layer for layer in self.mlp if isinstance(layer, nn.Linear)][-1]
            nn.init.uniform_(last.weight, -output_scale, output_scale)
            nn.init.zeros_(last.bias)

    def get_latent(self, obs: TensorDict, masks: Tensor | None = None, hidden_state: Any = None) -> Tensor:
        """Normalised observations ``(N, D)``, none beyond the clip."""
        return super().get_latent(obs, masks, hidden_state).clamp(-self.observation_clip, self.observation_clip)

    def update_normalization(self, obs: TensorDict) -> None:
        """Nothing: a normaliser that moves within a rollout would make the old policy look like another one."""

    def learn_normalisation(self, observations: Tensor) -> None:
        """Take observations ``(N, D)`` into the running mean and deviation."""
        self.obs_normalizer.update(observations)  # type: ignore[operator]


class Policy(nn.Module):
    """The deterministic policy by itself, from raw observations ``(N, D)`` to mean actions ``(N, J)``."""

    def __init__(self, network: TrackerNetwork) -> None:
        super().__init__()
        normaliser = network.obs_normalizer
        self.register_buffer("mean", normaliser._mean.detach().clone())  # type: ignore[union-attr, operator]
        self.register_buffer("scale", 1.0 / (normaliser._std + normaliser.eps).detach())  # type: ignore[operator]
        self.clip, self.mlp = network.observation_clip, network.mlp

    def forward(self, observation: Tensor) -> Tensor:
        """Mean actions."""
        normalised = (observation - self.mean) * self.scale  # type: ignore[operator]
        return self.mlp(torch.clamp(normalised, -self.clip, self.clip))
