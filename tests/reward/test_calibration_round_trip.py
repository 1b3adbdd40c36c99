"""Calibrations written and read: the same afterwards, and never half a file."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
import torch

from pfmhr.reward import Calibration
from pfmhr.score import PoseGeometryScore, ReconstructionScore

from ..score.priors import random_prior, refused, seeded
from .gauge import DT, clip_scoring, gauge, percents, prior


@pytest.fixture
def written(tmp_path: Path) -> Path:
    percents().save(tmp_path / "calibration.npz")
    return tmp_path / "calibration.npz"


@pytest.mark.parametrize("pooled", [False, True])
def test_a_round_trip_changes_nothing(pooled: bool, tmp_path: Path) -> None:
    made = PoseGeometryScore(random_prior(2, dtype=torch.float32), 0.6, 2, stabiliser=1e-5)
    motions = [clip_scoring([0.3, 0.1, 0.9], name="näher"), clip_scoring([0.5] * 4, loop=True)]
    calibration = Calibration.fit(made, motions, DT, seeded(0), pooled)
    calibration.save(tmp_path / "deep" / "er" / "file.npz")
    loaded = Calibration.load(str(tmp_path / "deep" / "er" / "file.npz"))
    assert loaded.header() == calibration.header()
    assert (loaded.settings, loaded.dt, loaded.pooled) == (made.settings, DT, pooled)
    assert loaded.references == calibration.references
    for ours, theirs in zip(loaded.distributions[0].scores, calibration.distributions[0].scores, strict=True):
        assert torch.equal(ours, theirs)
    scores = torch.cat([*calibration.values[0], torch.rand(50, generator=seeded(1))])
    for motion in (0, 1):
        assert torch.equal(loaded.percentile(scores, motion), calibration.percentile(scores, motion))
    loaded.require(made)
    loaded.require_dt(DT)


def test_a_round_trip_twice_gives_the_same_file(written: Path) -> None:
    Calibration.load(written).save(written.with_name("again.npz"))
    ours, theirs = (np.load(written.with_name(name)) for name in ("again.npz", "calibration.npz"))
    assert ours.files == theirs.files
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours.files)


def test_all_levels_of_a_reconstruction_are_kept(tmp_path: Path) -> None:
    made = ReconstructionScore(prior())
    calibration = Calibration.fit(made, [clip_scoring([0.1, 0.5, 0.7])], DT, seeded(0))
    calibration.save(tmp_path / "file.npz")
    loaded = Calibration.load(tmp_path / "file.npz")
    loaded.require(made)
    for ours, theirs in zip(loaded.values, calibration.values, strict=True):
        assert torch.equal(ours[0], theirs[0].sort().values)


def test_an_interrupted_write_keeps_the_old_file(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: IO[bytes], **arrays: Any) -> None:
        handle.write(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    old = written.read_bytes()
    monkeypatch.setattr(np, "savez", full)
    with refused("disk_full", "calibration.npz"):
        Calibration.fit(gauge(), [clip_scoring([0.5])], DT).save(written)
    assert written.read_bytes() == old
    assert [path.name for path in written.parent.iterdir()] == ["calibration.npz"]


def test_writing_over_a_folder_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").touch()
    with refused("not_writable", "folder"):
        percents().save(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "kept"]


def test_writing_into_a_file_is_refused(written: Path) -> None:
    with refused("not_writable", "calibration.npz"):
        percents().save(written / "inside.npz")
