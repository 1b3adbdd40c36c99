"""Finished runs from elsewhere: a baseline of several matrices is trained once, a matrix goes on on another machine."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell
from pfmhr.experiments.processes import CELL, METRICS, RESULT, is_finished, is_long_enough, is_summary
from pfmhr.files import make_folder, write_json
from pfmhr.foreign import read_json
from pfmhr.results.records import from_json, to_json
from pfmhr.results.run_result import StoredRun


@dataclass(frozen=True)
class _Found:
    """A run from elsewhere."""

    settings: Any
    """What it was begun with."""
    finished: Callable[[Cell], bool]
    put: Callable[[Path], object]
    """Makes what is there of it in a new folder."""


def reuse_runs(cells: Sequence[Cell], folder: Path, others: Sequence[Path]) -> list[Cell]:
    """Take runs of the same settings, finished elsewhere, for cells that were not begun; returns those cells.

    Args:
        others: folders of experiments, whose runs are copied whole; or stored reports of experiments, of whose runs
            there is what a report needs and no policy.
    """
    known = [run for other in others for run in _runs(other)]
    taken = []
    for cell in cells:
        run = folder / cell.name
        if (run / METRICS).exists() or ((run / RESULT).exists() and (is_finished(cell, run) or not is_summary(run))):
            continue
        settings = json.loads(json.dumps(cell.settings))
        for run in known:
            if run.settings == settings and run.finished(cell):
                _place(run, folder / cell.name)
                taken.append(cell)
                break
    return taken


def _runs(other: Path) -> list[_Found]:
    """Runs of an experiment's folder, or of its stored report."""
    if other.is_file():
        return _stored(other)
    if not other.is_dir():
        expected = "runs/experiments/NAME or results/experiment_NAME.json"
        raise InputError("no runs to reuse", where=other, expected=expected, code="not_found")
    return [
        _Found(read_json(path, "bad_run"), partial(is_finished, run=path.parent), partial(shutil.copytree, path.parent))
        for path in sorted(other.glob(f"[!.]*/{CELL}"))  # a hidden one is half a copy
    ]


def _stored(report: Path) -> list[_Found]:
    content = read_json(report, "bad_experiment")
    if not (isinstance(content, dict) and isinstance(content.get("runs"), list)):
        raise InputError("not a report of an experiment", where=report, expected="runs", code="bad_experiment")
    found = []
    told = [summary for summary in content["runs"] if isinstance(summary, dict) and "settings" in summary]
    if content["runs"] and not told:  # from before settings were kept: nobody can say what these runs were
        raise InputError("a report whose runs do not tell their settings", where=report, code="bad_experiment")
    for summary in told:
        run = from_json(StoredRun, summary, report, "bad_experiment")
        result = to_json(run.result(report))
        finished = partial(is_long_enough, result=result, path=report)
        found.append(_Found(run.settings, finished, partial(_write, run.settings, result)))
    return found


def _write(settings: Any, result: dict[str, object], to: Path) -> None:
    make_folder(to)
    write_json(to / CELL, settings)
    write_json(to / RESULT, result)


def _place(run: _Found, to: Path) -> None:
    """Whole or not at all: a name that says it is not a cell's until everything is there."""
    unfinished = to.with_name(f".{to.name}.copy")
    shutil.rmtree(unfinished, ignore_errors=True)
    run.put(unfinished)
    shutil.rmtree(to, ignore_errors=True)  # of an attempt that failed before it learned anything, or a shorter summary
    os.replace(unfinished, to)
