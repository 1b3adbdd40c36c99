"""The paper's PPO table: every row is in the preset, and takes effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import TrackerConfig, tracker_preset
from pfmhr.tracking.ppo.separate import SeparateOptimisers, SeparateUpdates, _minibatches, action_bound_loss

from .learning import Learner, Watcher, learner

PAPER = tracker_preset("paper")
FEW = replace(
    PAPER,
    environment=replace(PAPER.environment, environments=4),
    adversary=replace(PAPER.adversary, replay=PAPER.adversary.replay // 1000),
)
TABLE: list[tuple[str, Callable[[TrackerConfig, SeparateUpdates], Any], Any]] = [
    ("parallel environments", lambda config, _: config.environment.environments, 4096),
    ("rollout length", lambda config, _: config.agent.steps, 32),
    ("samples per iteration", lambda config, _: config.samples_per_iteration, 131_072),
    ("discount factor", lambda config, _: config.agent.discount, 0.99),
    ("TD(λ)", lambda config, _: config.agent.trace, 0.95),
    ("PPO clipping ratio", lambda config, _: config.agent.clip, 0.2),
    ("normalised advantage clipping", lambda config, _: config.agent.advantage_clip, 4.0),
    ("actor epochs", lambda _, updates: updates.actor_epochs, 5),
    ("critic epochs", lambda _, updates: updates.critic_epochs, 2),
    ("actor minibatch", lambda config, updates: updates.actor_batch * config.environment.environments, 16_384),
    ("critic minibatch", lambda config, updates: updates.critic_batch * config.environment.environments, 8_192),
    ("actor rate", lambda _, updates: updates.actor_rate, 1e-4),
    ("critic rate", lambda _, updates: updates.critic_rate, 1e-4),
    ("actor and critic network", lambda config, _: config.agent.hidden, (1024, 1024)),
    ("fixed Gaussian", lambda config, _: config.agent.learn_std, False),
    ("action standard deviation", lambda config, _: config.agent.std, 0.05),
    ("actor output scale", lambda config, _: config.agent.actor_output_scale, 0.01),
    ("action-bound coefficient", lambda _, updates: updates.action_bound, 10.0),
    ("entropy coefficient", lambda config, _: config.agent.entropy, 0.0),
    ("normaliser samples", lambda config, _: config.agent.normaliser_samples, 100_000_000),
    ("normaliser samples of the discriminator", lambda config, _: config.adversary.normaliser_samples, 100_000_000),
]
"""Optimiser, action regularisation and mixed precision are no settings: see what takes effect below."""


@pytest.mark.parametrize(("read", "value"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_table_is_in_the_preset(read: Callable[..., Any], value: Any) -> None:
    assert PAPER.agent.separate is not None
    assert read(PAPER, PAPER.agent.separate) == value


@pytest.fixture
def paper(g1: Robot, walking: Motion) -> Learner:
    return learner(g1, [walking], FEW)


def separate(paper: Learner) -> SeparateOptimisers:
    assert paper.algorithm._separate is not None
    return paper.algorithm._separate


def layers(network: Any) -> list[nn.Linear]:
    return [layer for layer in network.mlp if isinstance(layer, nn.Linear)]


def batch(paper: Learner, advantage: float = 0.0, log_ratio: float = 0.0) -> tuple[Any, dict[str, Tensor]]:
    """The first observations with actions made ``log_ratio`` likelier by updates that never were."""
    actor, observations = paper.algorithm.actor, paper.environment.get_observations()
    with torch.no_grad():
        actor(observations, stochastic_output=True)
        actions = actor.output_mean + 0.02
        before = actor.get_output_log_prob(actions)[:, None] - log_ratio
    return observations, {
        "actions": actions,
        "actions_log_prob": before,
        "advantages": torch.full((4, 1), advantage),
        "returns": torch.zeros(4, 1),
    }


def test_networks(paper: Learner) -> None:
    actor, critic = layers(paper.algorithm.actor), layers(paper.algorithm.critic)
    assert [layer.weight.shape for layer in actor] == [(1024, 825), (1024, 1024), (29, 1024)]
    assert [layer.weight.shape for layer in critic] == [(1024, 825), (1024, 1024), (1, 1024)]
    assert sum(isinstance(layer, nn.ReLU) for layer in paper.algorithm.actor.mlp) == 2
    assert 0.0099 < actor[-1].weight.abs().max().item() <= 0.01 and not actor[-1].bias.any()
    assert paper.algorithm.storage.actions.shape == (32, 4, 29)


def test_optimisers(paper: Learner) -> None:
    for optimiser, network in (
        (separate(paper).actor, paper.algorithm.actor),
        (separate(paper).critic, paper.algorithm.critic),
    ):
        (group,) = optimiser.param_groups
        assert type(optimiser) is torch.optim.SGD
        assert (group["lr"], group["momentum"], group["weight_decay"]) == (1e-4, 0.9, 0)
        assert {id(value) for value in group["params"]} == {id(value) for value in network.parameters()}


def test_an_iteration(paper: Learner) -> None:
    """40 actor and 32 critic steps of 4 and 2 times the environments, 32 of the discriminator; no Adam."""
    algorithm, steps = paper.algorithm, dict.fromkeys(("actor", "critic", "adversary", "adam"), 0)

    def count(name: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            steps[name] += 1

        return hook

    separate(paper).actor.register_step_post_hook(count("actor"))
    separate(paper).critic.register_step_post_hook(count("critic"))
    paper.adversary.optimiser.register_step_post_hook(count("adversary"))
    algorithm.optimizer.register_step_post_hook(count("adam"))
    told = paper.collect()
    seen: list[tuple[str, int, torch.dtype, bool]] = []
    for name, network in (("actor", algorithm.actor), ("critic", algorithm.critic)):

        def look(_: Any, given: Any, output: Tensor, name: str = name) -> None:
            seen.append((name, len(given[0]), output.dtype, torch.is_autocast_enabled("cpu")))

        network.mlp.register_forward_hook(look)
    figures = algorithm.update()
    assert steps == {"actor": 40, "critic": 32, "adversary": 32, "adam": 0}
    assert seen == [("critic", 8, torch.float32, False)] * 32 + [("actor", 16, torch.float32, False)] * 40
    assert algorithm.actor.distribution.std_param.tolist() == pytest.approx([0.05] * 29)
    assert not algorithm.actor.distribution.std_param.requires_grad
    assert figures["learning_rate"] == 1e-4 and figures["action_std"] == pytest.approx(0.05)
    assert told["difference"].shape == (128, 305)


def test_minibatches_are_each_row_once_an_epoch() -> None:
    parts = list(_minibatches(10, 4, 2))
    assert [len(part) for part in parts] == [4, 4, 2, 4, 4, 2]
    for epoch in (parts[:3], parts[3:]):
        assert sorted(torch.cat(epoch).tolist()) == list(range(10))
    assert torch.cat(parts[:3]).tolist() != torch.cat(parts[3:]).tolist()


def test_returns_and_advantages(paper: Learner) -> None:
    """γ = 0.99, λ = 0.95, by the definition; then normalised, then cut at 4."""
    paper.algorithm.modulator = Watcher(lambda count: torch.where(torch.arange(count) == 1, 500.0, 1.0))
    paper.collect()
    storage = paper.algorithm.storage
    rewards, values, dones = (getattr(storage, name).squeeze(-1) for name in ("rewards", "values", "dones"))
    with torch.no_grad():
        following = paper.algorithm.critic(paper.last_observations).squeeze(-1)
    expected, advantage = torch.zeros(32, 4), torch.zeros(4)
    for step in range(31, -1, -1):
        alive = 1.0 - dones[step].float()
        advantage = rewards[step] + alive * 0.99 * (following + 0.95 * advantage) - values[step]
        expected[step], following = advantage, values[step]
    assert torch.allclose(storage.returns.squeeze(-1), expected + values, atol=1e-3)
    normal = (expected - expected.mean()) / expected.std()
    assert float(normal.max()) > 5.0
    assert torch.allclose(storage.advantages.squeeze(-1), normal.clamp(-4.0, 4.0), atol=1e-4)
    assert float(storage.advantages.max()) == 4.0


@pytest.mark.parametrize(
    ("advantage", "ratio", "loss"), [(1.0, 2.0, -1.2), (1.0, 1.1, -1.1), (-1.0, 0.5, 0.8), (-1.0, 2.0, 2.0)]
)
def test_the_clipping_ratio(paper: Learner, advantage: float, ratio: float, loss: float) -> None:
    given = batch(paper, advantage, torch.tensor(ratio).log().item())
    assert separate(paper)._actor_step(*given)[0] == pytest.approx(loss, rel=1e-4)


def test_nothing_but_advantage_and_bounds_moves_the_actor(paper: Learner) -> None:
    """Neither entropy nor the size of actions: without an advantage, within bounds, all stays."""
    before = [value.clone() for value in paper.algorithm.actor.parameters()]
    assert separate(paper)._actor_step(*batch(paper)) == (0.0, 0.0)
    assert all(map(torch.equal, before, paper.algorithm.actor.parameters()))
    separate(paper)._actor_step(*batch(paper, advantage=1.0, log_ratio=0.1))
    moved = [not torch.equal(*pair) for pair in zip(before, paper.algorithm.actor.parameters(), strict=True)]
    assert moved == [False] + [True] * 6


@pytest.mark.parametrize(("entropy", "std"), [(0.0, 0.05), (0.5, 0.051)])
def test_an_entropy_coefficient_would_widen_what_is_not_fixed(
    g1: Robot, walking: Motion, entropy: float, std: float
) -> None:
    """dH/dσ = 1/σ = 20: a step of 1e-4·0.5·20."""
    made = learner(g1, [walking], replace(FEW, agent=replace(FEW.agent, learn_std=True, entropy=entropy)))
    separate(made)._actor_step(*batch(made))
    assert made.algorithm.actor.distribution.std_param.tolist() == pytest.approx([std] * 29, abs=1e-6)


def test_mean_actions_beyond_one_are_pushed_back(paper: Learner) -> None:
    """Means of 2.0: 29 squares of 1; the bias's gradient is 10·2·1, a step 1e-4 of that."""
    last = layers(paper.algorithm.actor)[-1]
    nn.init.zeros_(last.weight)
    nn.init.constant_(last.bias, 2.0)
    assert separate(paper)._actor_step(*batch(paper))[1] == pytest.approx(29.0)
    assert last.bias.tolist() == pytest.approx([1.998] * 29, abs=1e-6)


