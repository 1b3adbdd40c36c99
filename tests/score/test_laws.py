"""Laws of the Pose Geometry Score that hold for every prior, pose and change."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pfmhr.prior import PosePrior
from pfmhr.prior.normalisation import Normalisation
from pfmhr.score import PoseGeometryScore, pose_geometry

from .priors import normal, random_prior, seeded, transitions

DT = 0.02
JOINTS = 6
SEEDS = st.integers(0, 10_000)


@cache
def score(samples: int = 1) -> PoseGeometryScore:
    return PoseGeometryScore(random_prior(JOINTS), samples=samples, precision="float64")


def same(ours: Tensor, expected: Tensor) -> bool:
    return torch.allclose(ours, expected, rtol=1e-9, atol=1e-12)


@given(SEEDS)
def test_the_sign_of_a_change_does_not_matter(seed: int) -> None:
    before, after, noise = transitions(score().prior, 3, seed)
    backwards = 2 * before - after
    assert same(score()(before, backwards, DT, noise=noise), score()(before, after, DT, noise=noise))


@given(SEEDS, st.sets(st.integers(0, JOINTS - 1)))
def test_flipping_some_joints_is_flipping_all_others(seed: int, joints: set[int]) -> None:
    before, after, noise = transitions(score().prior, 3, seed)
    signs = torch.ones(JOINTS, dtype=torch.float64)
    signs[list(joints)] = -1.0
    change = after - before
    flipped, rest = (score()(before, before + sign * signs * change, DT, noise=noise) for sign in (1.0, -1.0))
    assert same(flipped, rest)


def test_flipping_some_joints_does_change_the_score() -> None:
    before, after, noise = transitions(score().prior, 20)
    signs = torch.ones(JOINTS, dtype=torch.float64)
    signs[:3] = -1.0
    flipped = score()(before, before + signs * (after - before), DT, noise=noise)
    assert float((flipped / score()(before, after, DT, noise=noise) - 1).abs().min()) > 1e-3


@given(SEEDS, st.floats(1e-3, 1e3), st.floats(1e-4, 10.0))
def test_the_size_of_a_change_matters_through_the_stabiliser_alone(seed: int, factor: float, speed: float) -> None:
    """s = ‖ξ‖²/(‖ξ‖² + η) · ‖J u‖² with u of unit length."""
    prior = score().prior
    before, after, noise = transitions(prior, 3, seed)
    scale = prior.normalisation.tensors(before)[1]
    unit = (after - before) / scale
    unit = unit / unit.norm(dim=1, keepdim=True)

    def at(speed: float) -> Tensor:
        return score()(before, before + speed * DT * unit * scale, DT, noise=noise)

    def share(speed: float) -> float:
        return speed**2 / (speed**2 + 1e-6)

    expected = share(factor * speed) / share(speed)
    assert torch.allclose(at(factor * speed) / at(speed), torch.full((3,), expected).double(), rtol=1e-6)


@given(SEEDS, st.floats(0.01, 100.0))
def test_only_the_velocity_matters_not_the_time_step(seed: int, factor: float) -> None:
    before, after, noise = transitions(score().prior, 3, seed)
    slower = before + factor * (after - before)
    expected = score()(before, after, DT, noise=noise)
    assert torch.allclose(score()(before, slower, factor * DT, noise=noise), expected, rtol=1e-7)


def permuted(prior: PosePrior, order: list[int]) -> PosePrior:
    """The same prior with its joints in another order."""
    network = prior.denoiser.network
    with torch.no_grad():
        network.input.weight.copy_(network.input.weight[:, order].clone())
        network.output.weight.copy_(network.output.weight[order].clone())
        network.output.bias.copy_(network.output.bias[order].clone())
    units = prior.normalisation
    shuffled = (tuple(values[place] for place in order) for values in (units.centre, units.scale))
    names = tuple(prior.joint_names[place] for place in order)
    return PosePrior(prior.config, Normalisation(units.kind, *shuffled), prior.robot, names, prior.denoiser)


@given(st.permutations(range(JOINTS)), SEEDS)
def test_the_order_of_the_joints_does_not_matter(order: list[int], seed: int) -> None:
    other = PoseGeometryScore(permuted(random_prior(JOINTS), order), precision="float64")
    before, after, noise = transitions(score().prior, 3, seed)
    shuffled = before[:, order], after[:, order]
    assert same(other(*shuffled, DT, noise=noise[..., order]), score()(before, after, DT, noise=noise))
    parts = score().contributions(before, after, DT, noise=noise)
    assert same(other.contributions(*shuffled, DT, noise=noise[..., order]), parts[:, order])


@given(SEEDS, st.integers(2, 4))
def test_several_samples_give_the_mean_of_single_ones(seed: int, samples: int) -> None:
    before, after, _ = transitions(score().prior, 3, seed)
    noise = normal(samples, 3, JOINTS, seed=seed + 1)
    singles = torch.stack([score()(before, after, DT, noise=sample[None]) for sample in noise])
    assert same(score(samples)(before, after, DT, noise=noise), singles.mean(dim=0))
    parts = torch.stack([score().contributions(before, after, DT, noise=sample[None]) for sample in noise])
    assert same(score(samples).contributions(before, after, DT, noise=noise), parts.mean(dim=0))


@given(SEEDS)
def test_the_parts_by_joint_sum_to_the_score(seed: int) -> None:
    before, after, noise = transitions(score().prior, 3, seed)
    parts = score().contributions(before, after, DT, noise=noise)
    assert parts.shape == (3, JOINTS) and bool((parts >= 0).all())
    assert same(parts.sum(dim=1), score()(before, after, DT, noise=noise))


@given(SEEDS, st.integers(1, 40))
def test_rows_are_scored_independently(seed: int, count: int) -> None:
    before, after, noise = transitions(score().prior, count, seed)
    row = seed % count
    alone = score()(before[row : row + 1], after[row : row + 1], DT, noise=noise[:, row : row + 1])
    assert same(alone, score()(before, after, DT, noise=noise)[row : row + 1])


def test_a_generator_makes_scores_repeatable() -> None:
    before, after, _ = transitions(score().prior, 20)
    first, again, other = (score()(before, after, DT, generator=seeded(seed)) for seed in (1, 1, 2))
    assert torch.allclose(first, again, rtol=1e-4, atol=1e-6)
    assert float((first / other - 1).abs().max()) > 0.01


def test_without_a_generator_every_call_draws_anew() -> None:
    before, after, _ = transitions(score().prior, 20)
    first, second = score()(before, after, DT), score()(before, after, DT)
    assert float((first / second - 1).abs().max()) > 0.01


def test_drawn_noise_is_standard_normal_and_of_its_own_for_every_row() -> None:
    """The mean score over draws equals the mean over standard normal noise drawn here."""
    before, after, _ = transitions(score().prior, 1)
    before, after = before.expand(20_000, -1), after.expand(20_000, -1)
    drawn = score()(before, after, DT, generator=seeded(3))
    ours = score()(before, after, DT, noise=normal(1, 20_000, JOINTS, seed=4))
    error = float((drawn.var() / 20_000 + ours.var() / 20_000).sqrt())
    assert abs(float(drawn.mean() - ours.mean())) < 4 * error
    assert len(drawn.unique()) > 19_000


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("chunk", [16, 64])
@pytest.mark.parametrize("count", [128, 150, 161])
def test_chunks_do_not_show(samples: int, chunk: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    prior = random_prior(18, dtype=torch.float32)
    made = PoseGeometryScore(prior, samples=samples)
    before, after, _ = transitions(prior, count)
    noise = normal(samples, count, 18, seed=5)

    def results() -> list[Tensor]:
        return [
            made(before, after, DT, generator=seeded(7)),
            made(before, after, DT, noise=noise),
            made.contributions(before, after, DT, generator=seeded(7)),
            made.geometry(before, generator=seeded(7)).jacobian,
        ]

    whole = results()
    monkeypatch.setattr(pose_geometry, "POSES_PER_CHUNK", chunk)
    for ours, expected in zip(results(), whole, strict=True):
        assert torch.allclose(ours, expected, rtol=1e-4, atol=1e-5)
