"""Training a field: the loss by hand, repeatable to the bit, killable, resumable."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pfmhr.distance import DistanceConfig, PoseDistanceField, train_distance
from pfmhr.distance.network import DistanceNetworkConfig
from pfmhr.distance.pairs import Pairs
from pfmhr.distance.training import DistanceTask, Objective, error_by_band
from pfmhr.errors import InputError
from pfmhr.learning.logging import read_metrics
from pfmhr.robots import Robot

from ..prior.test_training import Stop
from ..score.priors import refused

TINY = DistanceNetworkConfig(feature=8, hidden=8, head=(16,))
SHORT = DistanceConfig(
    steps=40,
    batch_size=32,
    learning_rate=0.02,
    warmup=5,
    eikonal=0.1,
    checkpoint_every=10,
    evaluate_every=20,
    log_every=5,
    ema_decay=0.5,
)


class Slope(nn.Module):
    """d = s·q₁: a gradient of length s everywhere."""

    def __init__(self, slope: float) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(slope))

    def forward(self, pose: Tensor) -> Tensor:
        return self.slope * pose[..., 0]


def ruler(slope: float = 1.0) -> PoseDistanceField:
    """A field that reads the first of two angles."""
    return PoseDistanceField("toy", ("a", "b"), (-1, 0), (-1.0,) * 2, (1.0,) * 2, Slope(slope))  # type: ignore[arg-type]


def without_speed(run: Path) -> list[dict[str, float]]:
    return [{key: value for key, value in line.items() if key != "poses_per_second"} for line in read_metrics(run)]


@pytest.mark.parametrize(
    ("slope", "eikonal", "loss"),
    [
        (2.0, 0.0, 0.85),  # (|0.8 − 0.3| + |1.6 − 0.4|)/2
        (2.0, 1.0, 1.85),  # and (2 − 1)²
        (0.5, 4.0, 1.05),  # (|0.2 − 0.3| + |0.4 − 0.4|)/2 and 4·(0.5 − 1)²
    ],
)
def test_the_loss_by_hand(slope: float, eikonal: float, loss: float) -> None:
    """Angles 0.4 and 0.8 with labels 0.3 and 0.4: |s·q − d| averaged, and w·(s − 1)²."""
    objective = Objective(Slope(slope), eikonal)  # type: ignore[arg-type]
    value = objective(torch.tensor([[0.4, 9.0], [0.8, -9.0]]), torch.tensor([0.3, 0.4]))
    assert value.item() == pytest.approx(loss)


def test_the_gradients_part_of_the_loss_is_trained() -> None:
    """The derivative of |s·q − d| + w·(s − 1)² by s is q + 2·w·(s − 1) = 0.4 + 3."""
    model = Slope(1.5)
    Objective(model, 3.0)(torch.tensor([[0.4, 0.0]]), torch.tensor([0.5])).backward()  # type: ignore[arg-type]
    assert model.slope.grad is not None and model.slope.grad.item() == pytest.approx(3.4)


def test_the_last_pairs_are_held_out(line_pairs: Pairs) -> None:
    task = DistanceTask(line_pairs, replace(SHORT, held_out=0.25), Slope(1.0), 0, 1)  # type: ignore[arg-type]
    poses, distance = task.held_out()
    assert torch.equal(poses, torch.from_numpy(line_pairs.poses[6000:]))
    assert torch.equal(distance, torch.from_numpy(line_pairs.distance[6000:]))
    drawn = {row for step in range(300) for row in task.rows(step)}
    assert max(drawn) < 6000 and len(drawn) > 4500
    expected = np.abs(line_pairs.poses[6000:, 0] - line_pairs.distance[6000:]).mean()
    assert task.held_out_loss(Slope(1.0)) == pytest.approx(expected, rel=1e-5)  # type: ignore[arg-type]


def test_any_number_of_processes_draws_the_same_batch(line_pairs: Pairs) -> None:
    whole = DistanceTask(line_pairs, SHORT, Slope(1.0), 0, 1).batch(7)  # type: ignore[arg-type]
    rows = DistanceTask(line_pairs, SHORT, Slope(1.0), 0, 1).rows(7)  # type: ignore[arg-type]
    assert torch.equal(whole[0], torch.from_numpy(line_pairs.poses[rows]))
    assert torch.equal(whole[1], torch.from_numpy(line_pairs.distance[rows]))
    parts = [DistanceTask(line_pairs, SHORT, Slope(1.0), rank, 4).batch(7) for rank in range(4)]  # type: ignore[arg-type]
    for part, column in enumerate(whole):
        assert torch.equal(torch.cat([each[part] for each in parts]), column)


def test_errors_by_distance_by_hand() -> None:
    """A field that says 0.5·q₁ of poses at distance q₁: the error is half of the distance."""
    distance = torch.tensor([0.0, 0.05, 0.1, 0.2, 0.8, 4.0])
    poses = torch.stack([distance, torch.zeros(6)], dim=1)
    found = error_by_band(ruler(0.5), poses, distance)
    assert found["error"] == pytest.approx(5.15 / 6 / 2, rel=1e-5)
    bands = {"0 to 0.1": (0.0125, 2), "0.1 to 0.3": (0.075, 2), "0.6 to 1": (0.4, 1), "2 to inf": (2.0, 1)}
    assert list(found["by_distance"]) == list(bands)
    for name, (error, pairs) in bands.items():
        assert found["by_distance"][name] == {"error": pytest.approx(error, rel=1e-5), "pairs": pairs}


@pytest.mark.parametrize("steps", [(15, 25), (20,)], ids=["anywhere", "where the held-out loss is due"])
def test_an_interrupted_run_ends_with_the_same_bits(
    steps: tuple[int, ...], line_pairs: Pairs, tmp_path: Path, arm: Robot
) -> None:
    straight = train_distance(tmp_path / "straight", line_pairs, arm, SHORT, TINY)
    losses = [line["held_out_loss"] for line in read_metrics(tmp_path / "straight") if "held_out_loss" in line]
    assert len(losses) == 2 and losses[1] < 0.9 * losses[0]  # it does learn, so that there is something to lose
    said: list[str] = []
    for step in steps:
        with pytest.raises(KeyboardInterrupt):
            train_distance(tmp_path / "broken", line_pairs, arm, SHORT, TINY, said.append, Stop(step))
    resumed = train_distance(tmp_path / "broken", line_pairs, arm, SHORT, TINY, said.append)
    assert f"going on after step {steps[-1]} of 40" in said[-1]
    assert resumed.hash == straight.hash and resumed.about == straight.about
    for name in ("model.safetensors", "config.json"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
    assert without_speed(tmp_path / "broken") == without_speed(tmp_path / "straight")


def test_the_same_command_accepts_its_result_and_another_is_refused(
    line_pairs: Pairs, tmp_path: Path, arm: Robot
) -> None:
    run = tmp_path / "run"
    first = train_distance(run, line_pairs, arm, SHORT, TINY)
    said: list[str] = []
    again = train_distance(run, line_pairs, arm, SHORT, TINY, said.append)
    assert again.hash == first.hash and again.about == first.about and "already trained" in said[0]
    with refused("exists", "seed 0 → 1"):
        train_distance(run, line_pairs, arm, replace(SHORT, seed=1), TINY)
    with refused("exists", "hidden 8 → 5"):
        train_distance(run, line_pairs, arm, SHORT, replace(TINY, hidden=5))
    other = Pairs(line_pairs.poses, line_pairs.distance, {**line_pairs.about, "corpus": "another"})
    with refused("exists", "another"):
        train_distance(run, other, arm, SHORT, TINY)


def test_seeds_decide_the_result(line_pairs: Pairs, tmp_path: Path, arm: Robot) -> None:
    short = replace(SHORT, steps=3)
    hashes = [
        train_distance(tmp_path / f"run{n}", line_pairs, arm, replace(short, seed=seed), TINY).hash
        for n, seed in enumerate((0, 0, 1))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_field_knows_what_it_was_trained_on_and_how_well(line_field: PoseDistanceField, line_pairs: Pairs) -> None:
    about = line_field.about
    assert about["pairs"]["corpus"] == line_pairs.about["corpus"]
    assert about["pairs"]["pairs"]["count"] == 8000 and about["pairs"]["recall"] == line_pairs.about["recall"]
    assert (about["training"]["steps"], about["network"]["head"]) == (300, [32, 32])
    held_out = about["held_out"]
    assert held_out["error"] < 0.02
    assert list(held_out["by_distance"]) == ["0 to 0.1", "0.1 to 0.3", "0.3 to 0.6", "0.6 to 1", "1 to 2"]
    assert sum(band["pairs"] for band in held_out["by_distance"].values()) == 400  # 5 % of 8000
    assert all(band["error"] < 0.05 for band in held_out["by_distance"].values())


def test_the_field_that_is_returned_is_the_one_on_disk(line_pairs: Pairs, tmp_path: Path, arm: Robot) -> None:
    trained = train_distance(tmp_path / "run", line_pairs, arm, replace(SHORT, steps=3), TINY)
    loaded = PoseDistanceField.load(tmp_path / "run", arm)
    assert loaded.hash == trained.hash and loaded.about == trained.about
    assert (loaded.parents, loaded.lower, loaded.upper) == ((-1, 0), (-1.0, -1.0), (1.0, 1.0))


def test_too_few_pairs_to_hold_any_out_are_refused(line_pairs: Pairs, tmp_path: Path, arm: Robot) -> None:
    few = Pairs(line_pairs.poses[:5], line_pairs.distance[:5], {})
    with refused("too_short", "5"):
        train_distance(tmp_path / "run", few, arm, SHORT, TINY)


@pytest.mark.parametrize("share", [-1.0, 1.0, 1.5, math.nan])
def test_a_held_out_share_beyond_all_is_refused(share: float, line_pairs: Pairs, tmp_path: Path, arm: Robot) -> None:
    with pytest.raises(InputError):
        train_distance(tmp_path / "run", line_pairs, arm, replace(SHORT, held_out=share, steps=2), TINY)


def test_pairs_of_another_robot_are_refused(line_pairs: Pairs, tmp_path: Path, g1: Robot) -> None:
    with pytest.raises(InputError):
        train_distance(tmp_path / "run", line_pairs, g1, SHORT, TINY)
    assert not (tmp_path / "run" / "config.json").exists()


def test_a_label_that_is_no_number_stops_the_run(line_pairs: Pairs, tmp_path: Path, arm: Robot) -> None:
    broken = Pairs(line_pairs.poses, np.full_like(line_pairs.distance, np.nan), {})
    with refused("diverged", "step 0"):
        train_distance(tmp_path / "run", broken, arm, SHORT, TINY)


def test_two_processes_cannot_train_in_one_directory(line_pairs: Pairs, tmp_path: Path, arm: Robot) -> None:
    def intrude(step: int, total: int, remark: str) -> None:
        with refused("locked"):
            train_distance(tmp_path / "run", line_pairs, arm, short, TINY)
        intruded.append(step)

    intruded: list[int] = []
    short = replace(SHORT, steps=10)
    train_distance(tmp_path / "run", line_pairs, arm, short, TINY, progress=intrude)
    assert intruded == [5, 10]
