"""A corpus straight from an array."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from pfmhr.corpus.corpus import PoseCorpus
from pfmhr.corpus.manifest import Manifest, Source
from pfmhr.corpus.shards import SHARD_ROWS, append_rows
from pfmhr.corpus.writing import write_once
from pfmhr.errors import InputError
from pfmhr.motion.checks.copies import digest
from pfmhr.robots import Robot


def corpus_from_array(directory: Path, poses: ArrayLike, robot: Robot, category: str) -> PoseCorpus:
    """Store poses in rad, shape ``(N, J)``, in the robot's joint order.

    Only shape and finiteness are checked: an array is taken at its word, so that synthetic
    distributions with known geometry can be stored too.
    """
    table = np.ascontiguousarray(poses, dtype=np.float32)
    if table.ndim != 2 or table.shape[1] != robot.num_joints or not len(table):
        raise InputError(
            "poses have the wrong shape",
            expected=f"(N, {robot.num_joints}) with N ≥ 1",
            got=table.shape,
            code="bad_shape",
        )
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise InputError("poses are NaN or infinite", got=f"{len(bad)} rows, first {bad[0]}", code="not_finite")
    mark = digest(table)
    about = zlib.crc32(repr((category, robot.joint_names)).encode())
    empty = Manifest(robot.name, robot.joint_names, f"{mark}-{about:08x}", {"from": "array"})

    def write() -> Manifest:
        shards = tuple(
            append_rows(directory, start, [table[start : start + SHARD_ROWS]])
            for start in range(0, len(table), SHARD_ROWS)
        )
        return replace(empty, shards=shards, sources=(Source("array", category, 0, len(table), 0.0, mark),))

    return write_once(directory, empty, write)
