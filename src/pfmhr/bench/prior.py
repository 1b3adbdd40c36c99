"""How fast a prior trains, against the matrix products nothing can avoid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pfmhr.bench.timing import interleaved
from pfmhr.motion.checks.paths import available_cores
from pfmhr.prior import PriorConfig, TrainConfig, preset
from pfmhr.prior.path import TimeSampling
from pfmhr.prior.prior import new_denoiser
from pfmhr.prior.training import Objective
from pfmhr.provenance import provenance

JOINTS = 29


def bench_prior(names: tuple[str, ...], batch: int, repeats: int, compile: bool) -> dict[str, Any]:
    """Training step, plain training step and bare matrix products for each preset, in one run."""
    torch.set_num_threads(available_cores())
    return {
        "batch": batch,
        "presets": {name: _measure(name, batch, repeats, compile) for name in names},
        **provenance(),
    }


def _measure(name: str, batch: int, repeats: int, compile: bool) -> dict[str, Any]:
    network = preset(name)
    bare = _bare_products(network.depth * network.linears_per_block, network.width, batch)
    steps = {
        "step": _step(name, batch, TrainConfig().distinct_times, False),
        "step_with_a_time_per_pose": _step(name, batch, batch, False),
    }
    if compile:
        steps["compiled_step"] = _step(name, batch, TrainConfig().distinct_times, True)
    times = interleaved({"bare": bare, **steps}, repeats)
    result = {f"{what}_milliseconds": round(1000 * seconds, 2) for what, seconds in times.items()}
    result |= {f"{what}_ratio": round(times[what] / times["bare"], 3) for what in steps}
    return {**result, "poses_per_second": round(batch / times["step"])}


def _bare_products(products: int, width: int, batch: int) -> Callable[[], None]:
    """Forward and backward of the blocks' linear maps alone: three products each, nothing else."""
    hidden, weight, gradient = torch.randn(batch, width), torch.randn(width, width), torch.randn(batch, width)

    def run() -> None:
        for _ in range(products):
            torch.mm(hidden, weight.T)
            torch.mm(gradient, weight)
            torch.mm(gradient.T, hidden)

    return run


def _step(name: str, batch: int, groups: int, compile: bool) -> Callable[[], None]:
    """One whole training step on prepared data: loss, gradients, clipping, AdamW, average."""
    config = PriorConfig(network=preset(name))
    denoiser = new_denoiser(config, JOINTS)
    objective: Any = Objective(denoiser)
    if compile:
        objective = torch.compile(objective)
    parameters = list(denoiser.parameters())
    optimiser = AdamW(parameters, lr=1e-4, betas=(0.9, 0.95), fused=True)
    average = AveragedModel(denoiser, multi_avg_fn=get_ema_multi_avg_fn(0.999))
    poses, noise = torch.randn(groups, batch // groups, JOINTS), torch.randn(groups, batch // groups, JOINTS)
    times = TimeSampling().stratified(groups, torch.Generator().manual_seed(0)).unsqueeze(1)

    def run() -> None:
        loss = objective(poses, noise, times)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        average.update_parameters(denoiser)

    return run
