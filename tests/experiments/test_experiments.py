"""A matrix of runs: declared, run, resumed, failed and summed up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.experiments import Matrix, run_matrix
from pfmhr.experiments.report import summarise
from pfmhr.experiments.statistics import (
    interquartile_mean,
    paired_difference,
    probability_of_improvement,
    success_at,
)

SMALL = """
data = "clips"
seeds = [0, 1]
actions = ["residual"]
environments = 4
[methods]
add = {}
pfm = { prior = "g1-small", pooled = true }
[skills]
walk = { motion = "embedded:walk", samples = 96 }
jump = { motion = ["a.pkl", "b.pkl"], samples = 200, trim = [0.0, 1.5] }
"""


def declared(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.toml"
    path.write_text(text)
    return path


def test_a_matrix_has_a_cell_for_every_combination(tmp_path: Path) -> None:
    matrix = Matrix.read(declared(tmp_path))
    assert matrix.name == "small" and len(matrix.cells) == 8
    assert [cell.name for cell in matrix.cells[:2]] == ["walk-add-residual-0", "walk-pfm-residual-0"]
    assert {cell.seed for cell in matrix.cells[:4]} == {0}  # a round of all before the next seed


def test_a_cell_is_a_command_line(tmp_path: Path) -> None:
    cells = {cell.name: cell for cell in Matrix.read(declared(tmp_path)).cells}
    words = cells["jump-pfm-residual-1"].arguments(Path("out"), threads=1)
    assert words[:7] == ["track", "train", "clips/a.pkl", "clips/b.pkl", "-o", "out", "--threads"]
    text = " ".join(words)
    assert "--prior g1-small --pooled" in text and "--trim 0.0 1.5" in text and "--seed 1" in text
    assert "embedded:walk" in cells["walk-add-residual-0"].motions


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("seeds", "speed"),
        ("prior", "priors"),
        ("motion", "motions"),
        ("[skills]", "[skill]"),
        ('"residual"', '"relative"'),
        ("[0, 1]", "[0.5]"),
        ("= {}", "= {"),
    ],
)
def test_what_a_matrix_does_not_know_is_an_error(change: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Matrix.read(declared(tmp_path, SMALL.replace(change, told, 1)))
    assert caught.value.code == "bad_experiment" and "small.toml" in str(caught.value)


def test_a_missing_matrix_is_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "run", str(tmp_path / "none.toml")]) == 2
    assert "no such experiment" in capsys.readouterr().err


def test_cells_are_run_once_and_failures_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One cell trains; the other's clip is missing."""
    text = SMALL.replace("[0, 1]", "[0]").replace('pfm = { prior = "g1-small", pooled = true }\n', "")
    path, out = declared(tmp_path, text), tmp_path / "out"
    assert main(["experiment", "run", str(path), "-o", str(out), "--workers", "1"]) == 1
    said = capsys.readouterr()
    assert "1 of 2 cells finished, 1 failed" in said.out and "no such motion" in said.err
    result = out / "walk-add-residual-0" / "result.json"
    written = result.stat().st_mtime_ns
    run_matrix(Matrix.read(path), out, workers=1, attempts=1)
    assert result.stat().st_mtime_ns == written
    assert main(["experiment", "report", str(path), "-o", str(out), "--output", str(tmp_path / "sum.json")]) == 0
    assert "Failed" in capsys.readouterr().out and (tmp_path / "sum.png").exists()
    assert json.loads((tmp_path / "sum.json").read_text())["cells"] == {"finished": 1, "all": 2}


def pretend(folder: Path, name: str, needed: float | None) -> None:
    """A finished run that needed so many million samples of two."""
    final = {"success": 0.9, "position_error": 0.02, "rotation_error": 0.1}
    reached = None if needed is None else 1e6 * needed
    curve = [{"samples": 0, "success": 0.0}, {"samples": 2_000_000, "success": 1.0}]
    result: dict[str, Any] = {"samples_to_80": reached, "samples": 2_000_000, "grid": 1000, "seconds": 60.0}
    (folder / name).mkdir(parents=True)
    (folder / name / "result.json").write_text(json.dumps({**result, "final": {"random": final}, "evaluations": curve}))


def test_a_summary_pairs_seeds_and_counts_what_never_converged(tmp_path: Path) -> None:
    for seed, (plain, ours) in enumerate([(1.0, 0.8), (1.2, 0.9)]):
        pretend(tmp_path, f"walk-add-residual-{seed}", plain)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", ours)
    pretend(tmp_path, "jump-add-residual-0", 1.5)
    pretend(tmp_path, "jump-pfm-residual-0", None)
    summary = summarise(Matrix.read(declared(tmp_path)), tmp_path)
    rows = {(row["skill"], row["method"]): row for row in summary["rows"]}
    walk = rows["walk", "pfm"]
    assert (walk["mean"], walk["deviation"]) == pytest.approx((0.85, 0.05))
    assert walk["difference"]["mean"] == pytest.approx(-0.25) and walk["difference"]["better"] == 1.0
    assert rows["jump", "pfm"]["mean"] is None and rows["jump", "pfm"]["converged"] == 0
    assert rows["jump", "pfm"]["difference"]["mean"] == pytest.approx(0.5)  # at least to the end of its budget
    (verdict,) = summary["verdicts"]
    assert verdict["probability"] == pytest.approx(0.5)  # all of walk, none of jump


def test_an_experiment_without_results_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cell"):
        summarise(Matrix.read(declared(tmp_path)), tmp_path)


def test_statistics_by_hand() -> None:
    gap = paired_difference([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    assert gap["mean"] == 0.0 and gap["low"] < 0.0 < gap["high"] and gap["better"] == pytest.approx(1 / 3)
    assert interquartile_mean([0.0, 1.0, 2.0, 100.0]) == 1.5
    assert probability_of_improvement([[1.0, 3.0]], [[2.0, 3.0]])["probability"] == pytest.approx(0.625)
    curve = {"evaluations": [{"samples": 0, "success": 0.0}, {"samples": 10, "success": 1.0}]}
    assert success_at(curve, 4.0) == pytest.approx(0.4)
