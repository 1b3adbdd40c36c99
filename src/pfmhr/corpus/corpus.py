"""A pose corpus: any number of poses on disk, opened at once, read at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfmhr.corpus import manifest as manifests
from pfmhr.corpus.manifest import Manifest, Source
from pfmhr.corpus.sampling import batch_rows, take_rows
from pfmhr.corpus.shards import FLAT, checksum_of, checksum_of_rows, open_poses
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot


class PoseCorpus:
    """Unordered robot poses: a folder with a memory-mapped file and a manifest that says where each came from."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._arrays = open_poses(path, manifest)
        self._length = sum(len(array) for array in self._arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the same files: their poses are not sent there."""
        return PoseCorpus, (self.path, self.manifest)

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
    def poses(self) -> NDArray[np.float32]:
        """All poses, (N, J) float32 in rad: a memory map, not loaded; of a corpus of format 1 in memory."""
        if len(self._arrays) == 1:
            return self._arrays[0]
        return np.concatenate([*self._arrays, np.empty((0, len(self.joint_names)), np.float32)])

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
        if not self._arrays:
            return np.empty((0, len(self.joint_names)), dtype=np.float32)
        return take_rows(self._arrays, rows)

    def require(self, robot: Robot) -> None:
        """Refuse a robot whose joints are not exactly this corpus's."""
        if robot.joint_names != self.joint_names:
            raise InputError(
                "the corpus is for other joints",
                where=self.path,
                expected=f"robot '{robot.name}', {robot.num_joints} joints",
                got=f"robot '{self.manifest.robot}', {len(self.joint_names)} joints",
                code="wrong_robot",
            )

    def verify(self, progress: Callable[[int, int], object] | None = None) -> list[str]:
        """Read everything and compare with the manifest's checksums; returns the stretches that differ."""
        damaged, start = [], 0
        for done, shard in enumerate(self.manifest.shards, start=1):
            end = start + shard.rows
            if shard.file == FLAT:
                name, read = f"{FLAT} from row {start:,} to {end - 1:,}", checksum_of_rows(self._arrays[0][start:end])
            else:
                name, read = shard.file, checksum_of(self.path / shard.file)
            if read != shard.sha256:
                damaged.append(name)
            start = end
            if progress:
                progress(done, len(self.manifest.shards))
        return damaged

    def __repr__(self) -> str:
        return f"PoseCorpus('{self.path}', {self._length:,} poses, robot '{self.manifest.robot}')"
