"""Training state on disk: one safetensors file per checkpoint, whole or absent, no pickles."""

from __future__ import annotations

from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel

from pfmhr.files import make_folder, write_atomically

KEEP = 2
"""Older checkpoints than the last two are deleted."""


def checkpoint_path(folder: Path, step: int) -> Path:
    """File of the state after ``step`` steps."""
    return folder / f"step-{step:09d}.safetensors"


def save_checkpoint(folder: Path, step: int, model: nn.Module, average: AveragedModel, optimiser: AdamW) -> None:
    """Write weights, their average and the optimiser's moments after ``step`` steps."""
    state: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        state[f"model.{name}"] = parameter.detach()
        for moment in ("exp_avg", "exp_avg_sq"):
            if parameter in optimiser.state:
                state[f"{moment}.{name}"] = optimiser.state[parameter][moment]
    for name, parameter in average.module.named_parameters():
        state[f"average.{name}"] = parameter.detach()
    data = safetensors.torch.save(
        {name: value.cpu().contiguous() for name, value in state.items()}, {"step": str(step)}
    )
    make_folder(folder)
    write_atomically(checkpoint_path(folder, step), lambda handle: handle.write(data))
    for old in sorted(folder.glob("step-*.safetensors"))[:-KEEP]:
        old.unlink()


def last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that can be read; temporary files of a killed run are swept away."""
    for litter in folder.glob("*.tmp"):
        litter.unlink()
    for path in sorted(folder.glob("step-*.safetensors"), reverse=True):
        try:
            with safe_open(path, framework="pt") as handle:
                int((handle.metadata() or {})["step"])
            return path
        except (SafetensorError, KeyError, ValueError, OSError):
            continue
    return None


def load_checkpoint(path: Path, model: nn.Module, average: AveragedModel, optimiser: AdamW) -> int:
    """Restore everything to the bit; returns the number of steps done."""
    with safe_open(path, framework="pt") as handle:
        step = int((handle.metadata() or {})["step"])
    state = safetensors.torch.load_file(path)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(state[f"model.{name}"])
            if f"exp_avg.{name}" in state:
                optimiser.state[parameter] = {
                    "step": torch.tensor(float(step), device=parameter.device),  # where a fused optimiser wants it
                    "exp_avg": state[f"exp_avg.{name}"].to(parameter.device).clone(),
                    "exp_avg_sq": state[f"exp_avg_sq.{name}"].to(parameter.device).clone(),
                }
        for name, parameter in average.module.named_parameters():
            parameter.copy_(state[f"average.{name}"])
    average.n_averaged.fill_(step)
    return step
