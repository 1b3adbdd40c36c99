"""Is the Jacobian right? Train on a mixture of Gaussians and compare with what is known exactly."""

from __future__ import annotations

from pathlib import Path

import torch
from scipy.stats import spearmanr
from torch import Tensor

from pfmhr.corpus import PoseCorpus
from pfmhr.prior.config import PriorConfig, TrainConfig
from pfmhr.prior.jacobian import jacobian
from pfmhr.prior.mixture import GaussianMixture
from pfmhr.prior.prior import PosePrior
from pfmhr.prior.runs import train_prior
from pfmhr.robots import Robot

TIMES = (0.5, 0.75, 0.9)
POSES = 200_000
QUERIES = 2000


def closed_form_check(
    directory: Path,
    robot: Robot,
    config: PriorConfig,
    train: TrainConfig,
    components: int = 8,
    seed: int = 0,
) -> dict[float, dict[str, float]]:
    """Errors by flow time. Train in ``directory`` on samples of a random full-covariance mixture."""
    mixture = GaussianMixture.random(components, robot.num_joints, seed)
    corpus = PoseCorpus.from_array(directory / "corpus", mixture.sample(POSES, seed + 1).numpy(), robot)
    prior = train_prior(directory / "prior", corpus, robot, config, train)
    return {flow_time: compare(prior, mixture, flow_time, seed + 2) for flow_time in TIMES}


def compare(prior: PosePrior, mixture: GaussianMixture, flow_time: float, seed: int) -> dict[str, float]:
    """Errors of Jacobian and score at one flow time, over queries drawn as the score draws them."""
    centre, scale = prior.normalisation.tensors(torch.zeros(1, dtype=torch.float64))
    exact = mixture.rescaled(centre, scale)
    generator = torch.Generator().manual_seed(seed)
    clean, other = exact.sample(QUERIES, seed), exact.sample(QUERIES, seed + 1)
    noise = torch.randn(clean.shape, generator=generator, dtype=torch.float64)
    query = flow_time * clean + (1.0 - flow_time) * noise
    _, covariance = exact.posterior(query, flow_time)
    true = flow_time / (1.0 - flow_time) ** 2 * covariance
    learned = jacobian(prior.denoiser, query.float(), flow_time).double()
    isotropic = torch.randn(clean.shape, generator=generator, dtype=torch.float64)
    result = {"jacobian_frobenius_error": _mean_ratio(learned - true, true)}
    for name, direction in (("isotropic", isotropic), ("between_samples", other - clean)):
        ours, theirs = _response(learned, direction), _response(true, direction)
        result[f"score_error_{name}"] = float(((ours - theirs).abs() / theirs).mean())
        result[f"score_spearman_{name}"] = float(spearmanr(ours.numpy(), theirs.numpy())[0])  # type: ignore[arg-type]
    return result


def _mean_ratio(difference: Tensor, reference: Tensor) -> float:
    """Mean over queries of the relative Frobenius norm."""
    return float((difference.flatten(1).norm(dim=1) / reference.flatten(1).norm(dim=1)).mean())


def _response(matrix: Tensor, direction: Tensor) -> Tensor:
    """``‖J d‖²`` for unit directions: the score without its stabiliser."""
    unit = direction / direction.norm(dim=1, keepdim=True)
    return torch.einsum("nij,nj->ni", matrix, unit).square().sum(dim=1)
