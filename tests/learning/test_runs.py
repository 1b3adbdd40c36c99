"""Directories of runs: whose they are is known before anything is written there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from pfmhr.experiments.processes import CELL, FAILED, LOG
from pfmhr.files import exclusive
from pfmhr.learning import claim, is_done
from pfmhr.learning.checkpoint import CHECKPOINTS, last_checkpoint, save_checkpoint
from pfmhr.learning.logging import RunLog, read_metrics
from pfmhr.learning.runs import RUN, given_up
from pfmhr.prior import PosePrior

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
    for name in (CELL, LOG, FAILED, f"{CELL}.tmp", "run.json.tmp"):
        (tmp_path / name).touch()
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


def test_a_run_given_up_at_its_first_checkpoint_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    """The folder of checkpoints was made, and the disk was full."""
    claim(tmp_path, PRIOR, "config.json")
    with pytest.raises(OSError, match="full"), given_up(tmp_path):
        (tmp_path / CHECKPOINTS).mkdir()
        raise OSError("full")
    assert not claim(tmp_path, PRIOR, "config.json")


def test_a_run_given_up_later_keeps_its_checkpoints(tmp_path: Path) -> None:
    claim(tmp_path, PRIOR, "config.json")
    with pytest.raises(OSError, match="full"), given_up(tmp_path):
        (tmp_path / CHECKPOINTS).mkdir()
        (tmp_path / CHECKPOINTS / "step-000000003.safetensors").touch()
        raise OSError("full")
    assert (tmp_path / RUN).exists() and len(list((tmp_path / CHECKPOINTS).iterdir())) == 1


def network() -> tuple[nn.Module, AveragedModel, torch.optim.Optimizer]:
    model = nn.Linear(1, 1)
    return model, AveragedModel(model), torch.optim.SGD(model.parameters())


def test_checkpoints_that_cannot_be_read_make_room_for_whole_ones(tmp_path: Path) -> None:
    """Begun anew after both were damaged, the first new one is not the one that is too many."""
    for step in (8, 9):
        (tmp_path / f"step-{step:09d}.safetensors").write_bytes(b"half")
    assert last_checkpoint(tmp_path) is None
    for step in (3, 4, 5):
        save_checkpoint(tmp_path, step, *network())
        assert last_checkpoint(tmp_path) == tmp_path / f"step-{step:09d}.safetensors"
    assert sorted(int(path.stem[-1]) for path in tmp_path.iterdir()) == [4, 5]


def test_a_full_disk_is_told_by_the_log_with_its_place(tmp_path: Path) -> None:
    log = RunLog(tmp_path, step=-1)
    log.write(1, loss=2.0)
    log._file.close()  # what the system says of a disk that is full, it says of this device
    log._file = open("/dev/full", "w")  # noqa: SIM115
    with refused("disk_full", "metrics.jsonl", "Free some space"):
        log.write(2, loss=1.0)
    assert [line["step"] for line in read_metrics(tmp_path)] == [1]


def test_half_a_settings_file_is_told(tmp_path: Path) -> None:
    (tmp_path / RUN).write_text("{")
    with refused("bad_run", "unreadable JSON"):
        claim(tmp_path, PRIOR, "config.json")
