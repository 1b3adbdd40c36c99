"""The mixture's posterior, the Jacobian, the comparison of poses: each against something independent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr.prior import PriorConfig, TrainConfig, preset
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.evaluation import compare_poses, jacobian_shape
from pfmhr.prior.jacobian import jacobian
from pfmhr.prior.mixture import GaussianMixture
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_denoiser
from pfmhr.robots import Robot

from .closed_form import closed_form_check, compare
from .conftest import TOY


def test_one_gaussian_has_the_textbook_posterior() -> None:
    """x ~ N(2, 4), z = x/2 + ε/2: gain t s²/(t² s² + (1−t)²) = 0.5·4/(1.25) = 1.6, variance 4 − 0.5·1.6·4 = 0.8."""
    mixture = GaussianMixture(
        torch.ones(1, dtype=torch.float64),
        torch.tensor([[2.0]], dtype=torch.float64),
        torch.tensor([[[4.0]]], dtype=torch.float64),
    )
    mean, covariance = mixture.posterior(torch.tensor([[3.0]], dtype=torch.float64), 0.5)
    assert mean.item() == pytest.approx(2.0 + 1.6 * (3.0 - 1.0))
    assert covariance.item() == pytest.approx(0.8)


@pytest.mark.parametrize("flow_time", [0.3, 0.75, 0.9])
def test_the_posterior_means_slope_is_the_scaled_covariance(flow_time: float) -> None:
    """Eq. 11, J = t/(1 − t)²·Cov, by central differences."""
    mixture = GaussianMixture.random(3, 4, seed=5)
    noisy = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    _, covariance = mixture.posterior(noisy, flow_time)
    for column in range(4):
        step = 1e-5 * torch.eye(4, dtype=torch.float64)[column]
        ahead, behind = (mixture.posterior(noisy + sign * step, flow_time)[0] for sign in (1, -1))
        slope = (ahead - behind) / 2e-5
        assert torch.allclose(slope, flow_time / (1 - flow_time) ** 2 * covariance[:, :, column], atol=1e-6)


def test_the_posterior_agrees_with_weighted_samples() -> None:
    mixture, flow_time = GaussianMixture.random(3, 2, seed=1), 0.6
    clean = mixture.sample(400_000, seed=2)
    noisy = torch.tensor([[0.4, -0.3]], dtype=torch.float64)
    weights = torch.softmax(-(noisy - flow_time * clean).square().sum(dim=1) / (2 * (1 - flow_time) ** 2), dim=0)
    mean, covariance = mixture.posterior(noisy, flow_time)
    estimate = weights @ clean
    assert torch.allclose(mean[0], estimate, atol=0.01)
    spread = (clean - estimate).T @ ((clean - estimate) * weights[:, None])
    assert torch.allclose(covariance[0], spread, atol=0.01)


def test_the_jacobian_equals_reverse_mode() -> None:
    denoiser = new_denoiser(TOY, 29)
    with torch.no_grad():
        for parameter in denoiser.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    noisy = torch.randn(3, 29, generator=torch.Generator().manual_seed(1))
    ours = jacobian(denoiser, noisy, 0.75, chunk=2)
    for row, pose in enumerate(noisy):
        reverse = torch.autograd.functional.jacobian(lambda z: denoiser(z, torch.tensor(0.75)), pose)
        assert torch.allclose(ours[row], reverse, atol=1e-5)


class Exact(torch.nn.Module):
    """A network whose output is the mixture's posterior mean: a perfect prior."""

    def __init__(self, mixture: GaussianMixture) -> None:
        super().__init__()
        self.mixture = mixture
        self.unused = torch.nn.Parameter(torch.zeros(1))

    def forward(self, noisy: torch.Tensor, flow_time: torch.Tensor) -> torch.Tensor:
        flat = noisy.reshape(-1, noisy.shape[-1]).double()
        return self.mixture.posterior(flat, float(flow_time))[0].reshape(noisy.shape).to(noisy.dtype)


def test_a_perfect_prior_has_no_error(g1: Robot) -> None:
    mixture = GaussianMixture.random(4, 29, seed=3)
    unit = Normalisation("standard", (0.0,) * 29, (1.0,) * 29)
    prior = PosePrior(TOY, unit, "g1", g1.joint_names, Denoiser(Exact(mixture), "clean"))  # type: ignore[arg-type]
    for flow_time in (0.5, 0.75):
        errors = compare(prior, mixture, flow_time, seed=0)
        assert errors["jacobian_frobenius_error"] < 1e-4
        assert errors["score_error_isotropic"] < 1e-4
        assert errors["score_spearman_between_samples"] > 0.999999
    shape = jacobian_shape(prior, mixture.sample(20, seed=4).numpy().astype(np.float32))
    assert shape["0.75"]["asymmetry"] < 1e-4
    assert shape["0.75"]["lowest_eigenvalue"] > -1e-5


def test_poses_compared_by_hand(g1: Robot) -> None:
    generator = np.random.default_rng(0)
    reference = (g1.default_pose + 0.05 * generator.normal(size=(400, 29))).astype(np.float32)
    same = compare_poses(reference, reference, g1)
    assert same["distance_to_nearest_reference"] == same["wasserstein_per_joint"] == same["covariance_error"] == 0
    shifted = reference.copy()
    shifted[:, 0] += 0.29  # one joint of 29 by 0.29 rad: 0.01 rad on average
    moved = compare_poses(shifted, reference, g1)
    assert moved["wasserstein_per_joint"] == pytest.approx(0.01, rel=1e-3)
    assert moved["covariance_error"] == pytest.approx(0.0, abs=1e-5)
    outside = reference.copy()
    outside[:100, 5] = 1.0  # ankle roll, limit 0.26
    assert compare_poses(outside, reference, g1)["share_of_poses_outside_limits"] == 0.25


ARM = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper"><joint name="shoulder" range="-3 3"/><geom size="0.1"/>
    <body name="lower"><joint name="elbow" range="-3 3"/><geom size="0.1"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.slow
def test_a_trained_prior_has_the_jacobian_of_its_data(tmp_path: Path) -> None:
    """Samples of three Gaussians over the two joints of an arm, whose posterior covariance is known everywhere."""
    (tmp_path / "arm.xml").write_text(ARM)
    train = TrainConfig(steps=2000, batch_size=512, ema_decay=0.99)
    robot, config = Robot.load(tmp_path / "arm.xml"), PriorConfig(network=preset("tiny"))
    for errors in closed_form_check(tmp_path, robot, config, train, components=3).values():
        assert errors["jacobian_frobenius_error"] < 0.4
        assert errors["score_spearman_between_samples"] > 0.7
