"""Subsets: nested, balanced, of exactly the size asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.corpus import BuildConfig, PoseCorpus, add_to_corpus, build_corpus, make_subset
from pfmhr.corpus.subsets import quotas
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot

counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50), min_size=1)


@given(counts, st.data())
def test_quotas_add_up_stay_possible_and_grow_with_size(available: dict[str, int], data: st.DataObject) -> None:
    total = sum(available.values())
    small, large = sorted(data.draw(st.lists(st.integers(0, total), min_size=2, max_size=2)))
    few, many = quotas(available, small), quotas(available, large)
    assert (sum(few.values()), sum(many.values())) == (small, large)
    assert all(few[name] <= many[name] <= available[name] for name in available)


def test_quotas_by_hand() -> None:
    available = {"dance": 100, "walk": 10, "jump": 40}
    assert quotas(available, 30) == {"dance": 10, "walk": 10, "jump": 10}
    assert quotas(available, 61) == {"dance": 26, "walk": 10, "jump": 25}
    assert quotas(available, 150) == available


@pytest.fixture
def corpus(tmp_path: Path, g1: Robot, make_walk: Callable[..., Motion]) -> PoseCorpus:
    clips = [
        make_walk(frames=frames, stride=0.2 + 0.01 * number, name=f"{category}-{number}")
        for category, lengths in (("dance", (60, 40)), ("walk", (20,)), ("jump", (30, 30)))
        for number, frames in enumerate(lengths)
    ]
    return build_corpus(tmp_path / "whole", clips, g1, BuildConfig(shard_rows=50))


def test_subsets_of_one_seed_nest_and_the_smallest_is_balanced(corpus: PoseCorpus, tmp_path: Path) -> None:
    sets = {size: make_subset(corpus, tmp_path / str(size), size) for size in (45, 90, 180)}
    rows = {size: {row.tobytes() for row in np.asarray(subset.poses)} for size, subset in sets.items()}
    assert rows[45] < rows[90] < rows[180]
    assert sets[45].manifest.categories == {"dance": 15, "walk": 15, "jump": 15}
    assert np.array_equal(np.asarray(sets[180].poses), np.asarray(corpus.poses))


def test_a_clip_can_be_added_to_a_subset_that_has_a_part_of_it(
    corpus: PoseCorpus, g1: Robot, make_walk: Callable[..., Motion], tmp_path: Path
) -> None:
    """Of a subset of everything all of it is there, and nothing is added."""
    walk = make_walk(frames=20, stride=0.2, name="walk-0")
    part = make_subset(corpus, tmp_path / "part", 45)
    whole = make_subset(corpus, tmp_path / "whole-again", 180)
    assert [each.digest for each in part.sources] == [""] * 5
    assert len(add_to_corpus(part.path, [walk], g1)) == 65
    assert len(add_to_corpus(whole.path, [walk], g1)) == 180


def test_sources_of_a_subset_say_where_its_rows_lie(corpus: PoseCorpus, tmp_path: Path) -> None:
    subset = make_subset(corpus, tmp_path / "subset", 77, seed=3)
    whole = {
        source.path: np.asarray(corpus.poses[source.start : source.start + source.rows]) for source in corpus.sources
    }
    assert sum(source.rows for source in subset.sources) == len(subset) == 77
    for source in subset.sources:
        for pose in subset.poses[source.start : source.start + source.rows]:
            assert (whole[source.path] == pose).all(axis=1).any()


def test_another_seed_is_another_subset(corpus: PoseCorpus, tmp_path: Path) -> None:
    first, second = (make_subset(corpus, tmp_path / f"s{seed}", 50, seed=seed) for seed in (0, 1))
    assert not np.array_equal(np.asarray(first.poses), np.asarray(second.poses))


def test_categories_can_be_chosen(corpus: PoseCorpus, tmp_path: Path) -> None:
    subset = make_subset(corpus, tmp_path / "some", 60, categories=["dance", "jump"])
    assert subset.manifest.categories == {"dance": 30, "jump": 30}
    with pytest.raises(InputError, match="dance, jump, walk"):
        make_subset(corpus, tmp_path / "none", 10, categories=["swim"])


@pytest.mark.parametrize("size", [0, 181])
def test_an_impossible_size_is_refused(size: int, corpus: PoseCorpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 to 180"):
        make_subset(corpus, tmp_path / "subset", size)


def test_without_stratification_shares_follow_the_corpus(corpus: PoseCorpus, tmp_path: Path) -> None:
    subset = make_subset(corpus, tmp_path / "plain", 90, stratify=False)
    shares = subset.manifest.categories
    assert sum(shares.values()) == 90
    assert shares["dance"] > shares["walk"]
