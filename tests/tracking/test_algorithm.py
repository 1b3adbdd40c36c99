"""Rewards made after the rollout, and what is learned from them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.learning.state import load_state, save_state
from pfmhr.motion import Motion
from pfmhr.reward import Fading
from pfmhr.robots import Robot
from pfmhr.tracking.config import ModulatorConfig, SeparateUpdates
from pfmhr.tracking.ppo.networks import Policy, TrackerNetwork

from .learning import TINY, Watcher, learner, tiny

PARTS = ("pose", "velocity", "root", "root_velocity", "key_bodies")
"""Of DeepMimic's reward."""


def varied(count: int) -> torch.Tensor:
    return torch.linspace(0.5, 1.0, count)


def test_the_modulator_sees_a_whole_rollout_at_once(g1: Robot, walking: Motion) -> None:
    watcher = Watcher()
    made = learner(g1, [walking, walking], TINY, watcher)
    told = made.collect()
    (call,) = watcher.calls
    assert call["dt"] == pytest.approx(1 / 30)
    assert call["pose"].shape == (48, 29)
    for name, kept in (("pose", "pose"), ("previous_pose", "previous_pose"), ("reference_pose", "reference_pose")):
        assert torch.equal(call[name], told[kept])
    assert torch.equal(call["motion_id"], told["motion"]) and set(told["motion"].tolist()) == {0, 1}
    assert torch.equal(call["valid"], told["valid"])
    assert made.algorithm.update()["modulator_watched"] == 1.0
    made.collect()
    assert len(watcher.calls) == 2 and len(watcher.calls[1]["pose"]) == 48


@pytest.mark.parametrize("reward", ["add", "deepmimic"])
def test_rewards_by_hand(g1: Robot, walking: Motion, reward: str) -> None:
    """r^T·r^P, and V for what comes after a time-out."""
    config = replace(tiny(scale_rewards=False), reward=reward)
    made = learner(g1, [walking], config, Watcher(varied))
    told = made.collect()
    storage = made.algorithm.storage
    learned = reward == "add"
    tracking = made.adversary.reward(told["difference"].clamp(-10, 10)) if learned else told["deepmimic"]
    assert float(tracking.min()) > 0.0
    expected = tracking * varied(48) + 0.99 * told["late"] * storage.values.flatten()
    assert int(told["late"].sum()) > 2 and torch.allclose(storage.rewards.flatten(), expected, atol=1e-5)
    figures = made.algorithm.update()
    assert figures["reward"] == pytest.approx(float((tracking * varied(48)).mean()), rel=1e-5)
    assert figures["reward_tracking"] == pytest.approx(float(tracking.mean()), rel=1e-5)
    assert figures["reward_tracking_std"] == pytest.approx(float(tracking.std()), rel=1e-5)
    assert ("discriminator_loss" in figures) is (reward == "add")
    parts = [figures[f"reward_{name}"] for name in PARTS if f"reward_{name}" in figures]
    assert len(parts) == (0 if reward == "add" else 5)
    assert reward == "add" or sum(parts) == pytest.approx(figures["reward_tracking"], rel=1e-5)


def test_what_exploded_earns_nothing(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], tiny(scale_rewards=False))
    made.environment.simulation.velocities[2] = 1e9
    told = made.collect()
    rewards = made.algorithm.storage.rewards.flatten()
    assert told["valid"].tolist().count(False) == 1 and not told["valid"][2]
    assert rewards[2] == 0.0 and bool((rewards > 0).sum() == 47)
    assert all(math.isfinite(value) for value in made.algorithm.update().values())
    adversary = made.adversary
    assert adversary.replay.filled == 47 and int(adversary.normaliser.count) == 94


def test_a_rollout_in_which_everything_exploded_teaches_the_discriminator_nothing(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], tiny(steps=1))
    made.environment.simulation.velocities[:] = 1e9
    assert not made.collect()["valid"].any()
    figures = made.algorithm.update()
    assert "discriminator_loss" not in figures and all(math.isfinite(value) for value in figures.values())
    assert made.algorithm.not_finite() == []


