"""Distance of poses to the nearest poses of a corpus: a short list by faiss, then exact."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError, unknown_name

Metric = Literal["l2", "l1"]
Poses = NDArray[np.float32]

PROBED_SHARE = 0.01
"""Share of the index's cells searched per query, at least :data:`LEAST_PROBED`."""
LEAST_PROBED = 40
SHORT_LIST = {"l2": 1, "l1": 64}
"""How many candidates the index gives for each wanted neighbour. It orders by L2; for L1 more are needed."""


class NeighbourIndex:
    """An inverted file over the poses of a corpus: about 4·√N cells, those nearest to a query searched exhaustively.

    Distances are exact for the neighbours found; what can go wrong is that a nearer one lies in a cell that
    was not searched. :meth:`recall` measures how often that changes a label.
    """

    def __init__(self, poses: Poses, metric: Metric = "l2", seed: int = 0) -> None:
        if metric not in SHORT_LIST:
            raise unknown_name("metric", metric, SHORT_LIST)
        faiss = _faiss()
        self.poses = np.ascontiguousarray(poses, dtype=np.float32)
        if self.poses.ndim != 2 or not len(self.poses):
            shape = self.poses.shape
            raise InputError("an index needs poses", expected="(N, J), N at least 1", got=shape, code="bad_shape")
        self.metric: Metric = metric
        joints = self.poses.shape[1]
        cells = max(1, min(round(4 * math.sqrt(len(poses))), len(poses) // 39))
        quantiser = faiss.IndexFlatL2(joints)
        self._index = faiss.IndexIVFFlat(quantiser, joints, cells)
        self._index.own_fields, self._quantiser = False, quantiser  # Python keeps it, so C++ must not
        self._index.cp.niter, self._index.cp.max_points_per_centroid, self._index.cp.seed = 8, 64, seed + 1
        self._index.train(self.poses)
        self._index.add(self.poses)
        self._index.nprobe = min(cells, max(LEAST_PROBED, round(PROBED_SHARE * cells)))

    def distances(self, queries: Poses, neighbours: int = 1) -> NDArray[np.float32]:
        """Distances in rad to the nearest corpus poses, nearest first: ``(M, J)`` → ``(M, neighbours)``."""
        _require(self.poses, queries, neighbours)
        wanted = min(neighbours * SHORT_LIST[self.metric], len(self.poses))
        squared, places = self._index.search(np.ascontiguousarray(queries, dtype=np.float32), wanted)
        found = np.sqrt(np.maximum(squared, 0.0)) if self.metric == "l2" else _l1(queries, self.poses, places)
        found = np.sort(found, axis=1)[:, :neighbours].astype(np.float32)
        short = (places >= 0).sum(axis=1) < neighbours  # the cells searched hold fewer
        if short.any():
            found[short] = brute_force(self.poses, queries[short], self.metric, neighbours)
        return found

    def recall(self, queries: Poses, neighbours: int = 1, tolerance: float = 0.01) -> float:
        """Share of labels (mean distance to the neighbours) within ``tolerance`` of brute force."""
        ours = self.distances(queries, neighbours).mean(axis=1)
        exact = brute_force(self.poses, queries, self.metric, neighbours).mean(axis=1)
        return float(np.mean(ours <= exact * (1.0 + tolerance) + 1e-6))


def brute_force(poses: Poses, queries: Poses, metric: Metric = "l2", neighbours: int = 1) -> NDArray[np.float32]:
    """The same distances by comparing with every pose: ``(M, neighbours)``."""
    faiss = _faiss()
    _require(poses, queries, neighbours)
    kind = faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_L1
    found, _ = faiss.knn(
        np.ascontiguousarray(queries, np.float32), np.ascontiguousarray(poses, np.float32), neighbours, metric=kind
    )
    return np.sqrt(np.maximum(found, 0.0)) if metric == "l2" else found


def _l1(queries: Poses, poses: Poses, places: NDArray[np.int64], block: int = 4096) -> NDArray[np.float32]:
    """Exact L1 distances of short lists ``(M, candidates)``; infinite where the index found fewer."""
    out = np.full(places.shape, np.inf, dtype=np.float32)
    for start in range(0, len(queries), block):
        rows = slice(start, start + block)
        apart = np.abs(poses[places[rows]] - queries[rows, None]).sum(axis=2)
        out[rows] = np.where(places[rows] >= 0, apart, np.inf)
    return out


def limit_threads(threads: int | None) -> None:
    """Let faiss search with so many threads: all cores unless said."""
    if threads:
        _faiss().omp_set_num_threads(threads)


def require_neighbours(poses: int, neighbours: int) -> None:
    """Refuse more neighbours than there are poses, and a machine without faiss."""
    _faiss()
    if not 1 <= neighbours <= poses:
        raise InputError("impossible number of neighbours", expected=f"1 to {poses}", got=neighbours, code="bad_config")


def _require(poses: Poses, queries: Poses, neighbours: int) -> None:
    if np.ndim(queries) != 2 or np.shape(queries)[1] != poses.shape[1]:
        width = poses.shape[1]
        raise InputError("wrong shape of queries", expected=f"(M, {width})", got=np.shape(queries), code="bad_shape")
    require_neighbours(len(poses), neighbours)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise InputError(
            "finding nearest poses needs faiss", fix="`pip install 'pfm-hr[distance]'`.", code="missing_extra"
        ) from None
    return faiss
