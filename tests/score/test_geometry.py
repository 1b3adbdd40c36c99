"""The whole Jacobian: what it says by hand, and how the scores follow from it."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.prior.jacobian import jacobian
from pfmhr.score import PoseGeometry, PoseGeometryScore

from .priors import HalfSquare, Matrix, around, float64, normal, random_prior, refused, transitions

DT = 0.02
JOINTS = 5
SEEDS = st.integers(0, 10_000)


@cache
def score() -> PoseGeometryScore:
    return PoseGeometryScore(random_prior(JOINTS), precision="float64")


def sheared(t_eval: float = 0.5) -> PoseGeometry:
    """F(z) = A z with A = [[1, 2], [0, 1]], joints in units of 0.5 and 2 rad."""
    prior = around(Matrix([[1.0, 2.0], [0.0, 1.0]]), (0.0, 0.0), (0.5, 2.0))
    return PoseGeometryScore(prior, t_eval, precision="float64").geometry(float64([[0.1, -0.4]]))


def test_the_jacobian_by_hand() -> None:
    assert torch.allclose(sheared().jacobian, float64([[[1.0, 2.0], [0.0, 1.0]]]))
    assert torch.allclose(sheared().symmetric, float64([[[1.0, 1.0], [1.0, 1.0]]]))


def test_the_asymmetry_by_hand() -> None:
    """‖J − Jᵀ‖ = √8, ‖J‖ = √6."""
    assert sheared().asymmetry.item() == pytest.approx((8 / 6) ** 0.5)


def test_the_modes_by_hand() -> None:
    """[[1, 1], [1, 1]]: eigenvalue 2 along (1, 1)/√2, 0 across."""
    geometry = sheared()
    assert geometry.eigenvalues[0].tolist() == pytest.approx([2.0, 0.0], abs=1e-12)
    assert geometry.modes[0, :, 0].abs().tolist() == pytest.approx([0.5**0.5, 0.5**0.5])
    assert float(geometry.modes[0, :, 0].prod()) > 0 > float(geometry.modes[0, :, 1].prod())
    assert geometry.modes_in_radians[0, :, 0].abs().tolist() == pytest.approx([0.5 * 0.5**0.5, 2.0 * 0.5**0.5])


def test_the_response_by_joint_by_hand() -> None:
    """Columns (1, 0) and (2, 1)."""
    assert sheared().joint_response[0].tolist() == pytest.approx([1.0, 5.0])


def test_the_covariance_by_hand() -> None:
    """(1 − t)²/t: 0.5 at t = 0.5, 0.05 at t = 0.8."""
    assert torch.allclose(sheared(0.5).covariance, torch.full((1, 2, 2), 0.5).double())
    assert torch.allclose(sheared(0.8).covariance, torch.full((1, 2, 2), 0.05).double())


def test_the_jacobian_is_averaged_over_samples() -> None:
    """J = diag(z) at z = 0.5 · 2 + 0.5 · noise with the noises 1 and 5: (1.5 + 3.5)/2."""
    made = PoseGeometryScore(around(HalfSquare(), (0.0,)), 0.5, samples=2, precision="float64")
    geometry = made.geometry(float64([[2.0]]), noise=float64([[[1.0]], [[5.0]]]))
    assert geometry.jacobian.item() == pytest.approx(2.5)


def test_the_jacobian_is_the_denoisers_at_the_corrupted_pose() -> None:
    prior, poses, noise = score().prior, normal(6, JOINTS, seed=1), normal(1, 6, JOINTS, seed=2)
    noisy = 0.75 * prior.normalise(poses) + 0.25 * noise[0]
    expected = jacobian(prior.denoiser, noisy, 0.75)
    assert torch.allclose(score().geometry(poses, noise=noise).jacobian, expected, rtol=1e-9, atol=1e-11)


@given(SEEDS)
def test_a_score_is_the_squared_length_of_the_jacobian_times_the_direction(seed: int) -> None:
    before, after, noise = transitions(score().prior, 3, seed)
    whole = score().geometry(before, noise=noise).jacobian
    along, _ = score().direction(before, after, DT)
    response = torch.einsum("nij,nj->ni", whole, along)
    assert torch.allclose(score()(before, after, DT, noise=noise), response.square().sum(dim=1), rtol=1e-9)
    parts = score().contributions(before, after, DT, noise=noise)
    assert torch.allclose(parts, response.square(), rtol=1e-7, atol=1e-12)


@given(SEEDS)
def test_no_score_exceeds_the_largest_singular_value_squared(seed: int) -> None:
    before, after, noise = transitions(score().prior, 3, seed)
    bound = torch.linalg.matrix_norm(score().geometry(before, noise=noise).jacobian, ord=2).square()
    assert bool((score()(before, after, DT, noise=noise) <= bound * (1 + 1e-9)).all())


@given(SEEDS)
def test_columns_give_the_scores_of_single_joints(seed: int) -> None:
    poses, noise = normal(3, JOINTS, seed=seed), normal(1, 3, JOINTS, seed=seed + 1)
    axes = torch.eye(JOINTS, dtype=torch.float64)[:, None].expand(JOINTS, 3, JOINTS)
    scores = score().along(poses, axes, noise=noise)
    assert scores.shape == (JOINTS, 3)
    assert torch.allclose(score().geometry(poses, noise=noise).joint_response.T, scores, rtol=1e-10)


@given(SEEDS)
def test_modes_are_an_ordered_orthonormal_basis_of_the_symmetric_part(seed: int) -> None:
    poses = normal(3, JOINTS, seed=seed)
    geometry = score().geometry(poses, noise=normal(1, 3, JOINTS, seed=seed + 1))
    assert bool((geometry.eigenvalues.diff(dim=1) <= 0).all())
    identity = torch.eye(JOINTS, dtype=torch.float64).expand(3, JOINTS, JOINTS)
    assert torch.allclose(geometry.modes.transpose(1, 2) @ geometry.modes, identity, atol=1e-10)
    rebuilt = geometry.modes @ torch.diag_embed(geometry.eigenvalues) @ geometry.modes.transpose(1, 2)
    assert torch.allclose(rebuilt, geometry.symmetric, atol=1e-10)


def test_many_directions_at_one_query_equal_one_at_a_time() -> None:
    poses, noise, directions = normal(4, JOINTS, seed=1), normal(1, 4, JOINTS, seed=2), normal(7, 4, JOINTS, seed=3)
    together = score().along(poses, directions, noise=noise)
    singles = torch.cat([score().along(poses, along[None], noise=noise) for along in directions])
    assert together.shape == (7, 4) and torch.allclose(together, singles, rtol=1e-10)


def test_the_direction_by_hand() -> None:
    """Change (0.003, −0.016) rad in units (0.5, 2.0) over 0.002 s: v = (3, −4)."""
    prior = around(Matrix([[1.0, 0.0], [0.0, 1.0]]), (7.0, 8.0), (0.5, 2.0))
    made = PoseGeometryScore(prior, stabiliser=11.0, precision="float64")
    along, finite = made.direction(float64([[1.0, 1.0]]), float64([[1.003, 0.984]]), 0.002)
    assert along[0].tolist() == pytest.approx([3 / 6, -4 / 6], rel=1e-9)  # √(9 + 16 + 11) = 6
    assert finite.tolist() == [True]


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 5), (2, 4, 4), (1, 2, 4, 5)])
def test_directions_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with refused("bad_shape"):
        score().along(normal(4, JOINTS), torch.zeros(shape))
