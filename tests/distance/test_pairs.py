"""Labelled pairs: right labels, the kinds asked for, and a directory that survives everything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pfmhr.corpus import PoseCorpus
from pfmhr.distance import PairConfig, make_pairs
from pfmhr.distance.neighbours import Metric
from pfmhr.distance.pairs import Pairs, draw_poses
from pfmhr.errors import InputError
from pfmhr.robots import Robot

from ..score.priors import refused
from .test_neighbours import by_numpy

SMALL = PairConfig(count=1000, shard=400)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, g1: Robot) -> PoseCorpus:
    """Six hundred poses, few enough that every cell is searched."""
    poses = g1.default_pose + 0.2 * np.random.default_rng(0).normal(size=(600, 29))
    inside = np.clip(poses, g1.lower, g1.upper)
    return PoseCorpus.from_array(tmp_path_factory.mktemp("pairs") / "corpus", inside, robot=g1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, corpus: PoseCorpus, g1: Robot) -> Path:
    """A finished directory; copy it before breaking it."""
    directory = tmp_path_factory.mktemp("pairs") / "made"
    make_pairs(directory, corpus, g1, SMALL)
    return directory


@pytest.fixture
def middle(tmp_path: Path, g1: Robot) -> PoseCorpus:
    """One pose, in the middle of every joint's range: the label of a push is its length."""
    return PoseCorpus.from_array(tmp_path / "middle", ((g1.lower + g1.upper) / 2)[None], robot=g1)


def content(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.name != ".lock"}


def from_corpus(pairs: Pairs, corpus: PoseCorpus) -> NDArray[np.bool_]:
    """Which poses are, to the bit, poses of the corpus."""
    known = {row.tobytes() for row in np.asarray(corpus.poses[:])}
    return np.array([row.tobytes() in known for row in pairs.poses])


