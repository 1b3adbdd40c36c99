"""Atomic writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.files import write_atomically


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, lambda handle: handle.write(b"old"))

    def fail(handle: object) -> None:
        handle.write(b"new")  # type: ignore[attr-defined]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="file/inside"):
        write_atomically(tmp_path / "file" / "inside", lambda handle: handle.write(b""))
