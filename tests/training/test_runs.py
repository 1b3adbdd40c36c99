"""Directories of runs: whose they are is known before anything is written there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pfmhr.experiments.processes import CELL, FAILED, LOG
from pfmhr.files import exclusive
from pfmhr.prior import PosePrior
from pfmhr.training import claim, is_done
from pfmhr.training.runs import RUN

from ..score.priors import refused

PRIOR: dict[str, Any] = {"corpus": {"poses": 9}, "prior": {"delta": 0.1}, "training": {"steps": 3}}
TRACKER: dict[str, Any] = {"kind": "tracker", "motions": [], "config": {"samples": 9}}
FIELD: dict[str, Any] = {"pairs": {"poses": 9}, "network": {"hidden": 2}, "training": {"steps": 3}}
PAIRS: dict[str, Any] = {"format": "pfmhr-pairs", "poses": 9, "pairs": {"count": 3}}


def test_asking_whether_a_run_is_done_writes_nothing(tmp_path: Path) -> None:
    assert not is_done(tmp_path / "run", PRIOR, "config.json")
    assert not (tmp_path / "run").exists()


def test_a_run_is_done_when_its_last_file_is_there(tmp_path: Path) -> None:
    assert not claim(tmp_path, PRIOR, "last") and not claim(tmp_path, PRIOR, "last")
    (tmp_path / "last").touch()
    assert claim(tmp_path, PRIOR, "last") and is_done(tmp_path, PRIOR, "last")
    assert json.loads((tmp_path / RUN).read_text()) == PRIOR


@pytest.mark.parametrize("names", [("notes.txt",), ("walk.npz", "run.csv"), (".lock", "shard-00000.npy")], ids=str)
def test_a_directory_with_files_of_others_is_refused(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    with refused("not_empty", "holds other files", names[-1], "another directory"):
        claim(tmp_path, PRIOR, "config.json")
    assert {entry.name for entry in tmp_path.iterdir()} == set(names)


def test_what_an_experiment_wrote_about_a_cell_is_in_nobodys_way(tmp_path: Path) -> None:
    for name in (CELL, LOG, FAILED, f"{CELL}.tmp", "run.json.tmp", "metrics.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "tensorboard").mkdir()
    with exclusive(tmp_path):
        assert not claim(tmp_path, TRACKER, "result.json")
    assert (tmp_path / RUN).exists()


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (PRIOR, TRACKER, "this directory holds a prior, not a tracker"),
        (TRACKER, PRIOR, "this directory holds a tracker, not a prior"),
        (FIELD, PRIOR, "this directory holds a distance field, not a prior"),
        (PAIRS, FIELD, "this directory holds pairs, not a distance field"),
        ({"kind": "cake"}, PRIOR, "this directory holds something else, not a prior"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_a_run_of_another_kind_is_called_by_its_name(
    before: dict[str, Any], now: dict[str, Any], told: str, tmp_path: Path
) -> None:
    (tmp_path / RUN).write_text(json.dumps(before))
    with refused("exists", told, "another directory"):
        is_done(tmp_path, now, "config.json")
    assert json.loads((tmp_path / RUN).read_text()) == before


def test_a_prior_from_elsewhere_is_neither_trained_on_nor_over(tmp_path: Path) -> None:
    PosePrior.load("g1-small").save(tmp_path)
    with refused("exists", "this directory holds a prior, not a tracker"):
        claim(tmp_path, TRACKER, "result.json")
    with refused("exists", "something from elsewhere"):
        claim(tmp_path, PRIOR, "config.json")
    assert not (tmp_path / RUN).exists()


def test_half_a_settings_file_is_told(tmp_path: Path) -> None:
    (tmp_path / RUN).write_text("{")
    with refused("bad_run", "unreadable JSON"):
        claim(tmp_path, PRIOR, "config.json")
