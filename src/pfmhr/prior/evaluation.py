"""How good is a prior on real poses: held-out loss, the shape of its Jacobian, its samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.stats import wasserstein_distance

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.split import split_by_source
from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_json
from pfmhr.prior.heldout import loss_by_time
from pfmhr.prior.jacobian import jacobian
from pfmhr.prior.plots import evaluation_page
from pfmhr.prior.prior import PosePrior
from pfmhr.robots import Robot

JACOBIAN_TIMES = (0.5, 0.75, 0.9)
Poses = NDArray[np.float32]


def evaluate_prior(
    prior: PosePrior, corpus: PoseCorpus, robot: Robot, poses: int = 4000, seed: int = 0, out: Path | None = None
) -> dict[str, Any]:
    """All figures as plain data, and with ``out`` also as eval.json and a page of plots.

    Poses are held out by source exactly as they were in training.
    The yardstick is the same comparison between two halves of the data: no prior should be expected
    to match held-out clips better than other clips do.
    """
    if poses < 2:
        raise InputError(
            "poses of one or none have no spread to compare", expected="at least 2", got=poses, code="short"
        )
    prior.require(robot)
    corpus.require(robot)
    settings = prior.about.get("training", {})
    recorded = prior.about.get("held_out_sources", ())
    split = split_by_source(corpus, settings.get("held_out", 0.05), settings.get("seed", seed), recorded)
    held_out = corpus.rows(split.held_out.spread(poses))
    trained = corpus.rows(split.train.spread(2 * poses))
    samples = prior.sample(len(held_out), torch.Generator().manual_seed(seed)).cpu().numpy()
    normalised = prior.normalise(held_out)
    result = {
        "prior": prior.hash,
        "held_out_poses": len(held_out),
        "loss_by_time": {str(time): loss for time, loss in loss_by_time(prior.denoiser, normalised).items()},
        "jacobian": jacobian_shape(prior, held_out[:512], seed),
        "samples_against_held_out": compare_poses(samples, held_out, robot),
        "data_against_held_out": compare_poses(_thin(trained, len(held_out), seed), held_out, robot),
        "two_halves_of_the_data": compare_poses(*_halves(corpus, len(held_out)), robot),
    }
    if out is not None:
        make_folder(out)
        write_json(out / "eval.json", result)
        evaluation_page(out / "eval.png", robot, held_out, samples, result)
    return result


def jacobian_shape(prior: PosePrior, poses: Poses, seed: int = 0) -> dict[str, dict[str, float]]:
    """How far the Jacobian is from the symmetric, non-negative matrix it is at the optimum.

    ``asymmetry`` is ‖J − Jᵀ‖/‖J‖; ``lowest_eigenvalue`` the most negative one of the symmetric part,
    relative to the largest. Both are 0 for a perfect prior.
    """
    clean = prior.normalise(poses)
    noise = torch.randn(clean.shape, generator=torch.Generator().manual_seed(seed))
    shape = {}
    for time in JACOBIAN_TIMES:
        response = jacobian(prior.denoiser, time * clean + (1.0 - time) * noise, time)
        skew = (response - response.transpose(1, 2)).flatten(1).norm(dim=1) / response.flatten(1).norm(dim=1)
        eigenvalues = torch.linalg.eigvalsh(0.5 * (response + response.transpose(1, 2)))
        shape[str(time)] = {
            "asymmetry": float(skew.mean()),
            "lowest_eigenvalue": float((eigenvalues[:, 0] / eigenvalues[:, -1]).min()),
            "share_of_negative_eigenvalues": float((eigenvalues < 0).float().mean()),
            "largest_eigenvalue": float(eigenvalues[:, -1].median()),
        }
    return shape


def compare_poses(poses: Poses, reference: Poses, robot: Robot) -> dict[str, float]:
    """How like ``reference`` a set of poses is, both ``(N, J)`` in rad."""
    outside = (poses < robot.lower - 0.02) | (poses > robot.upper + 0.02)
    moments = [np.cov(both, rowvar=False) for both in (poses, reference)]
    joints = range(poses.shape[1])
    return {
        "share_of_poses_outside_limits": float(outside.any(axis=1).mean()),
        "share_of_angles_outside_limits": float(outside.mean()),
        "distance_to_nearest_reference": _median_distance(poses, reference),
        "distance_of_reference_to_nearest": _median_distance(reference, poses),
        "wasserstein_per_joint": float(np.mean([wasserstein_distance(poses[:, j], reference[:, j]) for j in joints])),
        "covariance_error": float(np.linalg.norm(moments[0] - moments[1]) / np.linalg.norm(moments[1])),
    }


def _median_distance(poses: Poses, reference: Poses) -> float:
    """Median Euclidean distance in rad from each pose to the nearest reference pose."""
    distance, _ = KDTree(reference).query(poses)
    return float(np.median(distance))


def _thin(poses: Poses, count: int, seed: int) -> Poses:
    return poses[np.random.default_rng(seed).permutation(len(poses))[:count]]


def _halves(corpus: PoseCorpus, count: int) -> tuple[Poses, Poses]:
    """``count`` poses from each half of the sources."""
    half = split_by_source(corpus, 0.5, seed=1)
    return corpus.rows(half.train.spread(count)), corpus.rows(half.held_out.spread(count))
