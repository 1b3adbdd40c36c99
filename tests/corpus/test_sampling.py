"""Random rows: a function of seed and step, whatever the number of processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.sampling import batch_rows, take_rows
from pfmhr.errors import InputError
from pfmhr.robots import Robot


@given(st.integers(1, 10**8), st.integers(0, 10**9), st.sampled_from([1, 2, 3, 4, 6]), st.integers(0, 2**63))
def test_the_union_over_processes_is_the_whole_batch(total: int, step: int, world: int, seed: int) -> None:
    whole = batch_rows(total, step, 24, seed)
    parts = [batch_rows(total, step, 24, seed, rank, world) for rank in range(world)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert whole.min() >= 0 and whole.max() < total


def test_steps_and_seeds_give_different_batches() -> None:
    batches = {batch_rows(10**6, step, 8, seed).tobytes() for step in range(20) for seed in range(20)}
    assert len(batches) == 400


def test_every_row_is_equally_likely() -> None:
    counts = np.bincount(np.concatenate([batch_rows(10, step, 1000, 0) for step in range(100)]), minlength=10)
    # 10,000 expected each, standard deviation 95: five of those either way.
    assert np.abs(counts - 10_000).max() < 475


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 2**32))
def test_rows_of_several_files_are_those_of_their_concatenation(lengths: list[int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    shards = [generator.normal(size=(length, 3)).astype(np.float32) for length in lengths]
    whole = np.concatenate(shards)
    rows = generator.integers(0, len(whole), size=50)
    assert np.array_equal(take_rows(shards, rows), whole[rows])


def test_a_batch_holds_the_drawn_rows(tmp_path: Path, g1: Robot) -> None:
    poses = np.arange(100 * 29, dtype=np.float32).reshape(100, 29)
    corpus = PoseCorpus.from_array(tmp_path / "corpus", poses, robot=g1)
    assert np.array_equal(corpus.batch(7, 16, seed=3), poses[batch_rows(100, 7, 16, 3)])
    assert corpus.batch(7, 16, seed=3, rank=1, world=2).shape == (8, 29)


@pytest.mark.parametrize(("size", "rank", "world"), [(0, 0, 1), (10, 0, 3), (10, 2, 2), (10, -1, 2)])
def test_an_uneven_batch_is_refused(size: int, rank: int, world: int) -> None:
    with pytest.raises(InputError):
        batch_rows(100, 0, size, 0, rank, world)


def test_rows_outside_the_corpus_are_refused(tmp_path: Path, g1: Robot) -> None:
    corpus = PoseCorpus.from_array(tmp_path / "corpus", np.zeros((10, 29)), robot=g1)
    for row in (-1, 10):
        with pytest.raises(InputError):
            corpus.rows([row])


def test_a_corpus_is_sent_to_another_process_by_its_path(tmp_path: Path, g1: Robot) -> None:
    """A loader's worker opens it again: its poses are not copied."""
    poses = np.random.default_rng(0).normal(size=(20_000, 29)).astype(np.float32)
    corpus = PoseCorpus.from_array(tmp_path / "corpus", poses, robot=g1)
    sent = pickle.dumps(corpus)
    assert len(sent) < 10_000 < poses.nbytes
    assert np.array_equal(pickle.loads(sent).batch(7, 16, seed=3), corpus.batch(7, 16, seed=3))
