"""Finished cells of a matrix, and what of each is worth keeping."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell, Matrix
from pfmhr.experiments.pairs import Effort
from pfmhr.experiments.processes import FAILED, RESULT, is_finished
from pfmhr.foreign import read_json

ERRORS = ("success", "success_strict", "position_error", "rotation_error", "body_error")
"""What every evaluation tells and a table may want."""
MODULATION = ("modulator_multiplier", "modulator_share_good", "modulator_share_bad", "modulator_strength")
"""What is kept of a modulator's work. Only the last knows of fading: the others are of the factor before it."""
MADE_WITH = ("prior_sha256", "clips_sha256")
"""What a run was made with that settings only name."""


@dataclass(frozen=True)
class Done:
    """A finished cell."""

    cell: Cell
    result: dict[str, Any]
    folder: Path

    @property
    def effort(self) -> Effort:
        """What it needed."""
        reached = self.result["samples_to_80"]
        return Effort(None if reached is None else reached / 1e6, self.result["samples"] / 1e6)

    @property
    def summary(self) -> dict[str, Any]:
        """This run alone: its curve, its errors at the end from both kinds of start, its time, its prior's work."""
        if "summary" in self.result:
            return self.result["summary"] | {"cell": self.cell.name}
        seen = self.result["evaluations"]
        return {
            "cell": self.cell.name,
            "settings": self.cell.settings,
            **{key: self.result[key] for key in MADE_WITH if self.result.get(key)},
            **{key: self.result["made_by"][key] for key in ("commit", "processor") if "made_by" in self.result},
            "samples_to_80": self.result["samples_to_80"],
            "grid": self.result["grid"],
            "seconds": self.result["seconds"],
            "time_shares": self.result.get("time_shares", {}),
            "final": {start: _rounded(found) for start, found in self.result["final"].items()},
            "samples": [each["samples"] for each in seen],
            **{key: [_round(each.get(key)) for each in seen] for key in ERRORS},
            **self._modulation([each["samples"] for each in seen]),
        }

    def _modulation(self, samples: list[int]) -> dict[str, list[float]]:
        """Mean factor, region shares and, of a prior that fades, what is left of it, between evaluations."""
        from pfmhr.learning.logging import read_metrics  # with it comes torch, which what starts cells does without

        lines = [line for line in read_metrics(self.folder) if "modulator_multiplier" in line]
        spans = [[line for line in lines if low < line["step"] <= high] for low, high in pairwise(samples)]
        return {
            name.removeprefix("modulator_"): [_round(sum(line[name] for line in span) / len(span)) for span in spans]
            for name in MODULATION
            if spans and all(span and name in span[0] for span in spans)
        }


def finished(matrix: Matrix, folder: Path) -> list[Done]:
    """The cells of a matrix that have a result, in its order."""
    done = [(cell, folder / cell.name) for cell in matrix.cells if is_finished(cell, folder / cell.name)]
    return [Done(cell, read_json(run / RESULT, "bad_run"), run) for cell, run in done]


def result_of_summary(summary: dict[str, Any], where: Path) -> dict[str, Any]:
    """The result of a run of which only :attr:`Done.summary` was kept, in a report at ``where``."""
    try:
        each = zip(summary["samples"], *(summary[key] for key in ERRORS), strict=True)
        return {
            "samples": summary["samples"][-1],
            "evaluations": [dict(zip(("samples", *ERRORS), values, strict=True)) for values in each],
            **{key: summary[key] for key in ("samples_to_80", "grid", "seconds", "final")},
            **{key: summary[key] for key in MADE_WITH if key in summary},
            "summary": summary,
        }
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(f"incomplete run in a report: {error!r}", where=where, code="bad_experiment") from error


def failures(matrix: Matrix, folder: Path) -> dict[str, str]:
    """Cells that failed for good when they were last tried, and why."""
    tried = {
        cell.name: folder / cell.name / FAILED for cell in matrix.cells if not is_finished(cell, folder / cell.name)
    }
    return {name: _said(path) for name, path in tried.items() if path.exists()}


def _said(path: Path) -> str:
    content = read_json(path, "bad_run")
    return str(content.get("said", "")) if isinstance(content, dict) else ""


def _rounded(found: dict[str, Any]) -> dict[str, Any]:
    """Errors of one evaluation, and of the same at other horizons."""
    others = [{"horizon": each["horizon"], **_rounded(each)} for each in found.get("horizons", ())]
    by_clip = [_round(share) for share in found.get("success_by_clip", ())]
    return {
        **{key: _round(found.get(key)) for key in ERRORS},
        **({"success_by_clip": by_clip} if len(by_clip) > 1 else {}),
        **({"horizon": found["horizon"], "horizons": others} if others else {}),
    }


def _round(value: float | None) -> Any:
    return None if value is None else round(value, 4)