def test_the_action_bound_by_hand() -> None:
    assert action_bound_loss(torch.tensor([[0.5, 1.5], [-2.0, 1.0]])).item() == pytest.approx((0.25 + 1.0) / 2)
    assert action_bound_loss(torch.tensor([[-1.0, 1.0]])).item() == 0.0


def test_normalisers_stop_after_a_hundred_million_samples(paper: Learner) -> None:
    for network in (paper.algorithm.actor, paper.algorithm.critic):
        normaliser = network.obs_normalizer
        before = normaliser.mean
        network.learn_normalisation(torch.full((5, 825), 3.0))
        assert not torch.equal(normaliser.mean, before)
        normaliser.count.fill_(100_000_000 - 1)
        network.learn_normalisation(torch.full((5, 825), 3.0))
        before = normaliser.mean
        network.learn_normalisation(torch.full((5, 825), 30.0))
        assert torch.equal(normaliser.mean, before)


def test_the_rest_is_mimickits(paper: Learner) -> None:
    adversary = paper.adversary
    assert PAPER.reward == "add"
    assert [layer.out_features for layer in adversary.network if isinstance(layer, nn.Linear)] == [1024, 512, 1]
    assert len(adversary.replay.rows) == 200 and PAPER.adversary.replay == 200_000
    assert PAPER.adversary.replay_samples == 1000
    assert (PAPER.adversary.epochs, PAPER.adversary.minibatches) == (2, 16)
    environment = PAPER.environment
    assert (environment.observation, environment.actions, environment.termination_distance) == (
        "world",
        "absolute",
        1.0,
    )
    assert (environment.physics_rate, environment.control_rate, environment.episode_steps) == (120.0, 30.0, 300)
    assert PAPER.samples == 6000 * 131_072 and PAPER.evaluate_every == 100 and PAPER.evaluation_episodes == 4096
    assert not PAPER.agent.scale_rewards
