"""Distances to the nearest poses: those of numpy, and a clear word where there can be none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from pfmhr.distance.neighbours import Metric, NeighbourIndex, Poses, brute_force
from pfmhr.errors import InputError

from ..score.priors import refused

METRICS: tuple[Metric, ...] = ("l2", "l1")


def by_numpy(poses: Poses, queries: Poses, metric: Metric, neighbours: int = 1) -> NDArray[np.float64]:
    """Every query against every pose, in float64, nearest first."""
    rows = []
    for query in queries.astype(np.float64):
        apart = np.abs(poses - query)
        rows.append(np.sqrt(np.square(apart).sum(axis=1)) if metric == "l2" else apart.sum(axis=1))
    return np.sort(rows, axis=1)[:, :neighbours]


def scattered(count: int, joints: int = 6, seed: int = 0) -> Poses:
    return np.random.default_rng(seed).normal(size=(count, joints)).astype(np.float32)


def postures(count: int, seed: int = 0) -> Poses:
    """Poses of 29 joints that move together in four ways, as a body's do."""
    ways = 0.3 * np.random.default_rng(9).normal(size=(4, 29))
    return (np.random.default_rng(seed).normal(size=(count, 4)) @ ways).astype(np.float32)


def near(poses: Poses, count: int) -> Poses:
    """Queries about 0.3 rad off some of the poses."""
    return (poses[:count] + 0.05 * scattered(count, poses.shape[1], seed=5)).astype(np.float32)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("count", [1, 5, 40, 900])
def test_a_small_corpus_is_searched_whole(count: int, metric: Metric) -> None:
    poses, queries = scattered(count), scattered(60, seed=1)
    index = NeighbourIndex(poses, metric)
    for neighbours in {1, min(3, count), min(20, count)}:
        found = index.distances(queries, neighbours)
        assert found.shape == (60, neighbours) and found.dtype == np.float32
        assert found == pytest.approx(by_numpy(poses, queries, metric, neighbours), abs=1e-5)
        assert bool((np.diff(found, axis=1) >= 0).all())
    assert index.recall(queries) == 1.0


def test_distances_by_hand() -> None:
    """(1, 1) is √2 or 2 from the origin, √5 or 3 from (3, 0)."""
    poses, query = np.array([[3, 0], [0, 0]], np.float32), np.array([[1, 1]], np.float32)
    assert NeighbourIndex(poses, "l2").distances(query, 2)[0] == pytest.approx([2**0.5, 5**0.5])
    assert NeighbourIndex(poses, "l1").distances(query, 2)[0] == pytest.approx([2, 3])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("count", [1, 40, 3000])
def test_a_pose_of_the_corpus_is_at_distance_0(count: int, metric: Metric) -> None:
    poses = postures(count)
    assert NeighbourIndex(poses, metric).distances(poses[:200]).max() == 0.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("neighbours", [1, 5])
def test_of_thousands_of_poses_nearly_all_neighbours_are_found(metric: Metric, neighbours: int) -> None:
    poses = postures(4000)
    queries = near(poses, 300)
    index = NeighbourIndex(poses, metric)
    found, exact = index.distances(queries, neighbours), by_numpy(poses, queries, metric, neighbours)
    assert bool((found >= exact - 1e-4).all())  # what is found is never nearer than what there is
    assert np.mean(found.mean(axis=1) <= 1.01 * exact.mean(axis=1)) >= 0.99
    assert index.recall(queries, neighbours) >= 0.99


@pytest.mark.parametrize("metric", METRICS)
def test_recall_falls_when_too_few_cells_are_searched(metric: Metric) -> None:
    """Poses without any structure in 29 dimensions: the nearest is mostly in another cell."""
    poses, queries = scattered(4000, 29), scattered(300, 29, seed=1)
    index = NeighbourIndex(poses, metric)
    measured = index.recall(queries)
    index._index.nprobe = 1
    exact, ours = by_numpy(poses, queries, metric)[:, 0], index.distances(queries)[:, 0]
    assert index.recall(queries) == pytest.approx(np.mean(ours <= 1.01 * exact), abs=0.01)
    assert index.recall(queries) < 0.4 < measured - 0.2


