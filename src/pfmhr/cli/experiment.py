"""``pfmhr experiment run | report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, remark, say, training_bar

File = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
Out = Annotated[Path | None, tyro.conf.arg(aliases=["-o"])]


def run(
    file: File,
    /,
    out: Out = None,
    engine: Literal["local", "ray"] = "local",
    workers: int = 2,
    attempts: int = 2,
) -> int:
    """Run a declared matrix of tracking runs. The same command goes on after any interruption.

    Finished cells are never repeated, killed ones go on, failed ones are tried again and then reported.

    Examples:
        pfmhr experiment run experiments/single_motion.toml
        pfmhr experiment run experiments/single_motion.toml --engine ray

    Args:
        file: the matrix, a toml file.
        out: folder of the runs; runs/experiments/NAME unless said.
        engine: processes on this machine, or tasks of a Ray cluster.
        workers: runs at once on this machine, each on one thread.
        attempts: how often a cell that fails is tried.
    """
    from pfmhr.experiments import Matrix, run_matrix

    matrix = Matrix.read(file)
    folder = out or Path("runs/experiments") / matrix.name
    with training_bar(matrix.name) as progress:
        outcomes = run_matrix(matrix, folder, workers, engine, attempts, progress)
    failed = [outcome for outcome in outcomes if not outcome.finished]
    for outcome in failed:
        remark(f"{outcome.cell.name}: {outcome.said}")
    say(f"{folder}: {len(outcomes) - len(failed)} of {len(matrix.cells)} cells finished, {len(failed)} failed")
    return 1 if failed else 0


def report(file: File, /, out: Out = None, output: Path | None = None, json: bool = False) -> int:
    """Tables of a matrix from whatever is done: samples to 80 %, errors, differences with intervals, a verdict.

    Examples:
        pfmhr experiment report experiments/single_motion.toml --output results/single_motion.json

    Args:
        file: the matrix, a toml file.
        out: folder of the runs; runs/experiments/NAME unless said.
        output: also write everything here as JSON, with a figure of the same name beside it.
        json: print one JSON object.
    """
    from pfmhr.bench.machine import provenance
    from pfmhr.experiments import Matrix
    from pfmhr.experiments.report import draw_dots, summarise
    from pfmhr.files import disk_errors, write_json

    matrix = Matrix.read(file)
    summary = summarise(matrix, out or Path("runs/experiments") / matrix.name)
    if output is not None:
        with disk_errors(output.parent):
            write_json(output, {**summary, **provenance()})
            draw_dots(summary, output.with_suffix(".png"))
    if json:
        print_json(summary)
        return 0
    columns = [
        "skill",
        "actions",
        "method",
        "seeds",
        "samples to 80 % (M)",
        "less than plain (M)",
        "success %",
        "E_pos mm",
    ]
    print_table(matrix.name, columns, [_cells(row) for row in summary["rows"]])
    for verdict in summary["verdicts"]:
        say(
            f"{verdict['method']}, {verdict['actions']}, {verdict['skills']} skills: needs fewer samples than "
            f"{summary['plain']} with probability {verdict['probability']:.2f} "
            f"[{verdict['low']:.2f}, {verdict['high']:.2f}]"
        )
    cells = summary["cells"]
    say(f"{cells['finished']} of {cells['all']} cells finished")
    return 0


def _cells(row: dict[str, Any]) -> list[str]:
    reached = "Failed" if row["mean"] is None else f"{row['mean']:.2f} ± {row['deviation']:.2f}"
    if 0 < row["converged"] < row["seeds"]:
        reached += f" ({row['converged']} of {row['seeds']})"
    gap = row.get("difference")
    less = "" if gap is None else f"{-gap['mean']:+.2f} [{-gap['high']:+.2f}, {-gap['low']:+.2f}]"
    success = f"{100 * row['success']:.1f}"
    error = "–" if row["position_error"] is None else f"{1000 * row['position_error']:.1f}"
    return [row["skill"], row["actions"], row["method"], str(row["seeds"]), reached, less, success, error]
