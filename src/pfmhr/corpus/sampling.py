"""Random rows with no loader state: every batch is a function of (seed, step) and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError


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


def take_rows(arrays: Sequence[NDArray[np.float32]], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Poses of given rows, in their order, from arrays that follow each other."""
    if len(arrays) == 1:
        return np.take(arrays[0], rows, axis=0)
    poses, start = np.empty((len(rows), arrays[0].shape[1]), dtype=np.float32), 0
    for array in arrays:  # a corpus of format 1
        inside = np.flatnonzero((rows >= start) & (rows < start + len(array)))
        poses[inside] = np.take(array, rows[inside] - start, axis=0)
        start += len(array)
    return poses
