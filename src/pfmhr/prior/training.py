"""Training a prior: one loop that tells the whole story."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.sampling import batch_rows
from pfmhr.corpus.split import Split
from pfmhr.errors import InputError
from pfmhr.prior.batches import draw_batch
from pfmhr.prior.checkpoint import last_checkpoint, load_checkpoint, save_checkpoint
from pfmhr.prior.config import PriorConfig, TrainConfig
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.heldout import held_out_loss
from pfmhr.prior.logging import RunLog
from pfmhr.prior.prior import PosePrior

Say = Callable[[str], object]
Progress = Callable[[int, int, str], object]
HELD_OUT_POSES = 8192


class Objective(nn.Module):
    """The mean loss of a batch, as a module so that it can be compiled and distributed."""

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        self.denoiser = denoiser

    def forward(self, clean_pose: Tensor, noise: Tensor, flow_time: Tensor) -> Tensor:
        """Loss per joint, a scalar."""
        return self.denoiser.loss(clean_pose, noise, flow_time).mean() / clean_pose.shape[-1]


@dataclass
class Training:
    """One run: what is trained, on what, and where it is written."""

    directory: Path
    corpus: PoseCorpus
    split: Split
    config: PriorConfig
    train: TrainConfig
    prior: PosePrior
    """Holds the averaged weights: the ones that are used."""
    model: Denoiser
    """The weights being trained."""
    about: dict[str, Any] = field(default_factory=dict)
    rank: int = 0
    world: int = 1

    @property
    def checkpoints(self) -> Path:
        """Folder of the training state, beside the artefact."""
        return self.directory / "training"


def run_training(training: Training, say: Say = lambda _: None, progress: Progress | None = None) -> PosePrior:
    """Train, or go on training, until all steps are done. Safe to kill at any moment; Ctrl-C saves first."""
    train, model, leader = training.train, training.model, training.rank == 0
    model.train().requires_grad_(True)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(train.ema_decay))
    optimiser = AdamW(
        model.parameters(), lr=train.learning_rate, betas=(0.9, 0.95), weight_decay=train.weight_decay, fused=True
    )
    averaged: Denoiser = average.module  # type: ignore[assignment]
    step = _restore(training, average, optimiser, say)
    objective = _objective(training)
    held_out = _held_out(training)
    log = RunLog(training.directory, step) if leader else None
    parameters, start, first = list(model.parameters()), time.perf_counter(), step
    try:
        while step < train.steps:
            for group in optimiser.param_groups:
                group["lr"] = train.rate_at(step)
            batch = draw_batch(
                training.corpus, training.split.train, training.config.time, train, step, training.rank, training.world
            )
            clean = training.prior.normalise(batch.poses)
            loss = objective(clean, batch.noise, batch.flow_time)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            gradient = nn.utils.clip_grad_norm_(parameters, train.gradient_clip)
            value, norm = loss.item(), gradient.item()
            _refuse_divergence(training, step, value, norm)
            optimiser.step()
            average.update_parameters(model)
            step += 1
            if log and (step % train.log_every == 0 or step == train.steps):
                speed = (step - first) * train.batch_size / (time.perf_counter() - start)
                log.write(
                    step, loss=value, gradient_norm=norm, learning_rate=train.rate_at(step - 1), poses_per_second=speed
                )
                if progress:
                    progress(step, train.steps, f"loss {value:.4f}, {speed:,.0f} poses/s")
            if log and (step % train.evaluate_every == 0 or step == train.steps):
                log.write(step, held_out_loss=held_out_loss(averaged, held_out, training.config.time))
            if log and (step % train.checkpoint_every == 0 or step == train.steps):
                save_checkpoint(training.checkpoints, step, model, average, optimiser)
    except KeyboardInterrupt:
        if leader:
            save_checkpoint(training.checkpoints, step, model, average, optimiser)
            say(f"stopped after step {step:,}; the same command goes on from there")
        raise
    finally:
        if log:
            log.close()
    return _finish(training, average, held_out, step)


def _restore(training: Training, average: AveragedModel, optimiser: AdamW, say: Say) -> int:
    found = last_checkpoint(training.checkpoints)
    if found is None:
        return 0
    step = load_checkpoint(found, training.model, average, optimiser)
    if training.rank == 0 and step < training.train.steps:
        say(f"going on after step {step:,} of {training.train.steps:,}")
    return step


def _objective(training: Training) -> Any:
    objective: Any = Objective(training.model)
    if training.world > 1:
        objective = DistributedDataParallel(objective)
    return torch.compile(objective) if training.train.compile else objective


def _held_out(training: Training) -> Tensor:
    rows = training.split.held_out.spread(HELD_OUT_POSES)
    return training.prior.normalise(training.corpus.rows(rows))


def _refuse_divergence(training: Training, step: int, loss: float, gradient: float) -> None:
    """Stop at the first step whose loss or gradient is not a sane number, and say what to look at."""
    if loss == loss and gradient < training.train.gradient_limit:  # NaN fails both comparisons
        return
    rows = training.split.train.rows(
        batch_rows(len(training.split.train), step, training.train.batch_size, training.train.seed)
    )
    last = last_checkpoint(training.checkpoints)
    raise InputError(
        f"training diverged at step {step:,}",
        where=training.directory,
        expected=f"a finite loss and a gradient norm below {training.train.gradient_limit:g}",
        got=f"loss {loss:g}, gradient norm {gradient:g}, batch rows {rows[0]}, {rows[1 % len(rows)]}, …",
        fix=f"Last good checkpoint: {last or 'none'}. Look at those rows, or lower the learning rate.",
        code="diverged",
    )


def _finish(training: Training, average: AveragedModel, held_out: Tensor, step: int) -> PosePrior:
    prior = training.prior
    prior.denoiser.load_state_dict(average.module.state_dict())
    prior.denoiser.eval().requires_grad_(False)
    held_out_starts = set(training.split.held_out.starts.tolist())
    prior.about = {
        **training.about,
        "steps": step,
        "held_out_loss": held_out_loss(prior.denoiser, held_out, training.config.time),
        "held_out_sources": [
            [source.path, source.clip] for source in training.corpus.sources if source.start in held_out_starts
        ],
        "finished": True,
    }
    if training.rank == 0:
        prior.save(training.directory)
    return prior


def processes() -> tuple[int, int]:
    """(rank, world) under torchrun, (0, 1) otherwise."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
