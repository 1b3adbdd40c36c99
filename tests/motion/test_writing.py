"""Writing motions: whole files or none, and clear words where it cannot be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.formats import native
from pfmhr.robots import Robot


@pytest.mark.parametrize("name", ["clip.bvh", "clip", "clip.csv.gz"])
def test_an_unknown_suffix_is_refused(walk: Motion, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"expected \.npz, \.csv, \.pkl") as caught:
        walk.write(tmp_path / name)
    assert caught.value.code == "unknown_format"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", ["gmr", "asap", "bones_seed", "qpos"])
def test_a_format_that_is_only_read_is_refused(walk: Motion, tmp_path: Path, format: Any) -> None:
    with pytest.raises(InputError, match="can be read but not written") as caught:
        walk.write(tmp_path / "clip.npz", format=format)
    assert caught.value.code == "unknown_format"


@pytest.mark.parametrize(
    ("name", "format", "expected"),
    [
        ("clip.csv", "mjlab", ".npz"),
        ("clip.CSV", "pfmhr", ".npz"),
        ("clip.pkl", "unitree_csv", ".csv"),
        ("clip.csv.gz", "unitree_csv", ".csv"),
        ("clip.npz", "mimickit", ".pkl or .pickle"),
    ],
)
def test_a_name_that_contradicts_the_format_is_refused(
    walk: Motion, g1: Robot, tmp_path: Path, name: str, format: Any, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        walk.write(tmp_path / name, g1, format)
    assert (caught.value.code, caught.value.expected) == ("bad_format", expected)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "format"), [("clip.pickle", "mimickit"), ("clip", "mjlab"), ("clip.v2", "unitree_csv")]
)
def test_a_name_that_promises_nothing_may_hold_any_format(
    walk: Motion, g1: Robot, tmp_path: Path, name: str, format: Any
) -> None:
    walk.write(tmp_path / name, g1, format)
    assert (tmp_path / name).stat().st_size > 0


def test_a_write_that_fails_leaves_the_old_file(
    walk: Motion, g1: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "clip.npz"
    walk.frames(0, 5).write(path)

    def fail(handle: Any, **_: Any) -> None:
        handle.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(native.np, "savez_compressed", fail)
    with pytest.raises(KeyboardInterrupt):
        walk.write(path)
    assert [file.name for file in tmp_path.iterdir()] == ["clip.npz"]
    assert Motion.read(path, g1).num_frames == 5


def test_a_full_disk_is_named(walk: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: Any, **_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(native.np, "savez_compressed", fail)
    with pytest.raises(InputError, match="MB free") as caught:
        walk.write(tmp_path / "clip.npz")
    assert caught.value.code == "disk_full"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["missing/clip.npz", "folder.npz", "file/clip.npz"])
def test_a_place_that_cannot_be_written_is_an_input_error(walk: Motion, tmp_path: Path, place: str) -> None:
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        walk.write(tmp_path / place)
    assert str(tmp_path / place) in str(caught.value)


@pytest.mark.parametrize("format", ["mimickit", "mjlab"])
def test_a_root_without_orientation_is_an_input_error(g1: Robot, tmp_path: Path, format: Any) -> None:
    motion = Motion.from_arrays(g1, np.zeros((3, 29)), 30, root_quat=np.zeros((3, 4)))
    with pytest.raises(InputError, match="no orientation"):
        motion.write(tmp_path / "clip", g1, format)
    assert not list(tmp_path.iterdir())