@pytest.mark.parametrize("metric", ["l2", "l1"])
@pytest.mark.parametrize("neighbours", [1, 3])
def test_labels_are_what_numpy_finds(
    metric: Metric, neighbours: int, corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    pairs = make_pairs(tmp_path / "pairs", corpus, g1, replace(SMALL, metric=metric, neighbours=neighbours))
    assert pairs.poses.shape == (1000, 29) and pairs.distance.shape == (1000,)
    exact = by_numpy(np.asarray(corpus.poses[:]), pairs.poses, metric, neighbours).mean(axis=1)
    others = ~from_corpus(pairs, corpus)
    error = pairs.distance[others] - exact[others]
    # The candidates are ordered by L2: by L1 one of them in a thousand may be missed, never by much.
    assert np.mean(np.abs(error) < 1e-4) >= (1.0 if metric == "l2" else 0.99)
    assert error.min() > -1e-4 and error.max() < 0.01 * exact.max()
    assert pairs.about["recall"] >= (1.0 if metric == "l2" else 0.99)


def test_poses_of_the_corpus_are_exact_and_labelled_0(made: Path, corpus: PoseCorpus) -> None:
    pairs = Pairs.open(made)
    own = from_corpus(pairs, corpus)
    assert bool((pairs.distance[own] == 0.0).all()) and bool((pairs.distance[~own] > 0.0).all())
    assert own.mean() == pytest.approx(0.15, abs=0.04)
    assert len(np.unique(pairs.poses[own], axis=0)) > 100


def test_a_label_of_several_neighbours_is_0_on_the_corpus_all_the_same(
    corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    pairs = make_pairs(tmp_path / "pairs", corpus, g1, replace(SMALL, neighbours=5, on_manifold=1.0, uniform=0.0))
    assert bool(from_corpus(pairs, corpus).all()) and not pairs.distance.any()


def test_all_other_poses_are_within_the_limits(corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    pairs = make_pairs(tmp_path / "pairs", corpus, g1, replace(SMALL, scales=(5.0,)))
    others = pairs.poses[~from_corpus(pairs, corpus)]
    assert bool((others >= g1.lower).all()) and bool((others <= g1.upper).all())
    assert np.mean((others == g1.lower) | (others == g1.upper)) > 0.1  # pushes of 5 rad end at limits


def test_shares_of_the_kinds(corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    """With pushes of a thousandth of a radian the label tells the kind."""
    config = PairConfig(count=4000, on_manifold=0.2, uniform=0.3, scales=(0.001,))
    labels = make_pairs(tmp_path / "pairs", corpus, g1, config).distance
    assert np.mean(labels == 0.0) == pytest.approx(0.2, abs=0.02)
    assert np.mean(labels > 1.0) == pytest.approx(0.3, abs=0.025)
    assert np.mean((labels > 0.0) & (labels < 0.01)) == pytest.approx(0.5, abs=0.025)


def test_uniform_poses_fill_the_ranges(corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    pairs = make_pairs(tmp_path / "pairs", corpus, g1, PairConfig(count=4000, on_manifold=0.0, uniform=1.0))
    share = (pairs.poses - g1.lower) / (g1.upper - g1.lower)
    assert share.mean(axis=0) == pytest.approx(np.full(29, 0.5), abs=0.03)
    assert share.std(axis=0) == pytest.approx(np.full(29, 12**-0.5), abs=0.02)


def test_pushes_are_half_normal_in_length(middle: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    """The mean of |N(0, s²)| is s·√(2/π), its mean square s²."""
    config = PairConfig(count=8000, on_manifold=0.0, uniform=0.0, scales=(0.05,))
    length = make_pairs(tmp_path / "pairs", middle, g1, config).distance.astype(np.float64)
    assert length.mean() == pytest.approx(0.05 * (2 / np.pi) ** 0.5, rel=0.04)
    assert np.square(length).mean() == pytest.approx(0.05**2, rel=0.06)


def moved_joints(corpus: PoseCorpus, directory: Path, robot: Robot, share: float) -> NDArray[np.int64]:
    config = PairConfig(count=2000, on_manifold=0.0, uniform=0.0, scales=(0.05,), few_joints=share)
    pairs = make_pairs(directory, corpus, robot, config)
    return (pairs.poses != np.asarray(corpus.poses[:])).sum(axis=1)


def test_some_pushes_move_one_to_five_joints(middle: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    few = moved_joints(middle, tmp_path / "few", g1, 1.0)
    counts = np.bincount(few, minlength=6)
    assert counts[0] == 0 and len(counts) == 6  # never more than five
    assert counts[1:] / len(few) == pytest.approx(np.full(5, 0.2), abs=0.04)
    assert moved_joints(middle, tmp_path / "all", g1, 0.0).min() >= 25
    assert np.mean(moved_joints(middle, tmp_path / "some", g1, 0.3) <= 5) == pytest.approx(0.3, abs=0.04)


def test_a_robot_of_two_joints_is_pushed_too(line_pairs: Pairs) -> None:
    apart = np.abs(line_pairs.poses[:, 0] - line_pairs.poses[:, 1]) / 2**0.5
    assert line_pairs.distance == pytest.approx(apart, abs=1e-3)


def test_the_seed_decides_every_byte(made: Path, corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    make_pairs(tmp_path / "again", corpus, g1, SMALL)
    assert content(tmp_path / "again") == content(made)
    other = make_pairs(tmp_path / "other", corpus, g1, replace(SMALL, seed=1))
    assert not np.isclose(other.poses, Pairs.open(made).poses).all(axis=1).any()


def test_shards_are_different(made: Path) -> None:
    pairs = Pairs.open(made)
    pushed = pairs.poses[pairs.distance > 0]
    assert len(np.unique(pushed, axis=0)) == len(pushed)


def test_poses_are_drawn_the_same_without_a_corpus(made: Path, corpus: PoseCorpus, g1: Robot) -> None:
    stored = np.asarray(corpus.poses[:])
    drawn, own = draw_poses(lambda rows: stored[rows], len(stored), g1, SMALL, number=1, rows=400)
    pairs = Pairs.open(made)
    assert np.array_equal(drawn, pairs.poses[400:800])
    assert np.array_equal(own, pairs.distance[400:800] == 0.0)


def test_killed_half_way_and_resumed_is_the_same_to_the_byte(
    made: Path, corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    killed = tmp_path / "killed"
    shutil.copytree(made, killed)
    (killed / "pairs.json").unlink()
    (killed / "pairs-00001.npy").rename(killed / "pairs-00001.npy.tmp")
    make_pairs(killed, corpus, g1, SMALL)
    assert content(killed) == content(made)


@pytest.mark.parametrize("shard", [0, 1, 2])
def test_interrupted_and_resumed_is_the_same_to_the_byte(
    shard: int, made: Path, corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    def interrupt(done: int, total: int) -> None:
        assert total == 1000
        if done == 400 * shard:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_pairs(tmp_path / "pairs", corpus, g1, SMALL, progress=interrupt)
    with refused("not_found"):
        Pairs.open(tmp_path / "pairs")
    make_pairs(tmp_path / "pairs", corpus, g1, SMALL)
    finished = {name: data for name, data in content(tmp_path / "pairs").items() if name in content(made)}
    assert finished == content(made)


OTHERS = {
    "seed": replace(SMALL, seed=1),
    "metric": replace(SMALL, metric="l1"),
    "count": replace(SMALL, count=900),
    "scales": replace(SMALL, scales=(0.1,)),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_killed_run_is_never_finished_with_other_settings(
    other: str, made: Path, corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    """Refused, or begun anew; the shards of one run must not end up in the other's."""

    def interrupt(done: int, total: int) -> None:
        if done == 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_pairs(tmp_path / "killed", corpus, g1, SMALL, progress=interrupt)
    try:
        mixed = make_pairs(tmp_path / "killed", corpus, g1, OTHERS[other])
    except InputError as error:
        assert error.code == "exists"
        return
    fresh = make_pairs(tmp_path / "fresh", corpus, g1, OTHERS[other])
    assert np.array_equal(mixed.poses, fresh.poses) and np.array_equal(mixed.distance, fresh.distance)


@pytest.mark.parametrize("other", OTHERS)
def test_other_settings_in_a_finished_directory_are_refused(
    other: str, made: Path, corpus: PoseCorpus, g1: Robot
) -> None:
    before = content(made)
    with refused("exists", "other pairs are already here", str(made)):
        make_pairs(made, corpus, g1, OTHERS[other])
    assert content(made) == before


def test_another_corpus_in_a_finished_directory_is_refused(made: Path, middle: PoseCorpus, g1: Robot) -> None:
    with refused("exists", "corpus"):
        make_pairs(made, middle, g1, SMALL)


def test_a_finished_directory_is_accepted_without_labelling_again(
    made: Path, corpus: PoseCorpus, g1: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("pfmhr.distance.pairs.NeighbourIndex")
    said: list[str] = []
    pairs = make_pairs(made, corpus, g1, SMALL, said.append)
    assert pairs.poses.shape == (1000, 29) and said == []


def test_the_manifest_says_how_good_the_labels_are(
    corpus: PoseCorpus, tmp_path: Path, g1: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pfmhr.distance.neighbours.NeighbourIndex.recall", lambda *_: 0.875)
    said: list[str] = []
    make_pairs(tmp_path / "pairs", corpus, g1, SMALL, said.append)
    manifest = json.loads((tmp_path / "pairs" / "pairs.json").read_text())
    assert manifest["recall"] == 0.875 and said == ["0.8750 of the labels are within 1 % of brute force"]
    assert manifest["shards"] == ["pairs-00000.npy", "pairs-00001.npy", "pairs-00002.npy"]
    assert (manifest["poses"], manifest["pairs"]["count"], manifest["pairs"]["metric"]) == (600, 1000, "l2")


SHARD = "pairs-00001.npy"


def with_shard(table: NDArray[np.generic]) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / SHARD, table)


def with_manifest(**changes: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / "pairs.json").read_text())
        (folder / "pairs.json").write_text(json.dumps({**manifest, **changes}))

    return change


DAMAGES: dict[str, Callable[[Path], object]] = {
    "an empty shard": lambda folder: (folder / SHARD).write_bytes(b""),
    "half a header": lambda folder: (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:50]),
    "half a shard": lambda folder: (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:5000]),
    "text for a shard": lambda folder: (folder / SHARD).write_text("a,b,c"),
    "half a zip for a shard": lambda folder: (folder / SHARD).write_bytes(b"PK\x03\x04" + bytes(50)),
    "a folder for a shard": lambda folder: ((folder / SHARD).unlink(), (folder / SHARD).mkdir()),
    "a shard of another robot": with_shard(np.zeros((400, 7), np.float32)),
    "a shard without columns": with_shard(np.zeros(400, np.float32)),
    "a shard with rows missing": with_shard(np.zeros((3, 30), np.float32)),
    "half a manifest": lambda folder: (folder / "pairs.json").write_text("{"),
    "a list for a manifest": lambda folder: (folder / "pairs.json").write_text("[]"),
    "no text for a manifest": lambda folder: (folder / "pairs.json").write_bytes(b"\xff\xfe\x00"),
    "a foreign manifest": with_manifest(format="other"),
    "a manifest without shards": with_manifest(shards=[]),
    "a number for the shards": with_manifest(shards=3),
    "numbers for the shards": with_manifest(shards=[0, 1, 2]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_gives_a_clear_error(damage: str, made: Path, corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(made, broken)
    DAMAGES[damage](broken)
    with refused("bad_pairs", str(broken)):
        Pairs.open(broken)
    with refused("bad_pairs", str(broken)):
        make_pairs(broken, corpus, g1, SMALL)


def test_pairs_that_are_not_there_are_missed(made: Path, tmp_path: Path) -> None:
    with refused("not_found", str(tmp_path / "nowhere")):
        Pairs.open(tmp_path / "nowhere")
    shutil.copytree(made, tmp_path / "broken")
    (tmp_path / "broken" / SHARD).unlink()
    with refused("not_found", str(tmp_path / "broken")):
        Pairs.open(tmp_path / "broken")


@pytest.mark.parametrize(
    "settings",
    [
        {"count": 0},
        {"neighbours": 0},
        {"on_manifold": -0.1},
        {"uniform": -0.1},
        {"on_manifold": 0.6, "uniform": 0.5},
        {"on_manifold": float("nan")},
        {"shard": 0},
        {"shard": -5},
        {"scales": ()},
        {"scales": (-1.0,)},
        {"scales": (0.1, float("nan"))},
        {"few_joints": 3.0},
        {"few_joints": -0.5},
        {"seed": -1},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with refused("bad_config"):
        PairConfig(**settings)  # type: ignore[arg-type]


def test_an_unknown_metric_is_refused(corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    with refused("unknown_name", "cosine"):
        make_pairs(tmp_path / "pairs", corpus, g1, replace(SMALL, metric="cosine"))  # type: ignore[arg-type]


def test_the_corpus_of_another_robot_is_refused(line: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    with refused("wrong_robot", "29 joints", "2 joints"):
        make_pairs(tmp_path / "pairs", line, g1, SMALL)
    assert not (tmp_path / "pairs").exists()


def test_two_processes_cannot_label_into_one_directory(corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    def intrude(done: int, total: int) -> None:
        with refused("locked"):
            make_pairs(tmp_path / "pairs", corpus, g1, SMALL)
        intruded.append(done)

    intruded: list[int] = []
    make_pairs(tmp_path / "pairs", corpus, g1, SMALL, progress=intrude)
    assert intruded == [0, 400, 800]
