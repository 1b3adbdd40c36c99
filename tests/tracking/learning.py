"""Small learners, a rollout at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.reward import Modulator
from pfmhr.robots import Robot
from pfmhr.tracking import AdversaryConfig, AgentConfig, EnvironmentConfig, TrackerConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.transitions import Transitions
from pfmhr.tracking.ppo.algorithm import TrackerPPO
from pfmhr.tracking.rewards import reward_kind
from pfmhr.tracking.rewards.add import AddReward
from pfmhr.tracking.rewards.adversary import Adversary
from pfmhr.tracking.rewards.deepmimic import DeepMimicReward
from pfmhr.tracking.rewards.difference import difference

TINY = TrackerConfig(
    EnvironmentConfig(environments=6, episode_seconds=0.2),
    AgentConfig(steps=8, hidden=(16, 8), epochs=2, minibatches=2),
    AdversaryConfig(hidden=(16, 8), epochs=1, minibatches=2, replay=80, replay_samples=10),
    samples=5 * 48,
    evaluate_every=2,
    evaluation_episodes=3,
    checkpoint_every=2,
)
"""Five iterations of 48 samples; evaluations at 0, 2, 4 and 5, checkpoints at 2, 4 and 5."""


@dataclass
class Watcher:
    """A modulator that keeps what it was called with; factors from ``factor(number of transitions)``."""

    factor: Callable[[int], Tensor] = torch.ones
    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, previous_pose: Any, pose: Any, dt: float, **others: Any) -> Tensor:
        self.calls.append({"previous_pose": previous_pose, "pose": pose, "dt": dt, **others})
        return self.factor(len(pose))

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        return reward * factor

    def statistics(self, reset: bool = True) -> dict[str, float]:
        return {"watched": 1.0}


@dataclass
class Learner:
    """An environment and what learns in it."""

    environment: TrackingEnvironment
    algorithm: TrackerPPO

    @property
    def adversary(self) -> Adversary:
        """ADD's."""
        assert isinstance(self.algorithm.reward, AddReward)
        return self.algorithm.reward.adversary

    def collect(self) -> dict[str, Tensor]:
        """One rollout; returns what each step told, ``(T·N, …)``, and what rewards may be made of it."""
        told: list[dict[str, Tensor]] = []
        observations = self.environment.get_observations()
        with torch.no_grad():
            for _ in range(self.algorithm.config.agent.steps):
                observations, rewards, dones, extras = self.environment.step(self.algorithm.act(observations))
                self.algorithm.process_env_step(observations, rewards, dones, extras)
                told.append({**self._told(extras["transitions"]), "dones": dones, "late": extras["time_outs"]})
            self.last_observations = observations
            self.algorithm.compute_returns(observations)
        return {name: torch.cat([step[name] for step in told]) for name in told[0]}

    def _told(self, made: Transitions) -> dict[str, Tensor]:
        axes = self.environment.axes if self.algorithm.config.adversary.joints == "rotations" else None
        deepmimic = DeepMimicReward(None, self.environment.robot, self.environment.config)
        return {
            "previous_pose": made.previous_pose,
            "pose": made.state.joint_pos,
            "reference_pose": made.reference.joint_pos,
            "motion": made.clip,
            "valid": made.valid,
            "difference": torch.where(made.valid[:, None], difference(made.state, made.reference, axes), 0.0),
            "deepmimic": deepmimic.compute(made),
        }


def learner(
    robot: Robot,
    motions: list[Motion],
    config: TrackerConfig,
    modulator: Modulator | None = None,
    ready: bool | None = True,
) -> Learner:
    """``ready``: whether the policy learns from the first rollout on; as usual if None."""
    torch.manual_seed(0)
    needs = reward_kind(config.reward).needs
    environment = TrackingEnvironment(robot, motions, config.environment, threads=1, body_motion="body_motion" in needs)
    algorithm = TrackerPPO(environment, config, modulator or Watcher())
    if ready is not None:
        algorithm._ready = ready
    return Learner(environment, algorithm)


def tiny(**agent: Any) -> TrackerConfig:
    """With other settings of its agent; separate updates have epochs and minibatches of their own."""
    usual = AgentConfig()
    idle = {"epochs": usual.epochs, "minibatches": usual.minibatches} if agent.get("separate") else {}
    return replace(TINY, agent=replace(TINY.agent, **idle, **agent))


def on_its_reference(environment: TrackingEnvironment, number: int) -> bool:
    """Whether an environment is exactly where its clip and frame say."""
    positions, velocities = environment.library.at(environment.clip, environment.frame).states()
    simulation = environment.simulation
    return bool(
        (simulation.positions[number] == positions[number].double().numpy()).all()
        and (simulation.velocities[number] == velocities[number].double().numpy()).all()
    )
