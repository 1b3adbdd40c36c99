"""Random rows with no loader state: every batch is a function of (seed, step) and nothing else."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.native import load_library

NATIVE_LIBRARY = Path(__file__).with_name("_gather.so")


def batch_rows(total: int, step: int, size: int, seed: int, rank: int = 0, world: int = 1) -> NDArray[np.int64]:
    """Row numbers of one process's part of a batch, drawn uniformly with replacement.

    The batch of ``size`` rows is drawn whole by a counter-based generator keyed by (seed, step);
    process ``rank`` of ``world`` takes its contiguous part. The union over processes is therefore
    the same for any number of them, and a resumed run needs to know only its step.

    Returns:
        shape ``(size / world,)`` int64.
    """
    if total < 1:
        raise InputError("cannot draw from an empty corpus", code="empty_corpus")
    if size < 1 or size % world or not 0 <= rank < world:
        raise InputError(
            "a batch must divide evenly among processes",
            expected="size a multiple of world, rank below world",
            got=f"size {size}, world {world}, rank {rank}",
            code="bad_batch",
        )
    generator = np.random.Generator(np.random.Philox(key=[seed & (2**64 - 1), step]))
    rows = generator.integers(0, total, size=size)
    share = size // world
    return rows[rank * share : (rank + 1) * share]


def gather(
    shards: list[NDArray[np.float32]], starts: NDArray[np.int64], rows: NDArray[np.int64], native: bool = True
) -> NDArray[np.float32]:
    """Poses of given rows, in their order, from shards whose first rows are ``starts``.

    Args:
        native: use the compiled collector if it was built; the result is the same without it.
    """
    library = load_library(NATIVE_LIBRARY) if native else None
    if library is None:
        return _gather_with_numpy(shards, starts, rows)
    rows, starts = np.ascontiguousarray(rows, dtype=np.int64), np.ascontiguousarray(starts, dtype=np.int64)
    poses = np.empty((len(rows), shards[0].shape[1]), dtype=np.float32)
    addresses = (ctypes.c_void_p * len(shards))(*(shard.ctypes.data for shard in shards))
    library.pfmhr_gather(
        addresses,
        ctypes.c_void_p(starts.ctypes.data),
        ctypes.c_long(len(shards)),
        ctypes.c_void_p(rows.ctypes.data),
        ctypes.c_long(len(rows)),
        ctypes.c_long(poses.shape[1]),
        ctypes.c_void_p(poses.ctypes.data),
    )
    return poses


def _gather_with_numpy(
    shards: list[NDArray[np.float32]], starts: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Rows are grouped by shard with a counting sort, so each memory map is visited once."""
    shard_of = np.searchsorted(starts, rows, side="right") - 1
    order = np.argsort(shard_of.astype(np.uint16), kind="stable")
    bounds = np.searchsorted(shard_of[order], np.arange(len(shards) + 1))
    poses = np.empty((len(rows), shards[0].shape[1]), dtype=np.float32)
    for number, shard in enumerate(shards):
        members = order[bounds[number] : bounds[number + 1]]
        if len(members):
            poses[members] = np.take(shard, rows[members] - starts[number], axis=0, mode="clip")
    return poses
