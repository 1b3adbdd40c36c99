"""A matrix on workers: finished cells are never repeated, the others are run, resumed, tried again and reported."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from pfmhr.experiments.cells import finished
from pfmhr.experiments.cluster import run_on_ray
from pfmhr.experiments.matrix import Cell, Matrix
from pfmhr.experiments.preflight import require_files, require_same_priors
from pfmhr.experiments.processes import METRICS, Outcome, Setting, is_finished, require_same, run_cells
from pfmhr.experiments.reuse import reuse_runs
from pfmhr.files import exclusive
from pfmhr.text import duration

Engine = Literal["local", "ray"]
Progress = Callable[[int, int, str], object]


def run_matrix(
    matrix: Matrix,
    folder: Path,
    workers: int = 2,
    engine: Engine = "local",
    attempts: int = 2,
    progress: Progress | None = None,
    program: tuple[str, ...] = (),
    reuse: Sequence[Path] = (),
    data: Path | None = None,
) -> list[Outcome]:
    """Run every cell that has no result yet, each in a process and folder of its own; outcomes in their order.

    What has finished in the folders to ``reuse`` with the same settings is copied instead. Clips are found below
    ``data``, or where this is run.
    """
    require_same(matrix.cells, folder)
    with exclusive(folder):
        reuse_runs(matrix.cells, folder, reuse)
        standing = Standing(matrix, folder)
        todo = [cell for cell in matrix.cells if not is_finished(cell, folder / cell.name)]
        done = [Outcome(cell, True) for cell in matrix.cells if cell not in todo]
        require_files(todo, Path.cwd(), data)
        require_same_priors(todo, finished(matrix, folder), Path.cwd())
        setting = Setting(folder.absolute(), attempts, Path.cwd(), data, program)
        run = run_on_ray if engine == "ray" else run_cells
        with closing(run(todo, setting, workers)) as rounds:
            for outcomes in rounds:
                done += outcomes
                if progress:
                    progress(*standing.now(done))
    return sorted(done, key=lambda outcome: matrix.cells.index(outcome.cell))


class Standing:
    """How far a matrix is, and how long the rest will take at the speed since this was made."""

    def __init__(self, matrix: Matrix, folder: Path) -> None:
        self._matrix, self._folder = matrix, folder
        self._budgets = {cell: cell.budget for cell in matrix.cells}
        self._begun, self._before = time.monotonic(), self._reached()

    def now(self, outcomes: list[Outcome]) -> tuple[int, int, str]:
        """Samples done and in all, and a remark: cells, failures, time left."""
        reached, total = self._reached(), sum(self._budgets.values())
        failed = [outcome.cell for outcome in outcomes if not outcome.finished]
        words = [f"{len(outcomes) - len(failed)} of {len(self._matrix.cells)} cells"]
        if failed:
            words.append(f"{len(failed)} failed")
        speed = (reached - self._before) / max(time.monotonic() - self._begun, 1e-9)
        given_up = sum(self._budgets[cell] - self._samples(cell) for cell in failed)
        if speed > 0:
            words.append(f"{duration((total - given_up - reached) / speed)} left")
        return reached, total, ", ".join(words)

    def _reached(self) -> int:
        return sum(self._samples(cell) for cell in self._matrix.cells)

    def _samples(self, cell: Cell) -> int:
        if is_finished(cell, self._folder / cell.name):
            return self._budgets[cell]
        return min(self._budgets[cell], _last_step(self._folder / cell.name))


def _last_step(directory: Path) -> int:
    """Samples at the last whole line of a run's metrics; only its end is read, and it is read often."""
    path = directory / METRICS
    try:
        with path.open("rb") as handle:
            handle.seek(max(0, path.stat().st_size - 8192))
            lines = handle.read().split(b"\n")
    except OSError:
        return 0
    for line in reversed(lines[:-1]):
        try:
            return int(json.loads(line)["step"])
        except (ValueError, KeyError, TypeError):
            continue
    return 0