def test_with_all_cells_searched_nothing_is_missed() -> None:
    poses, queries = scattered(4000, 29), scattered(300, 29, seed=1)
    index = NeighbourIndex(poses)
    index._index.nprobe = index._index.nlist
    assert index.recall(queries, 3) == 1.0
    assert index.distances(queries, 3) == pytest.approx(by_numpy(poses, queries, "l2", 3), abs=1e-4)


def test_the_tolerance_of_recall_is_of_the_distance() -> None:
    """Poses at 1 and 1.005 from the query, the nearer one hidden: within 1 %, not within 0.1 %."""
    poses, query = np.array([[1.0, 0.0], [0.0, 1.005]], np.float32), np.zeros((1, 2), np.float32)
    index = NeighbourIndex(poses)
    index.distances = lambda queries, neighbours=1: np.array([[1.005]], np.float32)  # type: ignore[method-assign]
    assert index.recall(query) == 1.0
    assert index.recall(query, tolerance=0.001) == 0.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("neighbours", [1, 4])
def test_brute_force_is_what_numpy_finds(metric: Metric, neighbours: int) -> None:
    poses = postures(2000)
    queries = near(poses, 100)
    found = brute_force(poses, queries, metric, neighbours)
    assert found == pytest.approx(by_numpy(poses, queries, metric, neighbours), abs=1e-4)


def sane_or_refused(poses: Poses, queries: Poses, metric: Metric, neighbours: int) -> None:
    """Whoever asks for more than there is gets what there is, or a refusal; never numbers out of nothing."""
    exact = by_numpy(poses, queries, metric, neighbours)
    index = NeighbourIndex(poses, metric)
    for search in (index.distances, lambda q, k: brute_force(poses, q, metric, k)):
        try:
            found = search(queries, neighbours)
        except InputError:
            continue
        assert np.isfinite(found).all() and found.max() <= 1.001 * exact.max()
        assert found.mean(axis=1) == pytest.approx(exact.mean(axis=1), rel=0.2)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("count", [1, 5, 40])
def test_more_neighbours_than_poses(count: int, metric: Metric) -> None:
    sane_or_refused(scattered(count), scattered(30, seed=1), metric, count + 2)


@pytest.mark.parametrize("metric", METRICS)
def test_more_neighbours_than_the_cells_searched_hold(metric: Metric) -> None:
    """Of 4000 poses about 950 lie in the 24 cells that are searched."""
    sane_or_refused(scattered(4000), scattered(5, seed=1), metric, 2000)


def test_queries_of_any_layout_and_precision() -> None:
    poses, queries = scattered(900), scattered(40, seed=1)
    for metric in METRICS:
        index = NeighbourIndex(poses, metric)
        plain = index.distances(queries[::2])
        assert index.distances(queries.astype(np.float64)[::2]) == pytest.approx(plain)  # type: ignore[arg-type]
        assert index.distances(np.asfortranarray(queries)[::2]) == pytest.approx(plain)
        assert index.distances(queries[:0]).shape == (0, 1)


def test_the_corpus_may_be_of_any_layout() -> None:
    poses, queries = scattered(900), scattered(40, seed=1)
    expected = NeighbourIndex(poses).distances(queries)
    assert NeighbourIndex(np.asfortranarray(poses)).distances(queries) == pytest.approx(expected)


def test_an_unknown_metric_lists_those_there_are() -> None:
    with refused("unknown_name", "'cosine'", "l2, l1"):
        NeighbourIndex(scattered(5), "cosine")  # type: ignore[arg-type]


def test_without_faiss_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with refused("missing_extra", "pip install 'pfm-hr[distance]'"):
        NeighbourIndex(scattered(5))
    with refused("missing_extra"):
        brute_force(scattered(5), scattered(5))


@pytest.mark.parametrize(
    ("shape", "queries", "neighbours", "code"),
    [((0, 3), (2, 3), 1, "bad_shape"), ((50, 3), (2, 4), 1, "bad_shape"), ((50, 3), (2, 3), 0, "bad_config")],
)
def test_what_cannot_be_searched_is_refused(
    shape: tuple[int, int], queries: tuple[int, int], neighbours: int, code: str
) -> None:
    with pytest.raises(InputError) as caught:
        NeighbourIndex(np.zeros(shape, np.float32)).distances(np.zeros(queries, np.float32), neighbours)
    assert caught.value.code == code
