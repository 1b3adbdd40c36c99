"""Checkpoints of a training loop: the newest two, each whole or absent."""

from __future__ import annotations

from pathlib import Path

from torch import nn
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel

from pfmhr.errors import InputError
from pfmhr.learning.state import load_state, save_state

CHECKPOINTS = "training"
"""Where they lie in a run's directory."""
KEEP = 2
"""Older checkpoints than the last two are deleted, and later ones, which could not be read."""


def save_checkpoint(folder: Path, step: int, model: nn.Module, average: AveragedModel, optimiser: Optimizer) -> None:
    """Write weights, their average and the optimiser's moments after ``step`` steps."""
    learned = {"model": model, "average": average, "optimiser": optimiser}
    state = {"step": step, **{name: part.state_dict() for name, part in learned.items()}}
    save_state(folder / f"step-{step:09d}.safetensors", state)
    ours = f"step-{step:09d}"
    later = [
        path for path in folder.glob("step-*.safetensors") if path.stem > ours
    ]  # could not be read, or we were there
    for old in [*sorted(path for path in folder.glob("step-*.safetensors") if path.stem <= ours)[:-KEEP], *later]:
        old.unlink()


def last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that can be read; temporary files of a killed run are swept away."""
    for litter in folder.glob("*.tmp"):
        litter.unlink(missing_ok=True)  # another process may sweep as well
    for path in sorted(folder.glob("step-*.safetensors"), reverse=True):
        try:
            load_state(path)
            return path
        except InputError:
            continue
    return None


def steps_done(folder: Path) -> int:
    """Steps up to the newest checkpoint, by its name alone; 0 without any."""
    names = (path.stem.removeprefix("step-") for path in folder.glob("step-*.safetensors"))
    return max((int(name) for name in names if name.isdecimal()), default=0)


def load_checkpoint(path: Path, model: nn.Module, average: AveragedModel, optimiser: Optimizer) -> int:
    """Restore everything to the bit; returns the number of steps done."""
    state = load_state(path)
    for name, part in {"model": model, "average": average, "optimiser": optimiser}.items():
        part.load_state_dict(state[name])
    return int(state["step"])
