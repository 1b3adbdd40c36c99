"""Ranks among reference scores: by hand, and against counting them one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pfmhr.reward.distribution import ReferenceDistribution

from ..score.priors import refused

SCORES = st.floats(0.0, 2.0**127, width=32)
NEAR = st.sampled_from([0.0, -0.0, 1e-45, 1e-38, 0.5, 1.0, 1.0000001, 2.0, 1e10, 3e38])
REFERENCE = st.lists(st.one_of(SCORES, NEAR), min_size=1, max_size=12)


def ranks(reference: ReferenceDistribution, scores: list[float], motion: int = 0) -> tuple[list[float], list[float]]:
    values, ids = torch.tensor(scores), torch.full((len(scores),), motion)
    return reference.not_above(values, ids).tolist(), reference.not_below(values, ids).tolist()


def test_ranks_by_hand() -> None:
    reference = ReferenceDistribution([torch.tensor([3.0, 1.0, 2.0, 4.0])])
    above, below = ranks(reference, [0.0, 1.0, 1.5, 2.0, 4.0, 5.0])
    assert above == [0.0, 0.25, 0.25, 0.5, 1.0, 1.0]
    assert below == [1.0, 1.0, 0.75, 0.75, 0.25, 0.0]


def test_ties_count_on_both_sides() -> None:
    reference = ReferenceDistribution([torch.tensor([2.0, 2.0, 2.0, 1.0, 3.0])])
    above, below = ranks(reference, [2.0])
    assert above == pytest.approx([0.8]) and below == pytest.approx([0.8])


def test_negative_zero_is_zero() -> None:
    for zeros in ([0.0, 1.0], [-0.0, 1.0]):
        reference = ReferenceDistribution([torch.tensor(zeros)])
        assert ranks(reference, [0.0, -0.0]) == ([0.5, 0.5], [1.0, 1.0])


def test_a_reference_of_one_score_is_a_step() -> None:
    reference = ReferenceDistribution([torch.tensor([0.3])])
    assert ranks(reference, [0.2, 0.3, 0.4]) == ([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])


def test_neighbouring_numbers_are_told_apart() -> None:
    one = np.float32(1.0)
    before, after = float(np.nextafter(one, np.float32(0))), float(np.nextafter(one, np.float32(2)))
    reference = ReferenceDistribution([torch.tensor([1.0])])
    assert ranks(reference, [before, 1.0, after]) == ([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])


def test_the_largest_scores_are_ranked_within_their_own_motion() -> None:
    """The keys of motion 0 all lie below those of motion 1, even at infinity."""
    reference = ReferenceDistribution([torch.tensor([1.0, 3.4e38]), torch.tensor([0.0, 1e-30, 2.0])])
    assert ranks(reference, [float("inf"), 3.4e38, 1e38], 0) == ([1.0, 1.0, 0.5], [0.0, 0.5, 0.5])
    assert ranks(reference, [float("inf"), 2.0], 1)[0] == [1.0, 1.0]
    assert ranks(reference, [0.0], 1)[0] == pytest.approx([1 / 3])


def test_float64_scores_are_compared_as_the_float32_they_are_kept_as() -> None:
    reference = ReferenceDistribution([torch.tensor([0.1, 0.2], dtype=torch.float64)])
    assert reference.not_above(torch.tensor([0.1, 0.2], dtype=torch.float64), torch.zeros(2).long()).tolist() == [
        0.5,
        1,
    ]
    assert reference.not_above(torch.tensor([0.1, 0.2]), torch.zeros(2).long()).tolist() == [0.5, 1]


def test_no_scores_have_no_ranks() -> None:
    reference = ReferenceDistribution([torch.tensor([1.0])])
    assert ranks(reference, []) == ([], [])


def test_every_motion_is_kept_sorted_and_counted() -> None:
    reference = ReferenceDistribution([torch.tensor([2.0, 1.0]), torch.tensor([5.0])])
    assert len(reference) == 2
    assert [values.tolist() for values in reference.scores] == [[1.0, 2.0], [5.0]]


def counted(references: list[list[float]], scores: list[float], motions: list[int]) -> tuple[list[float], list[float]]:
    """The shares, one comparison at a time."""
    kept = [np.array(values, dtype=np.float32) for values in references]
    pairs = list(zip(np.array(scores, dtype=np.float32), motions, strict=True))
    return (
        [float((kept[motion] <= score).mean()) for score, motion in pairs],
        [float((kept[motion] >= score).mean()) for score, motion in pairs],
    )


@given(st.lists(REFERENCE, min_size=1, max_size=5), st.data())
def test_ranks_equal_counting(references: list[list[float]], data: st.DataObject) -> None:
    known = st.sampled_from([value for values in references for value in values])
    scores = data.draw(st.lists(st.one_of(SCORES, NEAR, known), max_size=20))
    motions = [data.draw(st.integers(0, len(references) - 1)) for _ in scores]
    reference = ReferenceDistribution([torch.tensor(values) for values in references])
    values, ids = torch.tensor(scores), torch.tensor(motions, dtype=torch.int64)
    above, below = counted(references, scores, motions)
    assert reference.not_above(values, ids).tolist() == pytest.approx(above, abs=1e-6)
    assert reference.not_below(values, ids).tolist() == pytest.approx(below, abs=1e-6)


@given(st.integers(0, 10_000))
def test_motions_of_very_different_scales_do_not_mix(seed: int) -> None:
    generator = np.random.default_rng(seed)
    scales = 10.0 ** generator.uniform(-30, 30, size=6)
    references = [(scale * generator.exponential(size=generator.integers(1, 40))).tolist() for scale in scales]
    motions = generator.integers(0, 6, size=50)
    scores = (scales[motions] * generator.exponential(size=50)).tolist()
    reference = ReferenceDistribution([torch.tensor(values) for values in references])
    above, below = counted(references, scores, motions.tolist())
    assert reference.not_above(torch.tensor(scores), torch.from_numpy(motions)).tolist() == pytest.approx(
        above, abs=1e-6
    )
    assert reference.not_below(torch.tensor(scores), torch.from_numpy(motions)).tolist() == pytest.approx(
        below, abs=1e-6
    )


@given(REFERENCE, st.lists(SCORES, min_size=2, max_size=20))
def test_percentiles_rise_with_the_score_and_stay_between_0_and_1(reference: list[float], scores: list[float]) -> None:
    above, below = map(torch.tensor, ranks(ReferenceDistribution([torch.tensor(reference)]), sorted(scores)))
    assert bool((above.diff() >= 0).all()) and bool((below.diff() <= 0).all())
    for share in (above, below):
        assert bool((share >= 0).all()) and bool((share <= 1).all())


@pytest.mark.parametrize(
    "scores",
    [
        [torch.tensor([])],
        [torch.tensor([1.0]), torch.tensor([])],
        [torch.tensor([1.0, -0.1])],
        [torch.tensor([1.0, float("nan")])],
        [torch.tensor([[1.0, 2.0]])],
        [torch.tensor(1.0)],
        [],
    ],
    ids=["empty", "one empty", "negative", "NaN", "table", "scalar", "no motion"],
)
def test_what_is_no_reference_is_refused(scores: list[Tensor]) -> None:
    with refused("bad_calibration"):
        ReferenceDistribution(scores)


@pytest.mark.parametrize("score", [-1.0, float("nan"), -float("nan")])
def test_the_rank_of_what_is_no_score_stays_between_0_and_1(score: float) -> None:
    """NaN comes with either sign: on x86, infinity minus infinity gives the negative one."""
    reference = ReferenceDistribution([torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])])
    for motion in (0, 1):
        above, below = ranks(reference, [score], motion)
        assert 0.0 <= above[0] <= 1.0 and 0.0 <= below[0] <= 1.0
