"""Cells on workers: finished ones are never repeated, killed ones go on, failed ones are tried again and reported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell, Matrix
from pfmhr.training.logging import read_metrics

RESULT, LOG = "result.json", "console.log"
Engine = Literal["local", "ray"]
Progress = Callable[[int, int, str], object]


@dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    cell: Cell
    finished: bool
    said: str = ""
    """The last line of a cell that failed."""


def run_matrix(
    matrix: Matrix,
    folder: Path,
    workers: int = 2,
    engine: Engine = "local",
    attempts: int = 2,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Run every cell that has no result yet, each in a process and folder of its own."""
    todo = [cell for cell in matrix.cells if not (folder / cell.name / RESULT).exists()]
    done = [Outcome(cell, True) for cell in matrix.cells if cell not in todo]
    folder.mkdir(parents=True, exist_ok=True)
    if engine == "ray":
        return done + _on_ray(todo, folder, attempts, progress, len(done))
    with ThreadPoolExecutor(max(1, workers)) as pool:
        waiting = {pool.submit(run_cell, cell, folder, attempts) for cell in todo}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=5.0, return_when=FIRST_COMPLETED)
                done += [future.result() for future in finished]
                if progress:
                    progress(*_standing(matrix, folder, len(done)))
        except KeyboardInterrupt:
            for future in waiting:
                future.cancel()
            raise
    return done


def run_cell(cell: Cell, folder: Path, attempts: int) -> Outcome:
    """One training run in a process of its own, on one thread; tried again when it fails."""
    out = folder / cell.name
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pfmhr", *cell.arguments(out, threads=1)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    code = 0
    for _ in range(attempts):
        with (out / LOG).open("a") as log:
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, env=environment).returncode
        if code == 0:
            return Outcome(cell, True)
        if code == 2:
            break  # wrong use or bad input: trying again changes nothing
    lines = (out / LOG).read_text(errors="replace").strip().splitlines()
    return Outcome(cell, False, lines[-1] if lines else f"exit code {code}")


def _on_ray(todo: Sequence[Cell], folder: Path, attempts: int, progress: Progress | None, before: int) -> list[Outcome]:
    """The same cells as Ray tasks of one core each; the folder must be one that every machine sees."""
    try:
        import ray  # type: ignore[import-not-found]
    except ImportError:
        raise InputError("this engine needs Ray", fix="`pip install 'pfm-hr[ray]'`.", code="missing_extra") from None
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    task = ray.remote(num_cpus=1, max_retries=attempts)(run_cell)
    waiting = [task.remote(cell, folder.absolute(), attempts) for cell in todo]
    done: list[Outcome] = []
    while waiting:
        finished, waiting = ray.wait(waiting, timeout=5.0)
        done += ray.get(finished)
        if progress:
            progress(before + len(done), before + len(todo), "cells on Ray")
    return done


def _standing(matrix: Matrix, folder: Path, done: int) -> tuple[int, int, str]:
    """Samples done and in all, and a remark, over the whole matrix."""
    total = reached = 0
    for cell in matrix.cells:
        wanted = int(dict(cell.options).get("samples", 2_000_000))
        lines = read_metrics(folder / cell.name)
        total += wanted
        reached += wanted if (folder / cell.name / RESULT).exists() else min(wanted, lines[-1]["step"] if lines else 0)
    return reached, total, f"{done} of {len(matrix.cells)} cells"
