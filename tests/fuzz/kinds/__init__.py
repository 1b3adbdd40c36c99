"""One module per family of files: how a valid one looks, what may happen to it, and who reads it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.places import Files

MODULES = {
    "npz": "motions",
    "pickle": "motions",
    "csv": "tables",
    "safetensors": "networks",
    "config": "networks",
    "calibration": "calibrations",
    "run": "runs",
    "corpus": "corpora",
    "experiment": "matrices",
    "state": "states",
}
"""Where each kind is made."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: cases are made of it, and read."""

    make: Callable[[Random], tuple[Files, tuple[str, ...]]]
    """The files of a case and the names of the changes they suffered; no changes, no excuse."""
    read: Callable[[Path], str | None]
    """Reads the case in a folder as the package does; says what is wrong with what was loaded, None if nothing."""
    names: tuple[str, ...]
    """Files that a case may have."""


def kind_of(name: str, scratch: Path) -> Kind:
    """A kind by its name; valid files are made in ``scratch``, by the package itself."""
    module = importlib.import_module(f"tests.fuzz.kinds.{MODULES[name]}")
    return module.make_kind(name, scratch)
