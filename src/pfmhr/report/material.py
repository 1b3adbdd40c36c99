"""What a report is made of: runs, priors and stored results, told apart by what is in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.tracking.runs import RESULT
from pfmhr.training.runs import RUN


@dataclass
class Material:
    """Everything that was found."""

    trackers: list[Path] = field(default_factory=list)
    """Directories of tracking runs with a result."""
    priors: list[Path] = field(default_factory=list)
    stored: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """JSON results by the command that made them: "study timestep", "bench score", "track compare" …"""

    def of(self, command: str) -> list[dict[str, Any]]:
        """Stored results of one command, in the order they were given."""
        return self.stored.get(command, [])


def gather(paths: Sequence[Path]) -> Material:
    """Sort paths by what they are; directories of results or runs are looked into, one level deep."""
    material = Material()
    for path in paths:
        if not path.exists():
            raise InputError("no such run or result", where=path, code="not_found")
        if not _take(material, path):
            inside = sorted(path.iterdir()) if path.is_dir() else []
            taken = [_take(material, each) for each in inside]
            if not any(taken):
                raise InputError(
                    "nothing here that a report could show",
                    where=path,
                    expected="a finished tracking run, a prior, JSON of a study, bench, comparison or experiment, "
                    "or a folder of these",
                    code="bad_input",
                )
    return material


def _take(material: Material, path: Path) -> bool:
    """Put one path where it belongs; whether there is a place for it."""
    if path.is_dir():
        if (path / RUN).exists() and (path / RESULT).exists():
            material.trackers.append(path)
        elif (path / "model.safetensors").exists():
            material.priors.append(path)
        else:
            return False
        return True
    if path.suffix != ".json":
        return False
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"unreadable JSON: {error}", where=path, code="bad_result") from error
    words = str(content.get("command", "")).split() if isinstance(content, dict) else []
    if len(words) < 3 or not words[0].startswith("pfmhr"):
        return False
    material.stored.setdefault(" ".join(words[1:3]), []).append(content)
    return True
