"""Closed-form priors from a corpus, in seconds: the baseline of whatever a network is said to know."""

from __future__ import annotations

import torch
from scipy.cluster.vq import kmeans2
from torch import Tensor

import pfmhr
from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.split import held_out_sources, split_by_source
from pfmhr.prior.config import PriorConfig, as_json
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.gaussians import MixtureConfig, MixtureNetwork
from pfmhr.prior.heldout import held_out_loss
from pfmhr.prior.mixture import GaussianMixture
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior
from pfmhr.robots import Robot

MOST_POSES = 200_000
"""Rows that a mixture is fitted to; more change its figures by less than another seed does."""
FIRST_POSES = 20_000
"""Rows of the clustering that a mixture starts from."""
ITERATIONS = 25
FLOOR = 1e-3
"""Least variance of a component, in normalised units: without it one could shrink onto a single pose."""
_ROWS = 16_384


def fit_prior(
    corpus: PoseCorpus,
    robot: Robot,
    components: int = 1,
    held_out: float = 0.05,
    seed: int = 0,
) -> PosePrior:
    """A Gaussian (one component), or a mixture, of the corpus' poses, with what a trained prior of it would hold out.

    Poses are in units of their spread over the data. The held-out sources are those of a training with the same seed.
    """
    corpus.require(robot)
    split = split_by_source(corpus, held_out, seed)
    normalisation = Normalisation.fit("standard", robot, corpus, split.train.spread(1_000_000))
    config = PriorConfig(mixture=MixtureConfig(components))
    poses = torch.from_numpy(corpus.rows(split.train.spread(MOST_POSES)))
    centre, scale = normalisation.tensors(poses)
    mixture = fit_mixture((poses - centre) / scale, components, seed)
    denoiser = Denoiser(MixtureNetwork.of(mixture).float(), config.prediction, config.delta)
    prior = PosePrior(config, normalisation, robot.name, robot.joint_names, denoiser)
    unseen = prior.normalise(corpus.rows(split.held_out.spread(8192)))
    prior.about = {
        "corpus": {
            "fingerprint": corpus.manifest.fingerprint,
            "additions": list(corpus.manifest.additions),
            "poses": len(corpus),
            "sources": len(corpus.sources),
        },
        "prior": as_json(config),
        "training": {"held_out": held_out, "seed": seed, "poses": len(poses)},
        "held_out_loss": held_out_loss(denoiser, unseen, config.time),
        "held_out_sources": held_out_sources(corpus, split),
        "code_version": pfmhr.__version__,
        "finished": True,
    }
    return prior


def fit_mixture(poses: Tensor, components: int, seed: int = 0, iterations: int = ITERATIONS) -> GaussianMixture:
    """Expectation maximisation from a clustering; normalised poses ``(N, J)``.

    One component is the poses' mean and covariance.
    """
    mixture = _whole(poses)
    if components == 1:
        return mixture
    first = poses[torch.randperm(len(poses), generator=torch.Generator().manual_seed(seed))[:FIRST_POSES]].double()
    centres, _ = kmeans2(first.numpy(), components, minit="++", rng=seed)
    # Every component begins as large as its share of the whole.
    spread = mixture.covariances.expand(components, -1, -1) / components ** (2.0 / poses.shape[1])
    mixture = GaussianMixture(torch.full((components,), 1.0 / components).double(), torch.from_numpy(centres), spread)
    for _ in range(iterations):
        mixture = _improved(mixture, poses)
    return mixture


def _whole(poses: Tensor) -> GaussianMixture:
    exact = poses.double()
    mean = exact.mean(dim=0)
    covariance = torch.cov(exact.T).reshape(len(mean), len(mean))
    return GaussianMixture(torch.ones(1).double(), mean[None], covariance[None])


def _improved(mixture: GaussianMixture, poses: Tensor) -> GaussianMixture:
    """One step: how far each pose belongs to each component, and the components of poses that share so."""
    components, joints = mixture.means.shape
    weight = torch.zeros(components).double()
    total, outer = torch.zeros(components, joints).double(), torch.zeros(components, joints, joints).double()
    for part in poses.split(_ROWS):
        share = mixture.shares(part)
        weight += share.double().sum(dim=0)
        total += (share.T @ part).double()
        for component in range(components):
            outer[component] += ((part * share[:, component : component + 1]).T @ part).double()
    weight = weight.clamp_min(1e-9)
    means = total / weight[:, None]
    covariances = outer / weight[:, None, None] - means[:, :, None] * means[:, None, :]
    floor = FLOOR * torch.eye(joints).double()
    return GaussianMixture(weight / weight.sum(), means, covariances + floor)
