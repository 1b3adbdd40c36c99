"""The summary of a matrix, from whatever cells are done."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.experiments.cells import Done, failures, finished
from pfmhr.experiments.matrix import Matrix
from pfmhr.experiments.processes import require_same
from pfmhr.layout import EPISODES
from pfmhr.results.aggregation import make_rows, make_verdict
from pfmhr.results.common import CommonErrors, Episodes, common_errors
from pfmhr.results.summary import Cells, Summary


def summarise(matrix: Matrix, folder: Path) -> Summary:
    """One row per skill, action space and method, per action space a verdict over all skills, and every run alone."""
    require_same(matrix.cells, folder)
    done = finished(matrix, folder)
    if not done:
        raise InputError("no cell of this experiment is finished", where=folder, code="not_found")
    _require_same_files(matrix, done)
    groups = _grouped(matrix, done)
    runs = {place: {seed: run.result for seed, run in found.items()} for place, found in groups.items()}
    plain, others = matrix.plain, [method for method in matrix.methods if method != matrix.plain]
    common = {place: _common(found, groups.get((*place[:2], plain), {})) for place, found in groups.items()}
    verdicts = [
        make_verdict(runs, matrix.skills, space, method, plain) for space, method in product(matrix.actions, others)
    ]
    return Summary(
        name=matrix.name,
        plain=plain,
        cells=Cells(finished=len(done), all=len(matrix.cells)),
        failed=failures(matrix, folder),
        core_hours=round(sum(run.result.seconds for run in done) / 3600.0, 2),
        rows=make_rows(runs, plain, common),
        verdicts=tuple(verdict for verdict in verdicts if verdict is not None),
        runs=tuple(run.kept for run in done),
    )


def _require_same_files(matrix: Matrix, done: Sequence[Done]) -> None:
    """Refuse runs of one prior's name, or of one skill, that were made with different files."""
    for prior in {run.cell.settings.get("prior") for run in done} - {None}:
        runs = [run for run in done if run.cell.settings.get("prior") == prior]
        _require_one("prior", {run.cell.name: run.result.prior_sha256 for run in runs})
    for skill in matrix.skills:
        _require_one("clips", {run.cell.name: run.result.clips_sha256 for run in done if run.cell.skill == skill})


def _require_one(what: str, hashes: dict[str, str | None]) -> None:
    """Refuse different hashes; older runs have none."""
    known = {name: digest for name, digest in hashes.items() if digest}
    if len(set(known.values())) > 1:
        got = ", ".join(f"{name} ({digest[:8]})" for name, digest in known.items())
        raise InputError(f"these runs were not trained with the same {what}", got=got, code="bad_experiment")


def _grouped(matrix: Matrix, done: Sequence[Done]) -> dict[tuple[str, str, str], dict[int, Done]]:
    """Finished runs by skill, action space and method, in the order of the matrix, then by seed."""
    groups: dict[tuple[str, str, str], dict[int, Done]] = {
        place: {} for place in product(matrix.skills, matrix.actions, matrix.methods)
    }
    for run in done:
        groups[run.cell.skill, run.cell.actions, run.cell.method][run.cell.seed] = run
    return groups


def _common(ours: dict[int, Done], plain: dict[int, Done]) -> list[CommonErrors]:
    """Errors over what both runs of a seed tracked, of pairs that kept their episodes."""
    pairs = []
    for seed in sorted(set(ours) & set(plain)):
        first, second = (Episodes.read(run.folder / EPISODES) for run in (ours[seed], plain[seed]))
        if first is not None and second is not None and ours[seed] is not plain[seed]:
            pairs.append(common_errors(first, second))
    return [pair for pair in pairs if pair is not None]
