"""Poses on disk: one flat .npy file that grows at its end, read through a memory map.

The manifest says how many of its rows count. Corpora of format 1 have a file per shard; they can be read.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus.manifest import Manifest, Shard
from pfmhr.errors import InputError
from pfmhr.files import disk_errors, sync_directory
from pfmhr.foreign import require_file

FLAT = "poses.npy"
HEADER = 128
"""Bytes before the first row; numpy leaves room in them for any number of rows."""
SHARD_ROWS = 2**20
"""A stretch is closed at the first clip that brings it to this many rows (121 MB for 29 joints)."""


def append_rows(directory: Path, start: int, parts: Sequence[NDArray[np.float32]]) -> Shard:
    """Put ``parts``, each (n, J) float32, behind the first ``start`` rows of the flat file; what was there goes.

    They are on the disk when this returns. If they do not fit, the file is as long as it was to be before them.
    """
    path, joints = directory / FLAT, parts[0].shape[1]
    pieces = [np.ascontiguousarray(part, dtype="<f4").data for part in parts]
    rows = sum(len(part) for part in parts)
    checksum = hashlib.sha256()

    def digest() -> None:
        for piece in pieces:
            checksum.update(piece)

    # Hashing and writing both leave the interpreter free, so they go side by side.
    with ThreadPoolExecutor(1) as beside, disk_errors(path):
        hashing = beside.submit(digest)
        try:
            with open(path, "r+b" if start else "wb") as handle:
                handle.truncate(_bytes(start, joints))
                handle.seek(_bytes(start, joints))
                handle.writelines(pieces)
                handle.seek(0)
                handle.write(_header(start + rows, joints))
                handle.flush()
                os.fsync(handle.fileno())
        except BaseException:
            cut_rows(directory, start, joints)
            raise
        sync_directory(directory)
        hashing.result()
    return Shard(FLAT, rows, checksum.hexdigest())


def cut_rows(directory: Path, rows: int, joints: int) -> bool:
    """Cut the flat file behind its first ``rows``; returns whether there was more."""
    path = directory / FLAT
    if not path.exists() or (rows and path.stat().st_size <= _bytes(rows, joints)):
        return False
    if not rows:
        path.unlink()
        return True
    with open(path, "r+b") as handle:
        handle.write(_header(rows, joints))
        handle.truncate(_bytes(rows, joints))
    return True


def has_rows(directory: Path, rows: int, joints: int) -> bool:
    """Whether the flat file holds that many rows at least."""
    path = directory / FLAT
    return path.exists() and path.stat().st_size >= _bytes(rows, joints)


def open_poses(directory: Path, manifest: Manifest) -> list[NDArray[np.float32]]:
    """Read-only memory maps of the poses, in their order: of the flat file, or of each file of a corpus of format 1."""
    joints = len(manifest.joint_names)
    files = groupby(manifest.shards, key=lambda shard: shard.file)
    stretches = [(file, sum(shard.rows for shard in shards)) for file, shards in files]
    return [_open(directory / file, rows, joints) for file, rows in stretches]


def _open(path: Path, rows: int, joints: int) -> NDArray[np.float32]:
    """Size and type are checked, the content is not read; a flat file may be longer, as one that is growing is."""
    try:
        size = require_file(path)
    except FileNotFoundError:
        raise InputError("poses of the corpus are missing", where=path, code="bad_corpus") from None
    except InputError as error:
        raise error.at(path, code="bad_corpus") from None
    expected, flat = _bytes(rows, joints), path.name == FLAT
    if size < expected or (size > expected and not flat):
        raise InputError(
            "the file has the wrong size", where=path, expected=f"{expected} bytes", got=size, code="bad_corpus"
        )
    try:
        if flat:
            return np.memmap(path, dtype="<f4", mode="r", offset=HEADER, shape=(rows, joints)).view(np.ndarray)
        poses = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise InputError(f"a shard is damaged: {error}", where=path, code="bad_corpus") from error
    if poses.shape != (rows, joints) or poses.dtype != np.dtype("<f4"):
        raise InputError(
            "a shard has the wrong shape", where=path, expected=(rows, joints), got=poses.shape, code="bad_corpus"
        )
    return poses.view(np.ndarray)


def checksum_of_rows(poses: NDArray[np.float32]) -> str:
    """sha256 of rows that follow each other in the flat file."""
    return hashlib.sha256(poses.data).hexdigest()


def checksum_of(path: Path) -> str:
    """sha256 of a file, read in pieces."""
    checksum = hashlib.sha256()
    with open(path, "rb") as handle:
        while piece := handle.read(2**22):
            checksum.update(piece)
    return checksum.hexdigest()


def _bytes(rows: int, joints: int) -> int:
    return HEADER + 4 * rows * joints


def _header(rows: int, joints: int) -> bytes:
    buffer = io.BytesIO()
    layout = {"descr": "<f4", "fortran_order": False, "shape": (rows, joints)}
    np.lib.format.write_array_header_1_0(buffer, layout)
    return buffer.getvalue()
