"""Distributions whose geometry is known: the score against their posterior covariance (Eq. 11, 13–15)."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pfmhr.prior.mixture import GaussianMixture
from pfmhr.score import PoseGeometryScore
from pfmhr.score.autodiff import AutodiffEngine
from pfmhr.score.engine import make_engine

from .priors import GaussianDenoiser, HalfSquare, Matrix, MixtureDenoiser, around, float64, normal

CPU = torch.device("cpu")
DT = 0.02
CENTRE, SCALE = (0.3, -0.2, 0.0, 1.0), (0.5, 2.0, 1.0, 0.25)


def unit_direction(before: Tensor, after: Tensor, scale: tuple[float, ...], stabiliser: float = 1e-6) -> Tensor:
    velocity = (after - before) / (float64(scale) * DT)
    return velocity / (velocity.square().sum(dim=1, keepdim=True) + stabiliser).sqrt()


def test_one_joint_by_hand() -> None:
    """x ~ N(2, 4) at t = 0.5: posterior variance 0.8, Jacobian 0.5/0.25 · 0.8 = 1.6. v = 0.01/(0.5 · 0.02) = 1."""
    denoiser = GaussianDenoiser(float64([2.0]), float64([[4.0]]))
    score = PoseGeometryScore(around(denoiser, [0.1], [0.5]), 0.5, precision="float64")
    before = float64([[0.7]])
    assert score(before, before + 0.01, DT).item() == pytest.approx(2.56 / (1 + 1e-6), rel=1e-12)


@pytest.mark.parametrize("flow_time", [0.1, 0.5, 0.75, 0.95, 0.999])
def test_score_of_a_gaussian_is_exact(flow_time: float) -> None:
    """(t/(1 − t)²)² dᵀC²d with C = (Σ⁻¹ + t²/(1 − t)² I)⁻¹, at every pose and for every noise."""
    root = normal(4, 4, seed=1)
    covariance = root @ root.T + 0.05 * torch.eye(4, dtype=torch.float64)
    prior = around(GaussianDenoiser(normal(4, seed=2), covariance), CENTRE, SCALE)
    score = PoseGeometryScore(prior, flow_time, samples=3, precision="float64")
    before = normal(50, 4, seed=3)
    after = before + 0.02 * normal(50, 4, seed=4)
    spread = (1 - flow_time) ** 2
    precision = torch.linalg.inv(covariance) + flow_time**2 / spread * torch.eye(4, dtype=torch.float64)
    posterior = torch.linalg.inv(precision)
    along = unit_direction(before, after, SCALE)
    expected = (flow_time / spread) ** 2 * torch.einsum("ni,ij,nj->n", along, posterior @ posterior, along)
    assert torch.allclose(score(before, after, DT), expected, rtol=1e-8)


@pytest.mark.parametrize("flow_time", [0.3, 0.75, 0.9])
def test_score_of_a_mixture_is_exact(flow_time: float) -> None:
    mixture = GaussianMixture.random(3, 4, seed=7)
    prior = around(MixtureDenoiser(mixture), CENTRE, SCALE)
    score = PoseGeometryScore(prior, flow_time, samples=2, precision="float64")
    clean = mixture.sample(40, seed=8)
    before, noise = prior.denormalise(clean), normal(2, 40, 4, seed=9)
    after = before + 0.02 * normal(40, 4, seed=10)
    along = unit_direction(before, after, SCALE)
    singles = []
    for sample in noise:
        covariance = mixture.posterior(flow_time * clean + (1 - flow_time) * sample, flow_time)[1]
        response = flow_time / (1 - flow_time) ** 2 * torch.einsum("nij,nj->ni", covariance, along)
        singles.append(response.square().sum(dim=1))
    assert torch.allclose(score(before, after, DT, noise=noise), torch.stack(singles).mean(dim=0), rtol=1e-7)
    assert not torch.allclose(singles[0], singles[1], rtol=0.01)  # unlike one Gaussian, this depends on the query


def test_the_geometry_gives_back_the_posterior_covariance() -> None:
    mixture = GaussianMixture.random(3, 4, seed=5)
    score = PoseGeometryScore(around(MixtureDenoiser(mixture), (0.0,) * 4), 0.6, precision="float64")
    poses, noise = mixture.sample(20, seed=6), normal(1, 20, 4, seed=7)
    expected = mixture.posterior(0.6 * poses + 0.4 * noise[0], 0.6)[1]
    geometry = score.geometry(poses, noise=noise)
    assert torch.allclose(geometry.covariance, expected, atol=1e-9)
    assert float(geometry.asymmetry.max()) < 1e-9


def test_a_free_joint_scores_one_over_t_squared_and_a_fixed_one_nothing() -> None:
    variances = float64([[1e12, 0.0], [0.0, 0.0]])
    prior = around(GaussianDenoiser(float64([0.0, 0.0]), variances), (0.0, 0.0))
    score = PoseGeometryScore(prior, 0.75, precision="float64")
    before, after = float64([[0.0, 0.0], [0.0, 0.0]]), float64([[1.0, 0.0], [0.0, 1.0]])
    scores = score(before, after, DT)
    assert scores.tolist() == pytest.approx([1 / 0.75**2, 0.0], abs=1e-8)


def test_a_step_by_hand() -> None:
    """F = z²/2, so J = diag(z). z = 0.75 (1, 2) + 0.25 (4, −4) = (1.75, 0.5); d = (0.6, −0.8)."""
    score = PoseGeometryScore(around(HalfSquare(), (0.0, 0.0)), precision="float64")
    before, after = float64([[1.0, 2.0]]), float64([[1.3, 1.6]])
    noise = float64([[[4.0, -4.0]]])
    assert score(before, after, 0.01, noise=noise).item() == pytest.approx(1.05**2 + 0.4**2, rel=1e-8)
    assert score.contributions(before, after, 0.01, noise=noise)[0].tolist() == pytest.approx([1.1025, 0.16], rel=1e-8)


def test_samples_are_averaged_by_hand() -> None:
    """The same step with the noises (4, −4) and (0, 2): z = (1.75, 0.5) and (0.75, 2)."""
    score = PoseGeometryScore(around(HalfSquare(), (0.0, 0.0)), samples=2, precision="float64")
    before, after = float64([[1.0, 2.0]]), float64([[1.3, 1.6]])
    noise = float64([[[4.0, -4.0]], [[0.0, 2.0]]])
    expected = (1.05**2 + 0.4**2 + 0.45**2 + 1.6**2) / 2
    assert score(before, after, 0.01, noise=noise).item() == pytest.approx(expected, rel=1e-8)


def test_the_previous_pose_is_the_one_that_is_corrupted() -> None:
    """J = diag(z): a step from 0 to 1 rad is asked about z = 0.5 · 0, not 0.5 · 1."""
    score = PoseGeometryScore(around(HalfSquare(), (0.0,)), 0.5, precision="float64")
    zero, one, noise = float64([[0.0]]), float64([[1.0]]), float64([[[0.0]]])
    assert score(zero, one, DT, noise=noise).item() == 0.0
    assert score(one, zero, DT, noise=noise).item() == pytest.approx(0.25, rel=1e-6)


def test_the_stabiliser_silences_vanishing_changes() -> None:
    """J = 1: the score is v²/(v² + η). With η = 0.01 and v = 0.1, one half; with no change at all, nothing."""
    score = PoseGeometryScore(around(Matrix([[1.0]]), (0.0,)), stabiliser=0.01, precision="float64")
    before = float64([[0.0], [0.0]])
    after = float64([[0.1 * DT], [0.0]])
    assert score(before, after, DT).tolist() == pytest.approx([0.5, 0.0], rel=1e-12)


def test_a_foreign_module_is_differentiated_automatically() -> None:
    prior = around(Matrix([[1.0]]), (0.0,))
    assert isinstance(make_engine(prior, 0.75, CPU), AutodiffEngine)
    prior.denoiser = Matrix([[1.0]])  # type: ignore[assignment]  # not even a Denoiser
    assert isinstance(make_engine(prior, 0.75, CPU, precision="float64"), AutodiffEngine)
