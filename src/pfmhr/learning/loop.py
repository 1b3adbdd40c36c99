"""Training: one loop that tells the whole story."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pfmhr.errors import InputError
from pfmhr.learning.checkpoint import CHECKPOINTS, last_checkpoint, load_checkpoint, save_checkpoint
from pfmhr.learning.config import LoopConfig
from pfmhr.learning.interruption import deferred_interruption
from pfmhr.learning.logging import RunLog

_CPU = torch.device("cpu")
Say = Callable[[str], object]
Progress = Callable[[int, int, str], object]


class Task(Protocol):
    """What is learned: a model, its loss, and samples that are a function of the step alone."""

    @property
    def model(self) -> nn.Module:
        """The weights being trained."""
        ...

    @property
    def objective(self) -> nn.Module:
        """Maps a batch to a scalar loss through ``model``; a module so that it can be compiled and distributed."""
        ...

    def batch(self, step: int) -> tuple[Tensor, ...]:
        """This process's part of a step's batch."""
        ...

    def held_out_loss(self, model: Any) -> float:
        """Loss of a model on samples kept from training."""
        ...

    def rows(self, step: int) -> Sequence[int]:
        """Where a step's samples came from, to look at when something goes wrong."""
        ...


def run_loop(
    directory: Path,
    task: Task,
    config: LoopConfig,
    say: Say = lambda _: None,
    progress: Progress | None = None,
) -> nn.Module:
    """Train, or go on training, until all steps are done; returns the averaged model, on the CPU.

    Uses a GPU where there is one. Safe to kill at any moment; Ctrl-C saves first. Checkpoints lie in
    ``directory/training``.
    """
    rank, world = processes()
    device = training_device()
    model, leader, checkpoints = task.model.to(device), rank == 0, directory / CHECKPOINTS
    model.train().requires_grad_(True)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(config.ema_decay))
    optimiser = AdamW(
        model.parameters(), lr=config.learning_rate, betas=(0.9, 0.95), weight_decay=config.weight_decay, fused=True
    )
    step = _restore(checkpoints, task, config, average, optimiser, say if leader else None)
    objective = _prepared(task.objective, config, world)
    log = RunLog(directory, step) if leader else None
    parameters, start, first, whole = list(model.parameters()), time.perf_counter(), step, True
    try:
        while step < config.steps:
            with deferred_interruption() as interruption:  # a step is done whole, or not at all
                whole = False
                for group in optimiser.param_groups:
                    group["lr"] = config.rate_at(step)
                loss = objective(*(part.to(device, non_blocking=True) for part in task.batch(step)))
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                gradient = nn.utils.clip_grad_norm_(parameters, config.gradient_clip)
                value, norm = loss.item(), gradient.item()
                _refuse_divergence(directory, task, config, step, value, norm)
                optimiser.step()
                average.update_parameters(model)
                step += 1
                speed = (step - first) * config.batch_size / (time.perf_counter() - start)
                if log and config.due(step, config.log_every):
                    rate = config.rate_at(step - 1)
                    log.write(step, loss=value, gradient_norm=norm, learning_rate=rate, poses_per_second=speed)
                if log and config.due(step, config.evaluate_every):
                    log.write(step, held_out_loss=task.held_out_loss(average.module))
                whole = True
                if log and config.due(step, config.checkpoint_every):
                    save_checkpoint(checkpoints, step, model, average, optimiser)
            if log and progress and config.due(step, config.log_every):
                # Last, so that an interruption from here loses no line of the log.
                progress(step, config.steps, f"loss {value:.4f}, {speed:,.0f} poses/s")
            interruption.check()
    except KeyboardInterrupt:
        if leader and whole:  # otherwise the last checkpoint stays: half a step is no state to go on from
            save_checkpoint(checkpoints, step, model, average, optimiser)
            say(f"stopped after step {step:,}; the same command goes on from there")
        raise
    finally:
        if log:
            log.close()
    return average.module.cpu()


def _restore(
    checkpoints: Path, task: Task, config: LoopConfig, average: AveragedModel, optimiser: AdamW, say: Say | None
) -> int:
    found = last_checkpoint(checkpoints)
    if found is None:
        return 0
    step = load_checkpoint(found, task.model, average, optimiser)
    if say and step < config.steps:
        say(f"going on after step {step:,} of {config.steps:,}")
    return step


def _prepared(objective: nn.Module, config: LoopConfig, world: int) -> Any:
    wrapped: Any = DistributedDataParallel(objective) if world > 1 else objective
    return torch.compile(wrapped) if config.compile else wrapped


def _refuse_divergence(
    directory: Path, task: Task, config: LoopConfig, step: int, loss: float, gradient: float
) -> None:
    """Stop at the first step whose loss or gradient is not a sane number, and say what to look at."""
    if loss == loss and gradient < config.gradient_limit:  # NaN fails both comparisons
        return
    rows = task.rows(step)
    last = last_checkpoint(directory / CHECKPOINTS)
    raise InputError(
        f"training diverged at step {step:,}",
        where=directory,
        expected=f"a finite loss and a gradient norm below {config.gradient_limit:g}",
        got=f"loss {loss:g}, gradient norm {gradient:g}, batch rows {rows[0]}, {rows[1 % len(rows)]}, …",
        fix=f"Last good checkpoint: {last or 'none'}. Look at those rows, or lower the learning rate.",
        code="diverged",
    )


def training_device() -> torch.device:
    """This process's GPU, or the CPU."""
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if torch.cuda.is_available() else _CPU


def said_by_first(verdict: bool) -> bool:
    """What the first of all processes says, wherever it is asked."""
    if not dist.is_initialized():
        return verdict
    said = [verdict]
    dist.broadcast_object_list(said, src=0, device=training_device())
    return said[0]


def processes() -> tuple[int, int]:
    """(rank, world) under torchrun, (0, 1) otherwise."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