@pytest.mark.parametrize("clip", [10.0, 1.0, None])
def test_differences_are_cut_where_the_settings_say(g1: Robot, walking: Motion, clip: float | None) -> None:
    made = learner(g1, [walking], replace(TINY, adversary=replace(TINY.adversary, difference_clip=clip)))
    told, adversary = made.collect(), made.adversary
    largest = float(told["difference"].abs().max())
    assert largest > 10.0 and float(adversary.replay.rows[:48].abs().max()) == (largest if clip is None else clip)


@pytest.mark.parametrize("owner", ["critic", "discriminator", "normaliser"])
def test_what_is_not_a_number_is_named(g1: Robot, walking: Motion, owner: str) -> None:
    made = learner(g1, [walking], TINY)
    algorithm = made.algorithm
    assert algorithm.not_finite() == []
    parts = {"critic": algorithm.critic, "discriminator": made.adversary.network}
    module = parts.get(owner, made.adversary.normaliser)
    name, values = next((name, values) for name, values in module.state_dict().items() if values.is_floating_point())
    values.view(-1)[0] = math.nan
    assert algorithm.not_finite() == [f"{owner}.{name}"]


def test_scaled_rewards_have_the_deviation_of_returns_as_their_unit(g1: Robot, walking: Motion) -> None:
    found = []
    for scaled in (False, True):
        made = learner(g1, [walking], tiny(scale_rewards=scaled))
        made.collect()
        found.append(made.algorithm.storage.rewards.view(8, 6))
    total, returns = torch.zeros(6), []
    for step in range(5):  # before the first time-out
        total = 0.99 * total + found[0][step]
        returns.append(total)
        deviation = torch.cat(returns).std(unbiased=False)
        assert torch.allclose(found[1][step], found[0][step] / deviation, rtol=1e-3)


def test_the_first_rollout_is_normalised_by_itself(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], TINY)
    told = made.collect()
    adversary = made.adversary
    cut = told["difference"].clamp(-10.0, 10.0)
    assert torch.allclose(adversary.normaliser.magnitude, cut.abs().mean(dim=0), atol=1e-6)
    assert torch.equal(adversary.replay.rows[:48], cut)


def test_of_several_clips_the_first_rollout_teaches_normalisers_and_discriminator_alone(
    g1: Robot, walking: Motion
) -> None:
    assert learner(g1, [walking], TINY, ready=None).algorithm._ready
    made = learner(g1, [walking, walking], TINY, ready=None)
    algorithm, adversary = made.algorithm, made.adversary
    judges = [algorithm.actor, algorithm.critic, adversary.network]
    moved = []
    for _ in range(2):
        before = [[weight.detach().clone() for weight in judge.parameters()] for judge in judges]
        made.collect()
        algorithm.update()
        after = [list(judge.parameters()) for judge in judges]
        moved.append([not all(map(torch.equal, *pair)) for pair in zip(before, after, strict=True)])
        if len(moved) == 1:
            assert int(algorithm.actor.obs_normalizer.count) == 6 + 48 and int(adversary.normaliser.count) == 48
            assert int(algorithm._scale.emp_norm.count) == 0
    assert moved == [[False, False, True], [True, True, True]]
    assert int(algorithm._scale.emp_norm.count) == 48 and int(adversary.normaliser.count) == 96


def test_every_clip_has_its_own_mean_for_a_unit(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking, walking], tiny(advantage_clip=1e9))
    made.algorithm._scale = lambda rewards: rewards  # type: ignore[assignment,method-assign]
    told = made.collect()
    adversary = made.adversary
    tracking = adversary.reward(told["difference"].clamp(-10, 10))
    means = torch.stack([tracking[told["motion"] == clip].mean() for clip in range(2)])
    expected = tracking * (means.mean() / means)[told["motion"]]
    found = made.algorithm.storage.rewards.flatten() - 0.99 * told["late"] * made.algorithm.storage.values.flatten()
    assert float((means[0] - means[1]).abs()) > 1e-3 and torch.allclose(found, expected, atol=1e-5)


