"""Training samples: poses, noise and times of a step, a function of (seed, step) and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.sampling import batch_rows
from pfmhr.corpus.split import RowSet
from pfmhr.prior.config import TrainConfig
from pfmhr.prior.path import TimeSampling


@dataclass(frozen=True)
class Batch:
    """G groups of R poses; each group shares one flow time."""

    poses: Tensor
    """(G, R, J) in rad."""
    noise: Tensor
    """(G, R, J) standard normal."""
    flow_time: Tensor
    """(G, 1)."""


def draw_batch(
    corpus: PoseCorpus, rows: RowSet, time: TimeSampling, train: TrainConfig, step: int, rank: int = 0, world: int = 1
) -> Batch:
    """This process's part of a step's batch; the parts of any number of processes make up the same batch."""
    groups = train.distinct_times
    size = train.batch_size // groups
    chosen = rows.rows(batch_rows(len(rows), step, train.batch_size, train.seed, rank, world))
    poses = torch.from_numpy(corpus.rows(chosen))
    generator = torch.Generator().manual_seed(_mix(train.seed, step))
    flow_time = time.stratified(groups, generator).unsqueeze(1)
    noise = torch.randn(groups, size, poses.shape[1], generator=generator)
    mine = slice(rank * groups // world, (rank + 1) * groups // world)
    return Batch(poses.reshape(-1, size, poses.shape[1]), noise[mine], flow_time[mine])


def _mix(seed: int, step: int) -> int:
    """One 63-bit seed from two numbers, different for neighbouring pairs (the finaliser of splitmix64)."""
    value = (seed * 0x9E3779B97F4A7C15 + step * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D) & (2**64 - 1)
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (value ^ (value >> 31)) >> 1
