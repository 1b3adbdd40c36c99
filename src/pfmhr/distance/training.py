"""Learning a distance field: the label, and a gradient of length one (Eikonal)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import pfmhr
from pfmhr.corpus.sampling import batch_rows
from pfmhr.distance.field import PoseDistanceField
from pfmhr.distance.network import DistanceNetwork, DistanceNetworkConfig, joint_parents
from pfmhr.distance.pairs import Pairs
from pfmhr.errors import InputError
from pfmhr.files import exclusive
from pfmhr.layout import CONFIG
from pfmhr.learning import (
    LoopConfig,
    Progress,
    Say,
    claim,
    given_up,
    is_done,
    processes,
    require_memory,
    require_numbers,
    run_loop,
    said_by_first,
)
from pfmhr.learning.runs import refuse_others
from pfmhr.robots import Robot

BANDS = (0.0, 0.1, 0.3, 0.6, 1.0, 2.0, np.inf)


@dataclass(frozen=True)
class DistanceConfig(LoopConfig):
    """How a field is learned. PDF-HR: 15,000 steps of 65,536 at a rate of 1e-4; less does on a CPU."""

    steps: int = 4000
    batch_size: int = 2048
    learning_rate: float = 1e-3
    warmup: int = 200
    weight_decay: float = 1e-2
    eikonal: float = 1.0
    """Weight of the gradient's part of the loss."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_numbers(self, not_negative=("eikonal",))


PAPER = DistanceConfig(steps=15_000, batch_size=65_536, learning_rate=1e-4, schedule="constant")


class Objective(nn.Module):
    """``|d̂ − d| + w·(‖∇d̂‖ − 1)²``, averaged."""

    def __init__(self, network: DistanceNetwork, eikonal: float) -> None:
        super().__init__()
        self.network, self.eikonal = network, eikonal

    def forward(self, pose: Tensor, distance: Tensor) -> Tensor:
        """Shapes ``(N, J)``, ``(N,)`` → a scalar."""
        pose = pose.requires_grad_(True)
        predicted = self.network(pose)
        (gradient,) = torch.autograd.grad(predicted.sum(), pose, create_graph=True)
        unit = (gradient.norm(dim=1) - 1.0).square().mean()
        return (predicted - distance).abs().mean() + self.eikonal * unit


class DistanceTask:
    """Regression on pairs; the last share of them is held out."""

    def __init__(self, pairs: Pairs, config: DistanceConfig, network: DistanceNetwork, rank: int, world: int) -> None:
        self.model, self.objective = network, Objective(network, config.eikonal)
        self._config, self._part = config, (rank, world)
        self._poses, self._distance = torch.from_numpy(pairs.poses), torch.from_numpy(pairs.distance)
        self._kept = trained_on(len(pairs.poses), config)

    def batch(self, step: int) -> tuple[Tensor, ...]:
        """Poses and labels of a step."""
        config = self._config
        rows = torch.from_numpy(batch_rows(self._kept, step, config.batch_size, config.seed, *self._part))
        return self._poses[rows], self._distance[rows]

    def rows(self, step: int) -> Sequence[int]:
        """Pairs of a step."""
        return batch_rows(self._kept, step, self._config.batch_size, self._config.seed).tolist()

    def held_out_loss(self, model: DistanceNetwork) -> float:
        """Mean absolute error in rad on held-out pairs."""
        with torch.no_grad():
            poses, distance = self.held_out()
            device = next(model.parameters()).device
            return float((model(poses.to(device)).cpu() - distance).abs().mean())

    def held_out(self, most: int = 16_384) -> tuple[Tensor, Tensor]:
        """Poses and labels kept from training."""
        return self._poses[self._kept :][:most], self._distance[self._kept :][:most]


def trained_on(pairs: int, config: DistanceConfig) -> int:
    """How many of so many pairs are trained on; the rest, at least one, are held out."""
    kept = max(1, round(pairs * (1.0 - config.held_out)))
    if kept == pairs:
        raise InputError("too few pairs to hold any out", got=pairs, code="too_short")
    return kept


def require_trainable(
    directory: Path, pairs: int, robot: Robot, config: DistanceConfig, network: DistanceNetworkConfig
) -> None:
    """Refuse what could not be trained, before hours are spent on pairs."""
    refuse_others(directory, "a distance field")
    trained_on(pairs, config)
    require_memory(config.batch_size, robot.num_joints * (1 + network.feature) + sum(network.head), processes()[1])


def train_distance(
    directory: Path,
    pairs: Pairs,
    robot: Robot,
    config: DistanceConfig,
    network: DistanceNetworkConfig | None = None,
    say: Say = lambda _: None,
    progress: Progress | None = None,
) -> PoseDistanceField:
    """Train a field into ``directory``, resuming what is there."""
    sizes = network or DistanceNetworkConfig()
    if pairs.poses.shape[1] != robot.num_joints:
        raise InputError(
            "the pairs are of another robot",
            expected=f"{robot.num_joints} joints",
            got=pairs.poses.shape[1],
            code="wrong_robot",
        )
    about = _about(pairs, config, sizes)
    rank, world = processes()
    if said_by_first(rank == 0 and is_done(directory, about, finished=CONFIG)):
        if rank == 0:
            say(f"already trained: {directory}")
        return PoseDistanceField.load(directory)
    # Everything that can be wrong is found before anything is written.
    require_trainable(directory, len(pairs.poses), robot, config, sizes)
    field = PoseDistanceField.new(robot, joint_parents(robot), sizes, config.seed)
    model = PoseDistanceField.new(robot, field.parents, sizes, config.seed).network
    task = DistanceTask(pairs, config, model, rank, world)
    with exclusive(directory) if rank == 0 else nullcontext():
        if rank == 0:
            claim(directory, about, finished=CONFIG)
        with given_up(directory):
            averaged = run_loop(directory, task, config, say, progress)
        field.network.load_state_dict(averaged.state_dict())
        field.about = {**about, "held_out": error_by_band(field, *task.held_out())}
        if rank == 0:
            field.save(directory)
    return field


def _about(pairs: Pairs, config: DistanceConfig, network: DistanceNetworkConfig) -> dict[str, Any]:
    return {
        "pairs": {key: pairs.about.get(key) for key in ("corpus", "poses", "pairs", "recall")},
        "network": {**asdict(network), "head": list(network.head)},
        "training": asdict(config),
        "code_version": pfmhr.__version__,
    }


def error_by_band(field: PoseDistanceField, poses: Tensor, distance: Tensor) -> dict[str, Any]:
    """Mean absolute error in rad, over all held-out pairs and by how far they are from the corpus."""
    error = (field(poses) - distance).abs()
    bands = {}
    for low, high in pairwise(BANDS):
        inside = (distance >= low) & (distance < high)
        if inside.any():
            bands[f"{low:g} to {high:g}"] = {"error": float(error[inside].mean()), "pairs": int(inside.sum())}
    return {"error": float(error.mean()), "by_distance": bands}
