"""Closed-form priors: the mixture that made the poses comes back, and its denoiser is the posterior mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr import Calibration, Motion, PoseCorpus, PoseGeometryScore, PosePrior, RewardModulator, Robot
from pfmhr.errors import InputError
from pfmhr.prior import fit_prior
from pfmhr.prior.config import PriorConfig, TrainConfig
from pfmhr.prior.fitting import fit_mixture
from pfmhr.prior.gaussians import MixtureConfig, MixtureNetwork
from pfmhr.prior.mixture import GaussianMixture
from pfmhr.prior.runs import train_prior


@pytest.mark.parametrize("flow_time", [0.1, 0.75, 0.95])
def test_the_network_is_the_posterior_mean(flow_time: float) -> None:
    mixture = GaussianMixture.random(5, 7, seed=3)
    noisy = torch.randn(20, 7, dtype=torch.float64)
    mean, covariance = mixture.posterior(noisy, flow_time)
    network, time = MixtureNetwork.of(mixture), torch.tensor(flow_time, dtype=torch.float64)
    assert torch.allclose(network(noisy, time), mean, atol=1e-11)
    assert torch.allclose(network(noisy.view(4, 5, 7), time.expand(4, 1)), mean.view(4, 5, 7), atol=1e-11)
    slope = torch.func.vmap(torch.func.jacfwd(lambda pose: network(pose, time)))(noisy)
    assert torch.allclose(slope, flow_time / (1 - flow_time) ** 2 * covariance, atol=1e-9)


def test_one_gaussian_has_the_poses_mean_and_covariance() -> None:
    poses = torch.from_numpy(np.random.default_rng(0).normal(size=(500, 3)) @ np.triu(np.ones((3, 3))) + 2.0)
    mixture = fit_mixture(poses, 1)
    assert torch.allclose(mixture.means[0], poses.mean(dim=0))
    assert torch.allclose(mixture.covariances[0], torch.cov(poses.T))


def test_two_clusters_are_found_with_their_shares_and_covariances() -> None:
    true = GaussianMixture(
        torch.tensor([0.25, 0.75], dtype=torch.float64),
        torch.tensor([[-3.0, 0.0], [3.0, 1.0]], dtype=torch.float64),
        torch.tensor([[[1.0, 0.6], [0.6, 0.5]], [[0.2, -0.1], [-0.1, 0.4]]], dtype=torch.float64),
    )
    found = fit_mixture(true.sample(40_000, seed=1), 2)
    order = found.means[:, 0].argsort()
    assert torch.allclose(found.weights[order], true.weights, atol=0.01)
    assert torch.allclose(found.means[order], true.means, atol=0.03)
    assert torch.allclose(found.covariances[order], true.covariances, atol=0.03)


@pytest.fixture(scope="module")
def corpus(walk: Motion, g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> PoseCorpus:
    poses = np.concatenate([walk.joint_pos, walk.joint_pos[::-1] * 0.9])
    noise = 0.05 * np.random.default_rng(0).normal(size=(20, *poses.shape))
    return PoseCorpus.from_array(
        tmp_path_factory.mktemp("fit") / "corpus", (poses + noise).reshape(-1, 29).astype(np.float32), g1
    )


@pytest.mark.parametrize("components", [1, 4])
def test_a_fitted_prior_is_saved_scored_and_calibrated_like_a_trained_one(
    components: int, corpus: PoseCorpus, g1: Robot, walk: Motion, tmp_path: Path
) -> None:
    prior = fit_prior(corpus, g1, components)
    prior.save(tmp_path / "prior")
    assert "network" not in json.loads((tmp_path / "prior" / "config.json").read_text())["prior"]
    loaded = PosePrior.load(tmp_path / "prior", g1)
    assert loaded.hash == prior.hash and loaded.config.mixture == MixtureConfig(components)
    score = PoseGeometryScore(loaded)
    modulator = RewardModulator(score, Calibration.fit(score, [walk], 1 / 30))
    poses = torch.from_numpy(walk.joint_pos)
    assert float(modulator(poses[:-1], poses[1:], 1 / 30).mean()) > 0.95
    assert torch.isfinite(loaded.sample(3, torch.Generator().manual_seed(0))).all()


def test_more_gaussians_denoise_better_what_they_have_seen(corpus: PoseCorpus, g1: Robot) -> None:
    losses = [fit_prior(corpus, g1, components).about["held_out_loss"] for components in (1, 8)]
    assert losses[1] < losses[0]


def test_a_mixture_is_fitted_and_not_trained(corpus: PoseCorpus, g1: Robot, tmp_path: Path) -> None:
    config = PriorConfig(mixture=MixtureConfig(2))
    with pytest.raises(InputError, match="fitted, not trained") as caught:
        train_prior(tmp_path / "run", corpus, g1, config, TrainConfig(steps=1))
    assert caught.value.code == "bad_config" and not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="impossible mixture"):
        MixtureConfig(0)
