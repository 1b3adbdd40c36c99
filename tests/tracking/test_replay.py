"""What the discriminator divides by, and what it remembers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pfmhr.tracking.rewards.adversary import MagnitudeNormaliser, Replay

# Normaliser


def test_the_first_rows_replace_what_the_normaliser_started_with() -> None:
    normaliser = MagnitudeNormaliser(2, until=100)
    assert normaliser(torch.tensor([[3.0, -5.0]])).tolist() == [[3.0, -5.0]]
    normaliser.learn(torch.tensor([[1.0, -8.0], [-3.0, 0.0]]))
    assert normaliser.magnitude.tolist() == [2.0, 4.0]
    assert normaliser(torch.tensor([[3.0, -5.0]])).tolist() == [[1.5, -1.25]]


def test_later_rows_count_by_their_number() -> None:
    normaliser = MagnitudeNormaliser(1, until=100)
    normaliser.learn(torch.tensor([[1.0], [-3.0]]))
    normaliser.learn(torch.full((6, 1), -6.0))
    assert normaliser.magnitude.item() == pytest.approx((1 + 3 + 36) / 8) and normaliser.count.item() == 8


def test_a_normaliser_that_has_seen_enough_stays() -> None:
    normaliser = MagnitudeNormaliser(1, until=4)
    normaliser.learn(torch.full((3, 1), 2.0))
    normaliser.learn(torch.full((3, 1), 4.0))
    assert normaliser.magnitude.item() == pytest.approx(3.0)
    normaliser.learn(torch.full((3, 1), 100.0))
    assert normaliser.magnitude.item() == pytest.approx(3.0)


def test_what_never_differs_is_not_divided_by_zero() -> None:
    normaliser = MagnitudeNormaliser(2, until=100)
    normaliser.learn(torch.zeros(5, 2))
    assert torch.allclose(normaliser(torch.tensor([[1e-4, 0.0]])), torch.tensor([[1.0, 0.0]]))


# Replay


def rows(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)[:, None]


def held(replay: Replay) -> list[float]:
    return replay.rows[: replay.filled, 0].tolist()


def test_a_replay_takes_everything_until_it_is_full() -> None:
    replay = Replay(4, 1)
    replay.push(rows(1, 2, 3), when_full=1)
    assert held(replay) == [1, 2, 3]
    replay.push(rows(4, 5, 6), when_full=1)
    assert held(replay) == [5, 6, 3, 4]


def test_a_full_replay_takes_some_at_random_over_the_oldest() -> None:
    torch.manual_seed(0)
    taken = set()
    for _ in range(60):
        replay = Replay(4, 1)
        replay.push(rows(1, 2, 3, 4), when_full=2)
        replay.push(rows(5, 6, 7), when_full=2)
        assert held(replay)[2:] == [3, 4] and set(held(replay)[:2]) < {5, 6, 7}
        taken |= set(held(replay)[:2])
        replay.push(rows(8, 9, 10), when_full=2)
        assert set(held(replay)[2:]) < {8, 9, 10} and not set(held(replay)[:2]) & {8, 9, 10}
    assert taken == {5, 6, 7}


def test_a_rollout_larger_than_the_replay_leaves_its_end() -> None:
    replay = Replay(3, 1)
    replay.push(rows(1, 2, 3, 4, 5), when_full=1)
    assert sorted(held(replay)) == [3, 4, 5]


def test_draws_are_from_what_was_pushed() -> None:
    torch.manual_seed(0)
    replay = Replay(100, 1)
    replay.push(rows(1, 2, 3), when_full=1)
    assert replay.draw(0).shape == (0, 1)
    assert set(replay.draw(200).flatten().tolist()) == {1.0, 2.0, 3.0}
