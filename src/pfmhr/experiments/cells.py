"""Finished cells of a matrix, and what of each is worth keeping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pfmhr.experiments.matrix import Cell, Matrix
from pfmhr.experiments.processes import FAILED, RESULT, is_finished
from pfmhr.foreign import read_json
from pfmhr.results.records import read_record
from pfmhr.results.run_result import RunResult, StoredRun, kept

MODULATION = ("modulator_multiplier", "modulator_share_good", "modulator_share_bad", "modulator_strength")
"""What is kept of a modulator's work; the mean factor is that after fading, the shares are those before it."""


@dataclass(frozen=True)
class Done:
    """A finished cell."""

    cell: Cell
    result: RunResult
    folder: Path

    @property
    def kept(self) -> StoredRun:
        """What a report keeps of this run."""
        settings = self.cell.settings
        modulation = {} if self.result.summary else self._modulation(self.result.evaluated_at)
        return kept(self.result, self.cell.name, settings, modulation)

    def _modulation(self, samples: list[int]) -> dict[str, Sequence[float]]:
        """Mean factor, region shares and, of a prior that fades, what is left of it, between evaluations."""
        from pfmhr.learning.logging import read_metrics  # with it comes torch, which what starts cells does without

        lines = [line for line in read_metrics(self.folder) if "modulator_multiplier" in line]
        spans = [[line for line in lines if low < line["step"] <= high] for low, high in pairwise(samples)]
        return {
            name.removeprefix("modulator_"): [round(sum(line[name] for line in span) / len(span), 4) for span in spans]
            for name in MODULATION
            if spans and all(span and name in span[0] for span in spans)
        }


def finished(matrix: Matrix, folder: Path) -> list[Done]:
    """The cells of a matrix that have a result, in its order."""
    done = [(cell, folder / cell.name) for cell in matrix.cells if is_finished(cell, folder / cell.name)]
    return [Done(cell, read_record(RunResult, run / RESULT, "bad_run"), run) for cell, run in done]


def failures(matrix: Matrix, folder: Path) -> dict[str, str]:
    """Cells that failed for good when they were last tried, and why."""
    tried = {
        cell.name: folder / cell.name / FAILED for cell in matrix.cells if not is_finished(cell, folder / cell.name)
    }
    return {name: _said(path) for name, path in tried.items() if path.exists()}


def _said(path: Path) -> str:
    content = read_json(path, "bad_run")
    return str(content.get("said", "")) if isinstance(content, dict) else ""
