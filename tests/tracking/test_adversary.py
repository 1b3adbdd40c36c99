"""ADD's discriminator: every number by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pfmhr.learning.state import load_state, save_state
from pfmhr.tracking import AdversaryConfig
from pfmhr.tracking.rewards.adversary import Adversary


def softplus(value: float) -> float:
    return math.log1p(math.exp(value))


def linear(weight: Sequence[float], bias: float = 0.0, **settings: Any) -> Adversary:
    """D(x) = w·x + b."""
    made = Adversary(len(weight), AdversaryConfig(hidden=(4,), replay=8, **settings))
    layer = nn.Linear(len(weight), 1)
    layer.weight.data[:], layer.bias.data[:] = torch.tensor(weight), bias
    made.network, made._last = nn.Sequential(layer), layer  # type: ignore[assignment]
    return made


# Loss


def test_the_loss_of_a_linear_discriminator_by_hand() -> None:
    """Slope (3, −4) everywhere: penalty 25; logits 0.5 at zero, 3.5 and −7.5 at the policy's differences."""
    total, figures = linear([3.0, -4.0], 0.5).loss(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
    classes = 0.5 * (softplus(-0.5) + (softplus(3.5) + softplus(-7.5)) / 2)
    assert total.item() == pytest.approx(classes + 0.01 * 25.0 + 2.0 * 25.0, rel=1e-6)
    expected = {
        "discriminator_loss": total.item(),
        "gradient_penalty": 25.0,
        "accuracy_reference": 1.0,
        "accuracy_policy": 0.5,
        "logit_reference": 0.5,
        "logit_policy": -2.0,
    }
    assert {name: value.item() for name, value in figures.items()} == pytest.approx(expected, rel=1e-6)


def test_the_penalty_is_of_the_slope_at_each_difference() -> None:
    """D(x) = 2·relu(x): slope 2 ahead of zero, none at it or behind."""
    made = linear([1.0])
    made.network = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1))  # type: ignore[assignment]
    for layer, weight in ((made.network[0], 1.0), (made.network[2], 2.0)):
        nn.init.constant_(layer.weight, weight)
        nn.init.zeros_(layer.bias)
    for rows, penalty in (([[1.0], [-1.0]], 1.0), ([[-1.0]], 0.0), ([[1.0], [5.0], [9.0], [-1.0]], 1.5)):
        assert made.loss(torch.tensor(rows))[1]["gradient_penalty"].item() == pytest.approx(penalty)


def test_weights_of_the_loss_take_effect() -> None:
    rows = torch.tensor([[0.3, 0.1]])
    plain = linear([3.0, -4.0], logit_regularisation=0.0, gradient_penalty=0.0).loss(rows)[0].item()
    assert plain == pytest.approx(0.5 * (softplus(0.0) + softplus(0.5)), rel=1e-5)
    assert linear([3.0, -4.0], logit_regularisation=0.1, gradient_penalty=0.0).loss(rows)[0].item() == pytest.approx(
        plain + 2.5, rel=1e-5
    )
    assert linear([3.0, -4.0], logit_regularisation=0.0, gradient_penalty=3.0).loss(rows)[0].item() == pytest.approx(
        plain + 75.0, rel=1e-5
    )


def test_the_penalty_has_a_gradient_itself() -> None:
    """d(0.01·w² + 2·w²)/dw = 4.02·w, and that of the classes: ½·σ(w·x)·x."""
    made = linear([3.0])
    made.loss(torch.tensor([[1.0]]))[0].backward()
    expected = 4.02 * 3.0 + 0.5 / (1.0 + math.exp(-3.0))
    assert made._last.weight.grad.item() == pytest.approx(expected, rel=1e-5)  # type: ignore[union-attr]


# Reward


