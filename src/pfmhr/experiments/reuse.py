"""Finished runs of other experiments: a baseline that several matrices compare with is trained once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell
from pfmhr.experiments.processes import CELL, is_finished
from pfmhr.files import read_json


def reuse_runs(cells: Sequence[Cell], folder: Path, others: Sequence[Path]) -> list[Cell]:
    """Copy runs of the same settings, finished in other folders, for cells that were not begun; returns those cells."""
    runs = [run for other in others for run in _runs(other)]
    taken = []
    for cell in cells:
        if (folder / cell.name).exists():
            continue
        settings = json.loads(json.dumps(cell.settings))
        for run, had in runs:
            if had == settings and is_finished(cell, run):
                _copy(run, folder / cell.name)
                taken.append(cell)
                break
    return taken


def _runs(other: Path) -> list[tuple[Path, Any]]:
    """Runs of an experiment and what each was begun with."""
    if not other.is_dir():
        raise InputError("no folder of runs to reuse", where=other, expected="runs/experiments/NAME", code="not_found")
    return [(path.parent, read_json(path, "bad_run")) for path in sorted(other.glob(f"*/{CELL}"))]


def _copy(run: Path, to: Path) -> None:
    """Whole or not at all: a name that says it is not a cell's until everything is there."""
    unfinished = to.with_name(f".{to.name}.copy")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(run, unfinished)
    os.replace(unfinished, to)
