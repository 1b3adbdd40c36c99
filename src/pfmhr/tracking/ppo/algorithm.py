"""PPO whose rewards are made after the rollout: by a tracking reward, scaled by the prior."""

from __future__ import annotations

import math
import time
from typing import Any

import torch
from rsl_rl.algorithms import PPO
from rsl_rl.modules.normalization import EmpiricalDiscountedVariationNormalization
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict
from torch import Tensor

from pfmhr.reward import Fading, Modulator
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.env.balance import ClipMeans
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.transitions import Transitions
from pfmhr.tracking.ppo.networks import TrackerNetwork
from pfmhr.tracking.ppo.separate import SeparateOptimisers
from pfmhr.tracking.rewards import make_reward

LOWEST_RATE, HIGHEST_RATE = 1e-5, 1e-2
"""Bounds of an adaptive learning rate, as in rsl_rl."""


class TrackerPPO(PPO):
    """rsl_rl's PPO with a tracking reward and a modulator of it, both for whole rollouts."""

    def __init__(self, environment: TrackingEnvironment, config: TrackerConfig, modulator: Modulator) -> None:
        observations, agent = environment.get_observations(), config.agent
        actor = TrackerNetwork(observations, "actor", environment.num_actions, agent, agent.actor_output_scale)
        critic = TrackerNetwork(observations, "critic", 1, agent)
        shape = [environment.num_actions]
        storage = RolloutStorage("rl", environment.num_envs, agent.steps, observations, shape)
        super().__init__(
            actor,
            critic,
            storage,
            num_learning_epochs=agent.epochs,
            num_mini_batches=agent.minibatches,
            clip_param=agent.clip,
            gamma=agent.discount,
            lam=agent.trace,
            entropy_coef=agent.entropy,
            learning_rate=agent.learning_rate,
            max_grad_norm=agent.gradient_norm,
            use_clipped_value_loss=False,
            schedule="adaptive" if agent.adapt == "minibatch" else "fixed",
            desired_kl=agent.desired_kl,
        )
        if agent.critic_rate is not None:
            self._hold_critic_rate(agent.critic_rate)
        self.config, self.modulator, self.dt = config, modulator, environment.dt
        self._steps: list[Transitions] = []
        self._time_outs: list[Tensor] = []
        self._units = ClipMeans(len(environment.library), memory=10_000)
        self._scale = EmpiricalDiscountedVariationNormalization([1], gamma=agent.discount)
        self.reward = make_reward(config, environment.robot)
        self._separate = SeparateOptimisers(self, agent.separate) if agent.separate else None
        self._learn_normalisation(observations["policy"])
        self._ready = len(environment.library) == 1
        """Whether the policy learns from the next rollout; see :meth:`update`."""
        self.collected = 0
        """Transitions seen so far."""
        self.figures: dict[str, float] = {}
        self.seconds = {"modulator": 0.0, "discriminator": 0.0, "policy": 0.0}

    def _hold_critic_rate(self, rate: float) -> None:
        """A rate of its own for the critic; rsl_rl adapts that of every group to how far the policy moved."""
        groups = [{"params": list(network.parameters())} for network in (self.actor, self.critic)]
        self.optimizer = torch.optim.Adam(groups, lr=self.learning_rate)
        self.optimizer.register_step_pre_hook(lambda optimiser, *_: optimiser.param_groups[1].update(lr=rate))

    def process_env_step(self, obs: TensorDict, rewards: Tensor, dones: Tensor, extras: dict[str, Any]) -> None:
        """Keep what the rewards will be made of."""
        self._steps.append(extras["transitions"])
        self._time_outs.append(extras["time_outs"])
        super().process_env_step(obs, rewards, dones, {})

    def compute_returns(self, obs: TensorDict) -> None:
        """Rewards of the whole rollout at once, then returns and advantages."""
        steps, rollout = len(self._steps), Transitions.joined(self._steps)
        # How well each transition followed its reference.
        tracking = self.reward.compute(rollout)
        self.figures |= {f"reward_{name}": value for name, value in self.reward.statistics().items()}
        self.figures |= {"reward_tracking": float(tracking.mean()), "reward_tracking_std": float(tracking.std())}
        # What the prior makes of that; a simulation that exploded earns nothing.
        rewards = torch.where(rollout.valid, self._modulated(tracking, rollout), 0.0)
        self.figures |= {"reward": float(rewards.mean())}
        # In units that do not drift.
        if self.config.agent.scale_rewards and self._ready:
            self._units.learn(rollout.clip[rollout.valid], tracking[rollout.valid])
            rewards = rewards / self._units.relative()[rollout.clip]
            rewards = torch.cat([self._scale(step[:, None]).squeeze(1) for step in rewards.view(steps, -1)])
        # An episode that only ran out of time goes on in the critic's view.
        rewards = rewards + self.gamma * torch.cat(self._time_outs) * self.storage.values.flatten()
        self.storage.rewards = rewards.view(steps, -1, 1)
        super().compute_returns(obs)
        self.storage.advantages.clamp_(-self.config.agent.advantage_clip, self.config.agent.advantage_clip)
        self._steps.clear()
        self._time_outs.clear()
        self.collected += len(tracking)

    def _modulated(self, tracking: Tensor, rollout: Transitions) -> Tensor:
        """Tracking rewards ``(N,)`` as the modulator changes them."""
        begun = time.perf_counter()
        factor = self.modulator(
            rollout.previous_pose,
            rollout.state.joint_pos,
            self.dt,
            motion_id=rollout.clip,
            valid=rollout.valid,
            reference_pose=rollout.reference.joint_pos,
        )
        rewards = self.modulator.combine(tracking, factor)
        self.seconds["modulator"] += time.perf_counter() - begun
        self.figures |= {f"modulator_{name}": value for name, value in self.modulator.statistics().items()}
        return rewards

    def update(self) -> dict[str, float]:
        """One iteration of learning: policy and values, then the tracking reward; returns mean figures.

        Of several clips the first rollout only teaches normalisers and discriminator: what an untrained discriminator
        gives, up to 25 times too much, would weigh on the rewards' unit for a million samples. A single clip is
        left as it was measured: otherwise, with one seed, a spin kick took 24 % longer than the mean of three.
        """
        begun = time.perf_counter()
        first, self._ready = not self._ready, True
        # Policy and values.
        if self.config.agent.entropy_until is not None and self.collected > self.config.agent.entropy_until:
            self.entropy_coef = 0.0
        losses = {} if first else self._separate.update() if self._separate else super().update()
        self.storage.clear()
        if not first and not self._separate and self.config.agent.adapt == "iteration":
            self.figures["policy_kl"] = self._adapt_rate()
        # Normalisers, only now: a policy that sees other numbers is another policy.
        self._learn_normalisation(self.storage.observations["policy"].flatten(0, 1))
        middle = time.perf_counter()
        # The tracking reward.
        figures = {**self.figures, **{f"{name}_loss": value for name, value in losses.items()}}
        figures |= {"learning_rate": self.learning_rate, "action_std": float(self.actor.output_std.detach().mean())}
        figures |= self.reward.learn(warm_up=first)
        self.seconds["policy"] += middle - begun
        self.seconds["discriminator"] += time.perf_counter() - middle
        self.figures = {}
        return figures

    def _adapt_rate(self) -> float:
        """Change the rate by how far this iteration moved the policy, and return that: a KL divergence.

        It grows with the square of the rate.
        """
        storage = self.storage
        with torch.no_grad():
            self.actor(storage.observations.flatten(0, 1), stochastic_output=True)
            before = tuple(values.flatten(0, 1) for values in storage.distribution_params or ())
            moved = float(self.actor.get_kl_divergence(before, self.actor.output_distribution_params).mean())
        change = math.sqrt(self.config.agent.desired_kl / max(moved, 1e-9))
        self.learning_rate *= min(1.5, max(0.5, change))
        self.learning_rate = min(HIGHEST_RATE, max(LOWEST_RATE, self.learning_rate))
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        return moved

    def _learn_normalisation(self, observations: Tensor) -> None:
        for network in (self.actor, self.critic):
            network.learn_normalisation(observations)  # type: ignore[attr-defined]

    def not_finite(self) -> list[str]:
        """Names of weights and statistics in which something is not a number."""
        modules = {"actor": self.actor, "critic": self.critic, **self.reward.networks}
        return [
            f"{owner}.{name}"
            for owner, module in modules.items()
            for name, values in module.state_dict().items()
            if not bool(torch.isfinite(values).all())
        ]

    def save(self) -> dict[str, Any]:
        """State of everything that learns, as nested dictionaries of tensors and numbers."""
        state = super().save()
        if self._separate:
            state |= self._separate.state_dict()
        state["tracking_reward"] = self.reward.state_dict()
        state["reward_scale"] = self._scale.state_dict()
        if self._scale.disc_avg.avg is not None:
            state["reward_average"] = self._scale.disc_avg.avg
        state["clip_rewards"] = self._units.means
        state["rate"] = self.learning_rate
        state["collected"] = self.collected
        return state

    def load(self, loaded_dict: dict[str, Any], load_cfg: dict[str, Any] | None = None, strict: bool = True) -> bool:
        """Go on from :meth:`save`."""
        super().load(loaded_dict, load_cfg, strict)
        if self._separate:
            self._separate.load_state_dict(loaded_dict)
        self.reward.load_state_dict(loaded_dict.get("tracking_reward", loaded_dict.get("adversary", {})))
        self._scale.load_state_dict(loaded_dict["reward_scale"])
        self._scale.disc_avg.avg = loaded_dict.get("reward_average")
        self._units.means = loaded_dict["clip_rewards"]
        self.learning_rate = float(loaded_dict["rate"])
        self.collected = int(loaded_dict["collected"])
        if isinstance(self.modulator, Fading):
            self.modulator.seen = self.collected
        self._ready = self._ready or self.collected > 0
        return True
