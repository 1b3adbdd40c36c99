"""Runs side by side, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.results.comparing import COLUMNS, RunCurve, as_text, compare, flat, group_runs, name_of
from pfmhr.results.figures import draw_run_curves, joined
from pfmhr.results.records import from_json
from pfmhr.results.run_result import RunResult


def result(seed: int = 0, reached: float | None = 4e6, success: float = 0.9, **changes: Any) -> dict[str, Any]:
    final = {
        "success": success,
        "success_strict": success - 0.1,
        "position_error": 0.04,
        "rotation_error": 0.2,
        "body_error": 0.03,
    }
    return {
        "motions": ["walk"],
        "seed": seed,
        "modulator": "none",
        "reward": "add",
        "actions": "residual",
        "samples_to_80": reached,
        "samples": 5_000_000,
        "grid": 120_000,
        "seconds": 600.0,
        "time_shares": {"simulation": 1.0},
        "final": {"random": final, "beginning": final},
        "evaluations": [{"samples": 0, **final}, {"samples": 5_000_000, **final}],
        **changes,
    }


def written(folder: Path, *results: dict[str, Any]) -> list[Path]:
    directories = [folder / f"run{number}" for number in range(len(results))]
    for directory, content in zip(directories, results, strict=True):
        directory.mkdir()
        config = {"seed": content["seed"], "modulator": {"kind": "random", "alpha": content.pop("alpha", 0.5)}}
        clips = [{"name": name, "sha256": content.pop("sha", name)} for name in content["motions"]]
        about = {"config": config, "motions": clips, "prior_sha256": content.pop("prior_sha256", None)}
        (directory / "run.json").write_text(json.dumps(about))
        (directory / "result.json").write_text(json.dumps(content))
    return directories


def test_seeds_are_averaged_with_their_population_deviation(tmp_path: Path) -> None:
    runs = written(tmp_path, result(0, 5e6, 0.8), result(1, 5e6, 0.9), result(2, 8e6, 1.0))
    (group,) = group_runs(runs)
    row = group.row
    assert (row.seeds, row.converged, row.samples_to_80) == (3, 3, (5.0, 5.0, 8.0))
    assert (row.mean, row.deviation) == pytest.approx((6.0, 2.0**0.5))
    assert (row.success, row.deviations["success"]) == pytest.approx((0.9, (0.02 / 3) ** 0.5))
    assert (row.minutes, row.deviations["minutes"], row.grid) == pytest.approx((10.0, 0.0, 0.12))
    text = as_text(row)
    assert len(text) == len(COLUMNS)
    assert text[:5] == ["walk, ADD, residual", "3", "6.00 ± 1.41", "90.0 ± 8.2", "80.0 ± 8.2"]
    assert text[5:] == ["40.0 ± 0.0", "0.200 ± 0.000", "10.0 ± 0.0"]


def test_seeds_that_never_converged_are_told(tmp_path: Path) -> None:
    some, none = group_runs(written(tmp_path, result(0), result(1, None), result(2, None, actions="absolute")))
    assert as_text(some.row)[2] == "4.00 (1 of 2)"
    assert as_text(none.row)[2] == "Failed" and none.row.mean is None


def test_runs_are_named_by_what_they_are() -> None:
    def name(**changes: Any) -> str:
        return name_of(from_json(RunResult, result(**changes), Path("result.json")))

    assert name() == "walk, ADD, residual"
    assert name(modulator="pfm", reward="deepmimic") == "walk, DeepMimic + PFM-HR, residual"
    assert name(modulator="random", motions=["a", "b"]) == "2 clips, ADD × random, residual"


def test_runs_of_different_kinds_are_kept_apart(tmp_path: Path) -> None:
    groups = group_runs(written(tmp_path, result(), result(modulator="pfm"), result(seed=1)))
    assert [len(group.results) for group in groups] == [2, 1]


def test_runs_that_differ_in_a_setting_alone_are_no_seeds_of_each_other(tmp_path: Path) -> None:
    groups = group_runs(written(tmp_path, result(0), result(1), result(0, alpha=1.0)))
    assert [group.name for group in groups] == ["walk, ADD, residual, alpha 0.5", "walk, ADD, residual, alpha 1.0"]
    assert [len(group.results) for group in groups] == [2, 1]


def test_errors_of_runs_that_tracked_nothing_are_left_open(tmp_path: Path) -> None:
    lost = result()
    lost["final"]["random"]["position_error"] = None
    (group,) = group_runs(written(tmp_path, lost))
    assert group.row.position_error is None and as_text(group.row)[5] == "–"


def test_no_runs_and_unfinished_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no runs"):
        group_runs([])
    with pytest.raises(InputError, match="no tracking run here"):
        group_runs([tmp_path / "absent"])
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(InputError, match="not a finished"):
        group_runs([tmp_path])


def test_a_run_of_which_a_report_told_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps({**result(), "summary": {"cell": "walk-add-residual-0"}}))
    with pytest.raises(InputError, match=r"only what a stored report told.*pfmhr report"):
        group_runs([tmp_path])


@pytest.mark.parametrize("file", ["run.json", "result.json"])
@pytest.mark.parametrize("content", ["{}", "[]", '{"config": {}}', '{"config": {"seed": "one"}}', '{"motions": 3}'])
def test_a_run_with_a_damaged_file_is_refused_by_the_name_of_the_file(tmp_path: Path, file: str, content: str) -> None:
    (run,) = written(tmp_path, result())
    (run / file).write_text(content)
    with pytest.raises(InputError, match=f"{file}: a damaged run") as caught:
        group_runs([run])
    assert caught.value.code == "bad_run"


def test_curves_are_drawn(tmp_path: Path) -> None:
    runs = compare(written(tmp_path, result(), result(seed=1, success=0.5)))
    draw_run_curves(runs.curves, tmp_path / "deep" / "curves.png")
    assert (tmp_path / "deep" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_other_clips_of_the_same_name_are_no_seeds(tmp_path: Path) -> None:
    """One file, trimmed elsewhere."""
    groups = group_runs(written(tmp_path, result(0), result(1, sha="elsewhere")))
    assert [group.row.seeds for group in groups] == [1, 1]
    assert [group.name for group in groups] == [
        "walk, ADD, residual, clips walk",
        "walk, ADD, residual, clips elsewher",
    ]


def test_other_weights_at_the_same_path_are_no_seeds(tmp_path: Path) -> None:
    """A prior that was trained again between two runs."""
    groups = group_runs(written(tmp_path, result(0, prior_sha256="aaa"), result(1, prior_sha256="bbb")))
    assert [group.row.seeds for group in groups] == [1, 1]


def test_curves_are_joined_where_all_were_judged() -> None:
    """Not by their place in the list: a run of another length was judged once more, at its end."""
    long = RunCurve(name="walk", samples=(0, 96, 192), success=(0.1, 0.2, 0.3))
    short = RunCurve(name="walk", samples=(0, 96, 144), success=(0.0, 1.0, 1.0))
    samples, success = joined([long, short])
    assert samples.tolist() == [0, 96] and success.tolist() == [[0.1, 0.2], [0, 1]]


def test_a_seed_counts_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two runs of seed 1"):
        group_runs(written(tmp_path, result(0), result(1), result(1)))


def test_settings_of_the_same_name_keep_their_groups() -> None:
    assert flat({"agent": {"hidden": 1, "clip": 2}, "adversary": {"hidden": 3}, "seed": 4}) == {
        "hidden": 1,
        "clip": 2,
        "adversary.hidden": 3,
        "seed": 4,
    }
