"""The summary of an experiment: a row per skill, action space and method, verdicts, and every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pfmhr.foreign import read_json
from pfmhr.results.common import CommonErrors
from pfmhr.results.efforts import Difference
from pfmhr.results.outcome import Outcome
from pfmhr.results.records import Stored, from_json
from pfmhr.results.run_result import RunResult, StoredRun
from pfmhr.results.statistics import PairedDifference, Spread, paired_difference


@dataclass(frozen=True, kw_only=True)
class Row(Outcome):
    """One method's runs on one skill in one action space."""

    skill: str
    actions: str
    method: str
    difference: Difference | None = None
    """Million samples less or more than the plain method; None for the plain method and without pairs that tell."""
    area_difference: PairedDifference | None = None
    """Area under the success curve, ours − the plain method's, over pairs of the same seed."""
    common: CommonErrors | None = None
    """Errors over what both this method and the plain one tracked, means over pairs of a seed."""

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of its runs."""
        return tuple(f"{self.skill}-{self.method}-{self.actions}-{seed}" for seed in self.seed_numbers)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a method's runs say over all skills."""

    actions: str = ""
    method: str = ""
    skills: int = 0
    runs: int = 0
    runs_of_plain: int = 0
    skills_left_out: int = 0
    ratio: float | None = None
    """Typical ratio of samples needed, ours / plain."""
    ratio_low: float | None = None
    ratio_high: float | None = None
    ratio_skills: int | None = None
    ratio_pairs: int | None = None
    ratio_bounds: int = 0
    """Pairs whose ratio is only known from one side."""
    probability: float | None = None
    """Chance that a run of ours needs fewer samples than a plain one."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cells:
    """How many cells of the matrix are done."""

    finished: int
    all: int


@dataclass(frozen=True, kw_only=True)
class Summary(Stored):
    """Everything an experiment found so far."""

    name: str
    plain: str
    """The method that all others are compared with."""
    cells: Cells
    rows: tuple[Row, ...]
    verdicts: tuple[Verdict, ...]
    failed: dict[str, str] = field(default_factory=dict)
    """Reasons of failed cells, by name."""
    core_hours: float = 0.0
    runs: tuple[StoredRun, ...] = ()

    @staticmethod
    def read(path: Path) -> Summary:
        """A stored report."""
        return Summary.from_content(read_json(path, "bad_result"), path)

    @staticmethod
    def from_content(content: object, path: Path) -> Summary:
        """What a report at ``path`` holds; rows of earlier versions get the figures they lack from its runs."""
        summary = from_json(Summary, content, path)
        return replace(summary, rows=with_areas(summary.rows, summary.plain, _results(summary.runs, path)))

    @property
    def panels(self) -> list[tuple[str, str]]:
        """Skills and action spaces in their order."""
        return list(dict.fromkeys((row.skill, row.actions) for row in self.rows))


def rows_of(rows: Sequence[Row], skill: str, actions: str) -> list[Row]:
    """The rows of one skill in one action space."""
    return [row for row in rows if (row.skill, row.actions) == (skill, actions)]


def _results(runs: Sequence[StoredRun], where: Path) -> dict[str, RunResult]:
    """Results by cell, of the runs that were kept whole."""
    return {run.cell: run.result(where) for run in runs if run.samples}


def with_areas(rows: Sequence[Row], plain: str, results: Mapping[str, RunResult]) -> tuple[Row, ...]:
    """Rows with the areas of their runs and, beside the plain method, paired differences of these.

    Both methods' areas are taken up to the smaller of their budgets.
    """
    plains = {(row.skill, row.actions): row for row in rows if row.method == plain}
    return tuple(_with_area(row, plains.get((row.skill, row.actions)), results) for row in rows)


def _with_area(row: Row, plain: Row | None, results: Mapping[str, RunResult]) -> Row:
    mine, spread = _areas(row, results, row.budget), None
    if len(mine) == row.seeds and (spread := Spread.of(list(mine.values()))) is not None:
        row = replace(row, area=spread.mean, deviations={**row.deviations, "area": spread.deviation})
    if plain is None or plain.method == row.method or spread is None:
        return row
    budget = min(row.budget or 0.0, plain.budget or 0.0)
    ours, theirs = _areas(row, results, budget), _areas(plain, results, budget)
    seeds = sorted(set(ours) & set(theirs))
    if not seeds:
        return row
    gap = paired_difference([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds])
    return replace(row, area_difference=gap)


def _areas(row: Row, results: Mapping[str, RunResult], budget: float | None) -> dict[int, float]:
    """Areas by seed up to a budget in million samples, of the runs that are known."""
    runs = {seed: results.get(cell) for seed, cell in zip(row.seed_numbers, row.cells, strict=True)}
    return {seed: run.area(1e6 * budget) for seed, run in runs.items() if run is not None and budget}
