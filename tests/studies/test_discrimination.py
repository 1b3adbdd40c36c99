"""Discrimination: directions a distribution really varies along fall when they are spoilt."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.prior import PosePrior, PriorConfig
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.normalisation import Normalisation
from pfmhr.robots import Robot
from pfmhr.studies.discrimination import Transitions, discrimination


class Linear(torch.nn.Module):
    """The exact denoiser of N(0, Σ): F(z, t) = t Σ (t² Σ + (1 − t)² I)⁻¹ z."""

    def __init__(self, covariance: torch.Tensor) -> None:
        super().__init__()
        self.covariance = torch.nn.Parameter(covariance)

    def forward(self, noisy: torch.Tensor, flow_time: torch.Tensor) -> torch.Tensor:
        identity = torch.eye(len(self.covariance))
        marginal = flow_time**2 * self.covariance + (1 - flow_time) ** 2 * identity
        return noisy @ (flow_time * torch.linalg.solve(marginal, self.covariance))


@pytest.fixture
def prior(g1: Robot) -> PosePrior:
    covariance = torch.diag(torch.cat([torch.full((5,), 1.0), torch.full((24,), 0.01)]))
    unit = Normalisation("standard", (0.0,) * 29, (1.0,) * 29)
    return PosePrior(PriorConfig(), unit, "g1", g1.joint_names, Denoiser(Linear(covariance), "clean"))  # type: ignore[arg-type]


def wandering(g1: Robot, joints: slice, seed: int) -> Motion:
    generator = np.random.default_rng(seed)
    poses = np.zeros((301, 29), dtype=np.float32)
    poses[:, joints] = 0.05 * generator.normal(size=(301, len(range(29)[joints]))).cumsum(axis=0)
    return Motion.from_arrays(g1, poses, 30)


def test_transitions_are_unit_directions_of_the_moving_frames(prior: PosePrior, g1: Robot) -> None:
    still = wandering(g1, slice(0, 5), 0)
    frozen = Motion.from_arrays(g1, np.repeat(still.joint_pos[:101], 2, axis=0), 30)
    transitions = Transitions.of(prior, [still, frozen], per_clip=1000)
    assert (transitions.clip == 0).sum() == 300
    assert (transitions.clip == 1).sum() == 100  # every other change is none at all
    assert torch.allclose(transitions.direction.norm(dim=1), torch.ones(400), atol=1e-3)


def test_changes_along_the_prior_fall_when_spoilt_and_others_do_not(prior: PosePrior, g1: Robot) -> None:
    along = discrimination(prior, Transitions.of(prior, [wandering(g1, slice(0, 5), 1)], 300), 0.75)
    assert along["angular"] > 0.3 and along["permutation"] > 0.3
    # Flipping signs changes nothing where the covariance is diagonal.
    assert along["sign_flip"] == pytest.approx(0.0, abs=1e-6)
    across = discrimination(prior, Transitions.of(prior, [wandering(g1, slice(5, 29), 2)], 300), 0.75)
    assert across["angular"] < 0
