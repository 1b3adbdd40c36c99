"""Shards: flat .npy files of poses, written whole or not at all, read through memory maps."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus.manifest import Shard
from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.foreign import map_npy

SHARD_ROWS = 2**20
"""A shard is closed at the first clip that brings it to this many rows (121 MB for 29 joints)."""


def shard_name(number: int) -> str:
    """File name of the n-th shard."""
    return f"shard-{number:05d}.npy"


def write_shard(directory: Path, number: int, parts: Sequence[NDArray[np.float32]]) -> Shard:
    """Write the concatenation of ``parts``, each (n, J) float32, and return its description."""
    rows, joints = sum(len(part) for part in parts), parts[0].shape[1]
    header = _header(rows, joints)
    pieces = [header, *(np.ascontiguousarray(part, dtype="<f4").data for part in parts)]
    checksum = hashlib.sha256()

    def digest() -> None:
        for piece in pieces:
            checksum.update(piece)

    # Hashing and writing both leave the interpreter free, so they go side by side.
    with ThreadPoolExecutor(1) as beside:
        hashing = beside.submit(digest)
        write_atomically(directory / shard_name(number), lambda handle: handle.writelines(pieces))
        hashing.result()
    return Shard(shard_name(number), rows, checksum.hexdigest())


def open_shard(directory: Path, shard: Shard, joints: int) -> NDArray[np.float32]:
    """A read-only memory map of a shard, its size and type checked, its content not read."""
    path = directory / shard.file
    try:
        poses = map_npy(path, "bad_corpus")
    except FileNotFoundError:
        raise InputError("a shard of the corpus is missing", where=path, code="bad_corpus") from None
    if poses.shape != (shard.rows, joints) or poses.dtype != np.dtype("<f4"):
        raise InputError(
            "a shard has the wrong shape", where=path, expected=(shard.rows, joints), got=poses.shape, code="bad_corpus"
        )
    return poses


def checksum_of(path: Path) -> str:
    """sha256 of a file, read in pieces."""
    checksum = hashlib.sha256()
    with open(path, "rb") as handle:
        while piece := handle.read(2**22):
            checksum.update(piece)
    return checksum.hexdigest()


def _header(rows: int, joints: int) -> bytes:
    buffer = io.BytesIO()
    layout = {"descr": "<f4", "fortran_order": False, "shape": (rows, joints)}
    np.lib.format.write_array_header_1_0(buffer, layout)
    return buffer.getvalue()
