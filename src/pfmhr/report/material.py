"""What a report is made of: runs, priors and stored results, told apart by what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.foreign import read_file, read_json
from pfmhr.layout import CONFIG
from pfmhr.learning.logging import read_metrics
from pfmhr.learning.runs import RUN
from pfmhr.prior.artefact import FORMAT
from pfmhr.studies import plausibility
from pfmhr.tracking.runs import RESULT

SHOWN = {
    "study timestep": ("rows", "best_t_eval", "transitions"),
    "study noise": ("rows", "transitions"),
    "study perturbation": ("rows", "transitions"),
    "study plausibility": ("rows",),
    "bench score": ("preset", "batch", "ratio"),
    "track compare": ("rows", "curves"),
    "experiment report": ("name", "plain", "cells", "rows", "verdicts"),
}
"""Commands whose JSON a report shows, and what it needs of it."""
_ENDS = ("success", "position_error", "rotation_error", "minutes")
IN_ROWS = {
    "study timestep": ("t_eval", "angular", "permutation", "sign_flip", "average"),
    "study noise": ("samples", "rank_correlation", "percentile_mae", "region_agreement", "reward_mae", "milliseconds"),
    "study perturbation": (
        *("perturbation", "severity", "normalised_score"),
        *("percentile_change", "multiplier_change", "region_agreement"),
    ),
    "study plausibility": ("group", "corruption", *plausibility.METHODS),
    "track compare": (
        *("name", "motions", "reward", "modulator", "seeds", "converged", "samples_to_80", "success_strict"),
        *_ENDS,
    ),
    "experiment report": (
        *("skill", "actions", "method", "seeds", "converged", "samples_to_80", "mean", "deviation", "budget"),
        *_ENDS,
    ),
}
"""What it needs of every row."""


@dataclass
class Material:
    """Everything that was found."""

    trackers: list[Path] = field(default_factory=list)
    """Directories of tracking runs with a result."""
    priors: list[Path] = field(default_factory=list)
    stored: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """JSON results by the command that made them, one of those above."""
    left_out: dict[Path, str] = field(default_factory=dict)
    """What was found and is not shown, with the reason."""

    def of(self, command: str) -> list[dict[str, Any]]:
        """Stored results of one command, in the order they were given."""
        return self.stored.get(command, [])

    @property
    def anything(self) -> bool:
        """Whether there is something to show."""
        return bool(self.trackers or self.priors or self.stored)


def gather(paths: Sequence[Path]) -> Material:
    """Sort paths by what they are, each once; folders of results or runs are looked into, one level deep."""
    material = Material()
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InputError("no such run or result", where=path, code="not_found")
        if not _take(material, path, seen):
            inside = sorted(path.iterdir()) if path.is_dir() else []
            taken = [_take(material, each, seen) for each in inside]
            if not any(taken):
                material.left_out[path] = "nothing here that a report could show"
    _leave_out_copies(material)
    if not material.anything:
        found = "; ".join(f"{path}: {why}" for path, why in material.left_out.items())
        raise InputError(
            "nothing to report",
            expected="finished tracking runs, priors, JSON of a study, score bench, comparison or experiment, or "
            "folders of these",
            got=found or "no paths",
            code="bad_input",
        )
    return material


def _leave_out_copies(material: Material) -> None:
    """One run may lie in the folders of several experiments, which share it."""
    first: dict[bytes, Path] = {}
    for path in material.trackers:
        original = first.setdefault(read_file(path / RESULT), path)
        if original != path:
            material.left_out[path] = f"a copy of {original}"
    material.trackers = list(first.values())


def _take(material: Material, path: Path, seen: set[Path]) -> bool:
    """Put one path where it belongs, or among what is left out; whether we know what it is."""
    if path.resolve() in seen:
        return True
    if not (_take_directory if path.is_dir() else _take_file)(material, path):
        return False
    seen.add(path.resolve())
    return True


def _take_directory(material: Material, path: Path) -> bool:
    if (path / RUN).exists() and (path / RESULT).exists():
        material.trackers.append(path)
    elif (path / CONFIG).exists() and (about := _content(path / CONFIG)).get("format"):
        if about["format"] == FORMAT:
            material.priors.append(path)
        else:
            material.left_out[path] = f"a report has no place for {about['format']}"
    elif (path / RUN).exists():
        lines = read_metrics(path)
        material.left_out[path] = f"not finished: {lines[-1]['step'] if lines else 0:,} samples or steps so far"
    else:
        return False
    return True


def _take_file(material: Material, path: Path) -> bool:
    if path.suffix != ".json":
        return False
    content = _content(path)
    words = str(content.get("command", "")).split()
    command = " ".join(words[1:3])
    if len(words) < 3 or not words[0].startswith("pfmhr"):
        material.left_out[path] = "no result that names its command"
    elif command not in SHOWN:
        material.left_out[path] = f"a report has no place for {command}"
    elif lacks := _lacks(content, command):
        raise InputError(f"not what `pfmhr {command}` writes", where=path, got=lacks, code="bad_result")
    else:
        material.stored.setdefault(command, []).append(content)
    return True


def _lacks(content: dict[str, Any], command: str) -> str:
    """What a result lacks of what a report needs; nothing if it is whole."""
    if missing := [name for name in SHOWN[command] if name not in content]:
        return f"no {', '.join(missing)}"
    rows = content.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "rows that are no list of objects"
    for number, row in enumerate(rows, start=1):
        if missing := [name for name in IN_ROWS.get(command, ()) if name not in row]:
            return f"no {', '.join(missing)} in row {number} of {len(rows)}"
    return ""


def _content(path: Path) -> dict[str, Any]:
    """A JSON object; empty if it is JSON of another kind."""
    content = read_json(path, "bad_result")
    return content if isinstance(content, dict) else {}
