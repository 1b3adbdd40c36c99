"""Two trackers in full: what learns fastest on two cores, and the paper's."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from pfmhr.errors import unknown_name
from pfmhr.tracking.config import AdversaryConfig, AgentConfig, EnvironmentConfig, SeparateUpdates, TrackerConfig

Preset = Literal["cpu", "paper"]


def tracker_preset(name: Preset) -> TrackerConfig:
    """``cpu``: found by measurement on two cores. ``paper``: the paper's PPO table and MimicKit's ADD."""
    if name == "cpu":
        return TrackerConfig()
    if name != "paper":
        raise unknown_name("preset", name, get_args(Preset))
    environment = replace(
        EnvironmentConfig(),
        environments=4096,
        observation="world",
        actions="absolute",
        termination_distance=1.0,
        balanced=False,
    )
    agent = AgentConfig(
        steps=32,
        hidden=(1024, 1024),
        activation="relu",
        std=0.05,
        learn_std=False,
        normaliser_samples=100_000_000,
        entropy=0.0,
        scale_rewards=False,
        separate=SeparateUpdates(),
    )
    adversary = AdversaryConfig(
        hidden=(1024, 512),
        optimiser="sgd",
        learning_rate=2.5e-4,
        minibatches=16,
        replay=200_000,
        difference_clip=None,
        joints="rotations",
    )
    return TrackerConfig(
        environment, agent, adversary, samples=786_432_000, evaluate_every=100, evaluation_episodes=4096
    )


def with_actions(config: TrackerConfig, actions: Literal["residual", "absolute"] | None) -> TrackerConfig:
    """The same tracker with another action space; None leaves it as it is.

    Absolute actions span the joint ranges: what the small preset explores with must shrink with that.
    """
    if actions is None or actions == config.environment.actions:
        return config
    agent = config.agent
    if agent.separate is None:
        agent = replace(agent, std=0.05, learning_rate=1e-4) if actions == "absolute" else AgentConfig()
    return replace(config, environment=replace(config.environment, actions=actions), agent=agent)
