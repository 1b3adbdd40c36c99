"""A pose corpus: any number of poses on disk, opened at once, read at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfmhr.corpus import manifest as manifests
from pfmhr.corpus.manifest import Manifest, Source
from pfmhr.corpus.sampling import batch_rows, gather
from pfmhr.corpus.shards import checksum_of, open_shard
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.robots.file import load_robot


class PoseCorpus:
    """Unordered robot poses: a folder of memory-mapped shards and a manifest that says where each came from."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        joints = len(manifest.joint_names)
        self._shards = [open_shard(path, shard, joints) for shard in manifest.shards]
        lengths = [len(shard) for shard in self._shards]
        self._starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
        self._length = sum(lengths)

    @staticmethod
    def open(path: str | Path, robot: Robot | None = None) -> PoseCorpus:
        """Open a corpus; with ``robot`` given, one for other joints is refused."""
        corpus = PoseCorpus(Path(path), manifests.load(Path(path)))
        if robot is not None:
            corpus.require(robot)
        return corpus

    @staticmethod
    def build(
        path: str | Path, items: Iterable[Motion | str | Path], robot: Robot, config: Any = None, **callbacks: Any
    ) -> PoseCorpus:
        """Build a corpus from motions, files and folders; see :func:`pfmhr.corpus.building.build_corpus`."""
        from pfmhr.corpus.building import build_corpus

        return build_corpus(Path(path), items, robot, config, **callbacks)

    @staticmethod
    def from_array(path: str | Path, poses: ArrayLike, robot: Robot, category: str = "array") -> PoseCorpus:
        """Build a corpus from poses in rad, shape ``(N, J)``; see :func:`pfmhr.corpus.arrays.corpus_from_array`."""
        from pfmhr.corpus.arrays import corpus_from_array

        return corpus_from_array(Path(path), poses, robot, category)

    def __len__(self) -> int:
        return self._length

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joint of each column."""
        return self.manifest.joint_names

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the poses came from, in row order."""
        return self.manifest.sources

    @property
    def poses(self) -> NDArray[np.float32] | ShardedPoses:
        """All poses, (N, J) float32 in rad, not loaded: a memory map, or a view over several."""
        if len(self._shards) == 1:
            return self._shards[0]
        return ShardedPoses(self)

    def rows(self, index: ArrayLike) -> NDArray[np.float32]:
        """The poses with these row numbers, in this order, shape ``(len(index), J)``, in memory."""
        given = np.asarray(index)
        if given.size and given.dtype.kind not in "iu":
            fix = "Of a mask take np.flatnonzero." if given.dtype == bool else None
            text = "row numbers must be whole numbers"
            raise InputError(text, where=self.path, got=given.dtype, fix=fix, code="bad_rows")
        rows = given.astype(np.int64).reshape(-1)
        if len(rows) and (rows.min() < 0 or rows.max() >= self._length):
            raise InputError(
                "row numbers outside the corpus",
                where=self.path,
                expected=f"0 to {self._length - 1}",
                got=f"{rows.min()} to {rows.max()}",
                code="bad_rows",
            )
        return self._gather(rows)

    def batch(self, step: int, size: int, seed: int, rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        """Random poses, a function of (seed, step) alone; see :func:`pfmhr.corpus.sampling.batch_rows`.

        Returns:
            shape ``(size / world, J)`` float32 in rad.
        """
        return self._gather(batch_rows(self._length, step, size, seed, rank, world))

    def _gather(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        if not self._shards:
            return np.empty((0, len(self.joint_names)), dtype=np.float32)
        return gather(self._shards, self._starts, rows)

    def load_robot(self, named: str | None = None) -> Robot:
        """The robot that is ``named`` or, if none is, the one the corpus was built for."""
        return load_robot(named, self.manifest.robot, self.manifest.robot_file, self.path)

    def require(self, robot: Robot) -> None:
        """Refuse a robot whose joints are not exactly this corpus's."""
        robot.require_joints(self.joint_names, "the corpus", self.path)

    def verify(self, progress: Callable[[int, int], object] | None = None) -> list[str]:
        """Read everything and compare with the manifest's checksums; returns the shards that differ."""
        damaged = []
        for done, shard in enumerate(self.manifest.shards, start=1):
            if checksum_of(self.path / shard.file) != shard.sha256:
                damaged.append(shard.file)
            if progress:
                progress(done, len(self.manifest.shards))
        return damaged

    def __repr__(self) -> str:
        return f"PoseCorpus('{self.path}', {self._length:,} poses, robot '{self.manifest.robot}')"


class ShardedPoses:
    """An array-like over all shards: ``len``, ``shape``, slices, row numbers, masks, iteration, numpy."""

    def __init__(self, corpus: PoseCorpus) -> None:
        self._corpus = corpus
        self.shape = (len(corpus), len(corpus.joint_names))
        self.dtype = np.dtype(np.float32)
        self.ndim = 2

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[np.float32]:
        rows, *columns = key if isinstance(key, tuple) else (key,)
        if rows is None or rows is Ellipsis:
            return self[:][key]
        if isinstance(rows, (int, np.integer)):
            return self._corpus.rows([range(len(self))[rows]])[(0, *columns)]
        if isinstance(rows, slice):
            return self._corpus.rows(np.arange(len(self))[rows])[(slice(None), *columns)]
        index = np.asarray(rows)
        if index.dtype == bool and index.shape != (len(self),):
            raise IndexError(f"a mask of {index.shape} for {len(self)} poses")
        index = np.flatnonzero(index) if index.dtype == bool else np.where(index < 0, index + len(self), index)
        # Rows as numpy would pair them with columns: one by one with a list, all with a slice.
        return self._corpus.rows(index)[(np.arange(index.size).reshape(index.shape), *columns)]

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        whole = self[:]
        return whole if dtype is None else whole.astype(dtype)
