"""Arrays of another shape, kind or range than a public call states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from pfmhr import Calibration, PoseGeometryScore, PosePrior, RewardModulator
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.reward import NoModulation


@pytest.fixture(scope="module")
def score() -> PoseGeometryScore:
    return PoseGeometryScore(PosePrior.load("g1-small"))


@pytest.fixture(scope="module")
def modulator(score: PoseGeometryScore, walk: Motion) -> RewardModulator:
    return RewardModulator(score, Calibration.fit(score, [walk], 1 / 30))


def test_rewards_in_a_column_are_not_spread_over_a_square(modulator: RewardModulator) -> None:
    factor = torch.ones(5)
    for each in (modulator, NoModulation()):
        with pytest.raises(InputError, match=r"got rewards \(5, 1\), factors \(5,\)") as caught:
            each.combine(torch.ones(5, 1), factor)
        assert caught.value.code == "bad_shape"
        assert torch.equal(each.combine(torch.full((5,), 2.0), factor), torch.full((5,), 2.0))


CALLS: dict[str, Callable[[PoseGeometryScore, torch.Tensor], object]] = {
    "complex poses": lambda score, poses: score(poses.to(torch.complex64), poses, 1 / 30),
    "truth values": lambda score, poses: score(poses > 0, poses, 1 / 30),
    "a time step of nothing": lambda score, poses: score(poses, poses + 0.1, 1e-300),
    "a time step of a text": lambda score, poses: score(poses, poses + 0.1, "x"),  # type: ignore[arg-type]
    "other widths": lambda score, poses: score(poses[:, :28], poses, 1 / 30),
    "other counts": lambda score, poses: score(poses[:3], poses, 1 / 30),
    "texts": lambda score, poses: score([["a"] * 29] * 4, poses, 1 / 30),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", CALLS)
def test_a_score_refuses(call: str, score: PoseGeometryScore) -> None:
    with pytest.raises(InputError):
        CALLS[call](score, torch.zeros(4, 29))


@pytest.mark.parametrize(
    "settings", [{"samples": float("nan")}, {"t_eval": "x"}, {"samples": 2.5}, {"t_eval": float("nan")}]
)
def test_settings_of_a_score_are_numbers_in_range(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        PoseGeometryScore(PosePrior.load("g1-small"), **settings)