def test_a_normaliser_learns_after_the_rollout_it_served(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], TINY)
    made.collect()
    made.algorithm.update()
    adversary = made.adversary
    served, seen = adversary.normaliser.magnitude.clone(), made.algorithm.actor.obs_normalizer.mean
    made.collect()
    assert torch.equal(adversary.normaliser.magnitude, served)
    assert torch.equal(made.algorithm.actor.obs_normalizer.mean, seen)
    made.algorithm.update()
    assert not torch.equal(adversary.normaliser.magnitude, served)
    assert not torch.equal(made.algorithm.actor.obs_normalizer.mean, seen)
    assert int(made.algorithm.actor.obs_normalizer.count) == 6 + 2 * 48


def test_the_small_preset_steps_adam(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], tiny(epochs=3, minibatches=2))
    steps = []
    made.algorithm.optimizer.register_step_post_hook(lambda *_: steps.append(1))
    made.collect()
    before = [value.clone() for value in made.algorithm.actor.parameters()]
    figures = made.algorithm.update()
    assert len(steps) == 6 and made.algorithm._separate is None
    assert not any(map(torch.equal, before, made.algorithm.actor.parameters()))
    assert figures["learning_rate"] == made.algorithm.learning_rate != TINY.agent.learning_rate


def test_the_policy_is_the_actors_mean(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], TINY)
    made.collect()
    made.algorithm.update()
    actor = made.algorithm.actor
    assert isinstance(actor, TrackerNetwork)
    observations = made.environment.get_observations()
    observations["policy"][0] += 1000.0  # beyond the clip
    with torch.no_grad():
        found, expected = Policy(actor)(observations["policy"]), actor(observations)
        assert torch.allclose(found, expected, atol=1e-5)
        assert float(actor.get_latent(observations).abs().max()) == 10.0


@pytest.mark.parametrize("preset", ["small", "separate"])
def test_it_goes_on_from_its_state(g1: Robot, walking: Motion, preset: str, tmp_path: Path) -> None:
    config = tiny(separate=SeparateUpdates() if preset == "separate" else None)
    made = learner(g1, [walking], config)
    for _ in range(2):
        made.collect()
        made.algorithm.update()
    save_state(tmp_path / "state", {"algorithm": made.algorithm.save(), "environment": made.environment.state_dict()})
    other = learner(g1, [walking], config)
    state = load_state(tmp_path / "state")
    other.algorithm.load(state["algorithm"])
    other.environment.load_state_dict(state["environment"])
    figures = []
    for each in (made, other):
        torch.manual_seed(3)
        each.collect()
        figures.append(each.algorithm.update())
    assert figures[0] == figures[1]
    assert all(map(torch.equal, made.algorithm.actor.parameters(), other.algorithm.actor.parameters()))


