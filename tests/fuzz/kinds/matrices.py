"""Declared experiments: toml."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from random import Random
from typing import Any

from pfmhr.experiments import Matrix
from pfmhr.experiments.matrix import Cell
from pfmhr.tracking.spec import RunSpec
from tests.fuzz.documents import TOML_TEXT, TOML_TREE, to_toml
from tests.fuzz.drafts import Stage, at, develop
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.typed import ill_typed

FILE = "matrix.toml"
MATRIX: dict[str, Any] = {
    "name": "gaits",
    "seeds": [0, 1],
    "actions": ["residual", "absolute"],
    "plain": "add",
    "environments": 64,
    "evaluate_every": 10,
    "set": ["agent.discount=0.95"],
    "methods": {
        "add": {},
        "pfm": {"prior": "g1-small", "modulator": "pfm", "t_eval": 0.75, "alpha": 0.5, "skills": ["walk"]},
    },
    "skills": {
        "walk": {"motion": "embedded:walk", "samples": 100_000, "horizon": [2.0, 5], "seeds": [0, 1, 2]},
        "run": {"motion": ["a.npz", "b.npz"], "samples": 5, "trim": [0.0, 2.5], "fps": 30},
    },
}


def make_kind(name: str, scratch: Path) -> Kind:
    return Kind(_make, _read, (FILE,))


def _make(random: Random) -> tuple[Files, tuple[str, ...]]:
    stages = (
        Stage(7, TOML_TREE, lambda tree: {FILE: to_toml(tree)}),
        Stage(1.5, at(FILE, TOML_TEXT)),
        Stage(0.5, at(FILE, BYTES)),
        Stage(0.2, PLACES),
    )
    return develop(random, copy.deepcopy(MATRIX), stages)


def _read(folder: Path) -> str | None:
    matrix = Matrix.read(folder / FILE)
    if not matrix.cells or len({cell.name for cell in matrix.cells}) < len(matrix.cells):
        return f"{len(matrix.cells)} cells, some of one name"
    wrong = ill_typed(matrix, Matrix, "matrix")
    return wrong or next(filter(None, map(_cell_complaint, matrix.cells[:50])), None)


def _cell_complaint(cell: Cell) -> str | None:
    if cell.name != Path(cell.name).name or not cell.name.isprintable():
        return f"a folder {cell.name!r:.80}"
    for option, value in cell.options:
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, float) and not math.isfinite(part):
                return f"{option} {part}"
    return ill_typed(cell.budget, int, "budget") or ill_typed(cell.spec(), RunSpec, "spec")
