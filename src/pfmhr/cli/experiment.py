"""``pfmhr experiment run | report``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, remark, say, training_bar, write_result
from pfmhr.cli.options import at_least_one, refuse_replacing
from pfmhr.errors import InputError

if TYPE_CHECKING:
    from pfmhr.results.summary import Row, Summary

File = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
Out = Annotated[Path | None, tyro.conf.arg(aliases=["-o"])]


def run(
    file: File,
    /,
    out: Out = None,
    engine: Literal["local", "ray"] = "local",
    workers: int = 2,
    attempts: int = 2,
    reuse: tuple[Path, ...] = (),
    data: Path | None = None,
    json: bool = False,
) -> int:
    """Run a declared matrix of tracking runs. The same command goes on after any interruption.

    Finished cells are never repeated, killed ones go on, failed ones are tried again and then reported; exits
    with 1 when some have failed. With Ray, cells run on the cluster of RAY_ADDRESS, or on one found on this
    machine, or on one made for them; all its machines must see the folder of the runs and the files of the matrix.

    Examples:
        pfmhr experiment run experiments/absolute_walk.toml --data ~/clips
        pfmhr experiment run experiments/single_motion.toml --engine ray
        pfmhr experiment run experiments/rivals.toml --reuse runs/experiments/absolute_walk
        pfmhr experiment run experiments/rivals.toml --reuse results/experiment_rivals.json

    Args:
        file: the matrix, a toml file.
        out: folder of the runs; default: runs/experiments/NAME.
        engine: processes on this machine, or tasks of a Ray cluster.
        workers: runs at once on this machine, each on one thread; a cluster that is there runs as many as it has cores.
        attempts: how often a cell that fails is tried.
        reuse: folders or stored reports of experiments, made here or elsewhere; what has finished there with the
            same settings is taken from there and not repeated; default: none.
        data: folder below which the clips of the matrix are; default: where the command is run.
        json: print one JSON object.
    """
    from pfmhr.experiments import Matrix, run_matrix

    at_least_one(workers=workers, attempts=attempts)
    matrix = Matrix.read(file)
    folder = out or Path("runs/experiments") / matrix.name
    with training_bar(matrix.name, remaining=False) as progress:
        outcomes = run_matrix(matrix, folder, workers, engine, attempts, progress, reuse=reuse, data=data)
    failed = {outcome.cell.name: outcome.said for outcome in outcomes if not outcome.finished}
    for name, said in failed.items():
        remark(f"{name}: {said}")
    finished = len(outcomes) - len(failed)
    if json:
        print_json({"folder": str(folder), "cells": len(matrix.cells), "finished": finished, "failed": failed})
    else:
        say(f"{folder}: {finished} of {len(matrix.cells)} cells finished, {len(failed)} failed")
    return 1 if failed else 0


def report(
    file: File, /, out: Out = None, output: Path | None = None, against: str | None = None, json: bool = False
) -> int:
    """Tables of a matrix from whatever is done: samples to 80 %, errors, differences with intervals, a verdict.

    Examples:
        pfmhr experiment report experiments/single_motion.toml --output results/experiment_single_motion.json
        pfmhr experiment report experiments/nine_skills.toml --against random

    Args:
        file: the matrix, a toml file.
        out: folder of the runs; default: runs/experiments/NAME.
        output: also write everything here as JSON, with two figures beside it (dots of seeds, learning
            curves); default: nowhere.
        against: method that all others are compared with; default: the matrix's own.
        json: print one JSON object.
    """
    from pfmhr.experiments import Matrix
    from pfmhr.experiments.report import summarise
    from pfmhr.provenance import provenance
    from pfmhr.results.evidence import EVIDENCE, EXPLAINED, evidence_lines
    from pfmhr.results.records import to_json
    from pfmhr.results.wording import INTERVALS, verdicts_in_words

    if out is not None and out.suffix == ".json":
        fix = "Name the file to write with --output."
        raise InputError("-o is the folder of the runs", where=out, fix=fix, code="usage")
    drawings = {} if output is None else _drawings(output, file)
    matrix = Matrix.read(file)
    matrix = matrix if against is None else matrix.against(against, file)
    folder = out or Path("runs/experiments") / matrix.name
    if output is not None:
        refuse_replacing(
            [output, *drawings], [each for cell in matrix.cells for each in (folder / cell.name).glob("*")]
        )
    summary = summarise(matrix, folder)
    content = to_json(summary)
    write_result(output, content | provenance())
    for path, draw in drawings.items():
        draw(summary, path)
    if json:
        print_json(content)
        return 0
    print_table(matrix.name, _columns(matrix.plain), [_cells(row) for row in summary.rows])
    print_table("evidence", EVIDENCE, evidence_lines(summary.rows))
    say(EXPLAINED)
    for verdict in verdicts_in_words(summary):
        say(verdict)
    for name, why in summary.failed.items():
        say(f"{name} failed: {why}")
    say(f"{summary.cells.finished} of {summary.cells.all} cells finished. {INTERVALS}")
    return 0


def _drawings(output: Path, file: Path) -> dict[Path, Callable[[Summary, Path], None]]:
    """What is drawn beside a report, and by which name."""
    from pfmhr.results.figures import draw_curves, draw_dots

    refuse_replacing([output], [file])
    if output.suffix != ".json":
        expected = "a name that ends with .json; its figures get the same name"
        raise InputError("--output is the file of the report", where=output, expected=expected, code="usage")
    return {output.with_suffix(".png"): draw_dots, output.with_name(f"{output.stem}-curves.png"): draw_curves}


def _columns(plain: str) -> list[str]:
    names = ["skill", "actions", "method", "seeds", "samples to 80 % (M)", f"less than {plain} (M)"]
    return [*names, "success % at ¼, ½, ¾, all", "E_pos mm", "E_rot rad", "minutes"]


def _cells(row: Row) -> list[str]:
    from pfmhr.results.wording import figure, reached, saved

    success = " ".join(f"{100 * (each.success or 0.0):.0f}" for each in row.success_at)
    names = [row.skill, row.actions, row.method, str(row.seeds)]
    errors = [figure(row, "position_error", 1, 1000.0), figure(row, "rotation_error", 3)]
    return [*names, reached(row), saved(row), success, *errors, figure(row, "minutes", 1)]