@pytest.mark.parametrize(
    ("logit", "reward"),
    [(0.0, 2 * math.log(2.0)), (1.0, 2 * softplus(1.0)), (-40.0, 0.0), (40.0, -2 * math.log(1e-4)), (9.3, 18.420681)],
)
def test_the_reward_of_a_logit(logit: float, reward: float) -> None:
    found = linear([0.0], logit).reward(torch.zeros(3, 1))
    assert found.tolist() == pytest.approx([reward] * 3, abs=1e-5)
    assert not found.requires_grad


def test_the_reward_sees_normalised_differences() -> None:
    made = linear([1.0, 1.0], reward_scale=3.0)
    made.normaliser.learn(torch.tensor([[2.0, -4.0]]))
    assert made.reward(torch.tensor([[2.0, -8.0]])).item() == pytest.approx(3.0 * softplus(-1.0), rel=1e-5)


# Learning


def test_half_of_what_is_called_the_policys_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = linear([0.1], epochs=3, minibatches=2)
    made.replay.push(torch.full((8, 1), 7.0), when_full=1)
    seen: list[Tensor] = []
    loss = made.loss
    monkeypatch.setattr(made, "loss", lambda negatives: seen.append(negatives) or loss(negatives))
    made.update(torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]]))
    assert [len(batch) for batch in seen] == [4] * 6
    for epoch in range(3):
        fresh = torch.cat([seen[2 * epoch][:2], seen[2 * epoch + 1][:2]]).flatten().tolist()
        assert len(set(fresh)) == 4 and set(fresh) < {1.0, 2.0, 3.0, 4.0, 5.0}
    assert all(batch[2:].tolist() == [[7.0], [7.0]] for batch in seen)


def test_it_learns_to_tell_no_difference_from_some() -> None:
    torch.manual_seed(0)
    made = Adversary(3, AdversaryConfig(hidden=(16, 16), learning_rate=3e-3, gradient_penalty=0.1, replay=64))
    differences = torch.randn(64, 3) + torch.tensor([3.0, 0.0, 0.0])
    made.replay.push(differences, 8)
    made.normaliser.learn(differences)
    figures = [made.update(differences) for _ in range(60)]
    assert figures[-1]["discriminator_loss"] < 0.7 * figures[0]["discriminator_loss"]
    assert figures[-1]["accuracy_reference"] == 1.0 and figures[-1]["accuracy_policy"] > 0.9
    assert made.reward(torch.zeros(1, 3)).item() > 2.0 * made.reward(differences).mean().item()


def test_it_starts_as_mimickits() -> None:
    torch.manual_seed(0)
    made = Adversary(5, AdversaryConfig(hidden=(64, 32), optimiser="sgd", learning_rate=2.5e-4))
    layers = [layer for layer in made.network if isinstance(layer, nn.Linear)]
    assert [layer.weight.shape for layer in layers] == [(64, 5), (32, 64), (1, 32)]
    assert not any(bool(layer.bias.any()) for layer in layers)
    assert 0.8 < layers[-1].weight.abs().max().item() <= 1.0
    group = made.optimiser.param_groups[0]
    assert type(made.optimiser) is torch.optim.SGD
    assert (group["lr"], group["momentum"], group["weight_decay"]) == (2.5e-4, 0.9, 1e-4)
    assert type(Adversary(5, AdversaryConfig()).optimiser) is torch.optim.AdamW


def test_it_goes_on_from_its_state(tmp_path: Path) -> None:
    def made(seed: int) -> Adversary:
        torch.manual_seed(seed)
        return Adversary(3, AdversaryConfig(hidden=(8,), replay=40))

    first, second = made(0), made(1)
    differences = torch.randn(30, 3)
    first.replay.push(differences, 5)
    first.normaliser.learn(differences)
    first.update(differences)
    save_state(tmp_path / "state", first.state_dict())
    second.load_state_dict(load_state(tmp_path / "state"))
    for one in (first, second):
        torch.manual_seed(7)
        one.replay.push(differences + 1.0, 5)
        one.update(differences)
    assert torch.equal(first.reward(differences), second.reward(differences))
    assert torch.equal(first.replay.rows, second.replay.rows) and first.replay.next == second.replay.next == 20
