"""Results of every version load; what does not fit is told with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.results.common import Episodes, common_errors
from pfmhr.results.comparing import read_comparison
from pfmhr.results.evidence import EVIDENCE, evidence_lines
from pfmhr.results.records import to_json
from pfmhr.results.summary import Summary
from pfmhr.results.wording import figure, reached

RESULTS = Path(__file__).resolve().parents[2] / "results"
GONE = ("deviations", "options", "success_at_half")
"""Options stand with the runs, success at half of the budget in success_at; deviations are looked at apart."""
EXPERIMENTS = sorted(RESULTS.glob("experiment_*.json"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem.removeprefix("experiment_"))
def test_stored_experiments_load_and_are_written_as_they_were(path: Path) -> None:
    """Every figure of a row comes back; what the file lacks is the new evidence."""
    content, summary = json.loads(path.read_text()), Summary.read(path)
    written = json.loads(json.dumps(to_json(summary)))
    for before, after in zip(content["rows"], written["rows"], strict=True):
        known = {name: value for name, value in before.items() if name not in GONE}
        assert {name: after[name] for name in known} == {
            name: _with_defaults(name, value, after) for name, value in known.items()
        }
        assert before["deviations"].items() <= after["deviations"].items()
    assert content["core_hours"] == summary.core_hours and len(content["runs"]) == len(summary.runs)
    for line in evidence_lines(summary.rows):
        assert len(line) == len(EVIDENCE)


def _with_defaults(name: str, value: Any, after: dict[str, Any]) -> Any:
    """A nested record of an earlier version, with the fields it lacks as they are now."""
    if name == "difference":
        return after[name] | value
    if name == "horizons":
        return [now | each for now, each in zip(after[name], value, strict=True)]
    return value


def test_areas_come_from_the_stored_curves() -> None:
    """The walk with residual actions: the area of every run by numpy, and the paired difference of the five seeds."""
    path = RESULTS / "experiment_nine_skills.json"
    runs = {run["cell"]: run for run in json.loads(path.read_text())["runs"]}
    rows = {(row.skill, row.method): row for row in Summary.read(path).rows}

    def areas(method: str) -> np.ndarray:
        found = [runs[f"walk-{method}-residual-{seed}"] for seed in range(5)]
        steps = [np.diff(run["samples"]) @ (np.array(run["success"])[1:] + run["success"][:-1]) / 2 for run in found]
        return np.array(steps) / [run["samples"][-1] for run in found]

    plain, ours = rows["walk", "add"], rows["walk", "pfm"]
    assert plain.area == pytest.approx(areas("add").mean()) and ours.area == pytest.approx(areas("pfm").mean())
    assert ours.deviations["area"] == pytest.approx(areas("pfm").std()) and ours.area_difference is not None
    assert ours.area_difference.mean == pytest.approx((areas("pfm") - areas("add")).mean())
    assert ours.area_difference.deviation == pytest.approx((areas("pfm") - areas("add")).std(ddof=1))


def test_a_comparison_of_the_first_version_loads() -> None:
    about = {"name": "walk, ADD", "motions": ["walk"], "reward": "add", "modulator": "none", "actions": "residual"}
    numbers = {"samples_to_80": [1.25, 0.05], "success": [0.9, 0.1], "position_error": None, "minutes": [3.0, 1.0]}
    row = {**about, "seeds": 2, "converged": 2, "grid": 0.1, **numbers}
    failed = {**row, "converged": 0, "samples_to_80": None}
    first, second = read_comparison({"rows": [row, failed], "curves": []}, Path("compared.json")).rows
    assert reached(first) == "1.25 ± 0.05" and reached(second) == "Failed"
    assert figure(first, "success", 1, 100.0) == "90.0 ± 10.0" and figure(first, "position_error", 1) == "–"
    again = read_comparison(to_json(read_comparison({"rows": [row], "curves": []}, Path("x"))), Path("x"))
    assert again.rows == (first,)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rows": 3}, r"Expected `array`, got `int` - at `\$\.rows`"),
        ({"rows": [{"skill": "walk", "actions": "residual"}]}, r"missing required field `method` - at `\$\.rows\[0\]`"),
        ({"core_hours": "many"}, r"Expected `float`, got `str`"),
        (
            {"runs": [{"cell": "walk", "samples": [1, 2], "success": [0.5], "final": {"random": {"success": 1}}}]},
            "walk",
        ),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    whole = {"name": "x", "plain": "add", "cells": {"finished": 1, "all": 1}, "rows": [], "verdicts": []}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(whole | change))
    with pytest.raises(InputError, match=rf"report\.json: incomplete .*{told}"):
        Summary.read(path)


# Errors in common


def episodes(*position: list[float], frame: int = 0) -> Episodes:
    errors = np.array(position)
    return Episodes(np.zeros(len(errors)), np.full(len(errors), frame), errors, 10 * errors)


def test_errors_in_common_are_of_frames_both_tracked() -> None:
    """Of the first episode two frames, of the second none; the longer horizon of one adds nothing."""
    ours = episodes([0.1, 0.3, 0.5, 0.7], [0.2, np.nan, np.nan, np.nan])
    plain = episodes([0.2, 0.2, np.nan], [np.nan, np.nan, np.nan])
    found = common_errors(ours, plain)
    assert found is not None and found.frames == 2
    assert (found.position_error, found.plain_position_error) == pytest.approx((0.2, 0.2))
    assert (found.rotation_error, found.plain_rotation_error) == pytest.approx((2.0, 2.0))


def test_episodes_that_began_elsewhere_have_nothing_in_common() -> None:
    ours = episodes([0.1, 0.3])
    assert common_errors(ours, episodes([0.1, 0.3], frame=4)) is None
    assert common_errors(ours, episodes([0.1, 0.3], [0.1, 0.3])) is None
    assert common_errors(ours, episodes([np.nan, np.nan])) is None


def test_spoiled_episodes_are_refused_and_absent_ones_are_none(tmp_path: Path) -> None:
    path = tmp_path / "episodes.npz"
    assert Episodes.read(path) is None
    episodes([0.1, np.nan]).save(path)
    kept = Episodes.read(path)
    assert kept is not None and kept.position_error == pytest.approx(np.array([[0.1, np.nan]]), rel=1e-3, nan_ok=True)
    for arrays in ({"clip": np.zeros(1)}, {"clip": 1, "frame": 1, "position_error": 1, "rotation_error": 1}):
        np.savez(path, **{name: np.zeros(value) for name, value in arrays.items()} if len(arrays) > 1 else arrays)
        with pytest.raises(InputError, match=r"episodes\.npz") as caught:
            Episodes.read(path)
        assert caught.value.code == "bad_run"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"episodes\.npz: truncated"):
        Episodes.read(path)
