"""The columns of every study's table, and the table itself: ours beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pfmhr.results import paper
from pfmhr.results.records import Stored

Entry = str | int | float | bool | None
Line = Mapping[str, Entry]
"""One row of a table by column."""


@dataclass(frozen=True)
class Columns:
    """Columns of a study's rows."""

    keys: tuple[str, ...]
    """What a row is about."""
    figures: tuple[str, ...]
    paper: Mapping[Any, Sequence[float]] | None = None
    """The paper's figures by key (a tuple of several), in the order of ours; None where it has no such table."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that a row needs."""
        return (*self.keys, *self.figures)


PLAUSIBILITY = ("PDF-HR", "FM-Recon", "PGS")
"""Scores that the study of plausibility compares."""
STUDIES = {
    "timestep": Columns(("t_eval",), ("angular", "permutation", "sign_flip", "average"), paper.TIMESTEP),
    "noise": Columns(
        ("samples",),
        ("rank_correlation", "percentile_mae", "region_agreement", "reward_mae", "milliseconds"),
        paper.NOISE,
    ),
    "perturbation": Columns(
        ("perturbation", "severity"),
        ("normalised_score", "percentile_change", "multiplier_change", "region_agreement"),
        paper.PERTURBATION,
    ),
    "plausibility": Columns(("group", "corruption"), PLAUSIBILITY),
}
"""By the name of the study."""


@dataclass(frozen=True, kw_only=True)
class StudyResult(Stored):
    """A stored study: its rows, and what it was made from."""

    rows: tuple[dict[str, Entry], ...]
    transitions: int = 0
    best_t_eval: float | None = None
    clips: str = "all"

    def column(self, name: str) -> list[float]:
        """Figures of all rows."""
        return [number(row, name) for row in self.rows]


@dataclass(frozen=True, kw_only=True)
class BenchResult(Stored):
    """A stored bench of the score."""

    preset: str
    batch: int
    ratio: dict[str, float]
    """Time by way of computing it, in multiples of the bare matrix products."""


def number(row: Line, name: str) -> float:
    """A figure of a row."""
    value = row[name]
    if isinstance(value, str) or value is None:
        raise TypeError(f"{name} is {value!r}, no number")
    return float(value)


def beside(rows: Sequence[Line], columns: Columns) -> list[dict[str, Entry]]:
    """Each row with its keys, then every figure followed by the paper's (None where it has none)."""
    if columns.paper is None:
        return [dict(row) for row in rows]
    table = []
    for row in rows:
        key = tuple(row[name] for name in columns.keys)
        theirs = columns.paper.get(key[0] if len(key) == 1 else key, (None,) * len(columns.figures))
        line = {name: row[name] for name in columns.keys}
        for name, value in zip(columns.figures, theirs, strict=True):
            line |= {name: row[name], f"{name} (paper)": value}
        table.append(line)
    return table


def as_cells(table: Sequence[Line], digits: int = 3) -> list[list[str]]:
    """The table as text."""
    return [[_text(value, digits) for value in line.values()] for line in table]


def _text(value: Entry, digits: int) -> str:
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def heads(table: Sequence[Line]) -> list[str]:
    """Names of the columns, in words."""
    return [name.replace("_", " ") for name in table[0]]