def test_a_critic_may_have_a_rate_of_its_own(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """Adam's first step moves every weight by its rate; the policy's rate is adapted and the critic's is not."""
    made = learner(g1, [walking], tiny(critic_rate=2e-3, epochs=1, minibatches=1, gradient_norm=1e9))
    made.collect()
    before = [weight.detach().clone() for weight in made.algorithm.critic.parameters()]
    made.algorithm.update()
    pairs = zip(made.algorithm.critic.parameters(), before, strict=True)
    steps = [float((now.detach() - was).abs().max()) for now, was in pairs]
    assert max(steps) == pytest.approx(2e-3, rel=1e-3)
    made.algorithm.learning_rate = 7e-4
    for _ in range(2):
        made.collect()
        made.algorithm.update()
    actor, critic = (group["lr"] for group in made.algorithm.optimizer.param_groups)
    assert critic == 2e-3 != actor
    save_state(tmp_path / "state", made.algorithm.save())
    again = learner(g1, [walking], tiny(critic_rate=2e-3, epochs=1, minibatches=1))
    again.algorithm.load(load_state(tmp_path / "state"))
    assert [group["lr"] for group in again.algorithm.optimizer.param_groups] == [actor, critic]


def test_a_rate_that_adapts_once_an_iteration_is_steady_within_it(g1: Robot, walking: Motion) -> None:
    """By √(desired / moved), the divergence of normal distributions computed by hand; every minibatch has one rate."""
    made = learner(g1, [walking], tiny(adapt="iteration", desired_kl=0.05, learning_rate=1e-3, epochs=3))
    algorithm, rates = made.algorithm, []
    algorithm.optimizer.register_step_pre_hook(lambda optimiser, *_: rates.append(optimiser.param_groups[0]["lr"]))
    made.collect()
    observations, parameters = (
        algorithm.storage.observations.flatten(0, 1).clone(),
        algorithm.storage.distribution_params,
    )
    assert parameters is not None
    mean, std = (values.flatten(0, 1).clone() for values in parameters)
    normaliser = {name: value.clone() for name, value in algorithm.actor.obs_normalizer.state_dict().items()}
    figures = algorithm.update()
    assert rates == [1e-3] * 6
    algorithm.actor.obs_normalizer.load_state_dict(normaliser)  # which learned from the rollout afterwards
    with torch.no_grad():
        algorithm.actor(observations, stochastic_output=True)
        new_mean, new_std = algorithm.actor.output_distribution_params
    each = (new_std / std).log() + (std**2 + (mean - new_mean) ** 2) / (2 * new_std**2) - 0.5
    moved = float(each.sum(dim=1).mean())
    assert figures["policy_kl"] == pytest.approx(moved, rel=1e-4) and moved > 0
    assert figures["learning_rate"] == pytest.approx(1e-3 * min(1.5, max(0.5, math.sqrt(0.05 / moved))), rel=1e-4)
    assert algorithm.optimizer.param_groups[0]["lr"] == figures["learning_rate"]


@pytest.mark.parametrize(("desired", "change"), [(1e-9, 0.5), (1e9, 1.5)])
def test_a_rate_changes_by_a_bounded_factor_and_stays_in_its_bounds(
    g1: Robot, walking: Motion, desired: float, change: float
) -> None:
    made = learner(g1, [walking], tiny(adapt="iteration", desired_kl=desired, learning_rate=1e-3))
    for _ in range(9):
        made.collect()
        rate = made.algorithm.learning_rate
        made.algorithm.update()
        assert made.algorithm.learning_rate == pytest.approx(min(1e-2, max(1e-5, change * rate)))
    assert made.algorithm.learning_rate == (1e-5 if change < 1 else 1e-2)


def test_a_modulator_fades_evenly(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """Over two rollouts of 48: as it is, then the square root of its factors, then nothing; also if going on later."""
    config = replace(tiny(scale_rewards=False), reward="deepmimic")
    made = learner(g1, [walking], config, Fading(Watcher(varied), 96))
    for power in (1.0, 0.5, 0.0, 0.0):
        told = made.collect()
        rewards = made.algorithm.storage.rewards.flatten()
        values = made.algorithm.storage.values.flatten()
        expected = told["deepmimic"] * varied(48) ** power + 0.99 * told["late"] * values
        assert torch.allclose(rewards, expected, atol=1e-6)
        assert made.algorithm.update()["modulator_strength"] == power
        save_state(tmp_path / "state", made.algorithm.save())
        made.algorithm.collected = -1
        made.algorithm.load(load_state(tmp_path / "state"))
    with pytest.raises(InputError, match="only a factor can fade"):
        ModulatorConfig.of("pdf", fade=96, combine="add")


@pytest.mark.parametrize("separate", [None, SeparateUpdates(momentum=0.0)])
def test_exploration_is_rewarded_until_so_many_samples(
    g1: Robot, walking: Motion, separate: SeparateUpdates | None
) -> None:
    """With nothing but that reward, deviations grow in the updates after 48 and 96 samples, and no more after 144."""
    rate = {"separate": separate} if separate else {"learning_rate": 1e-3, "adapt": "iteration"}
    config = tiny(entropy=1e3, entropy_until=96, **rate)
    made, grown = learner(g1, [walking], config), []
    for _ in range(4):
        made.collect()
        made.algorithm.storage.advantages.zero_()
        made.algorithm.optimizer.state.clear()  # what Adam remembers would go on for a while
        before = made.algorithm.actor.output_std.mean().item()
        made.algorithm.update()
        made.algorithm.actor(made.environment.get_observations(), stochastic_output=True)
        grown.append(made.algorithm.actor.output_std.mean().item() > before + 1e-6)
    assert grown == [True, True, False, False]
