"""The three studies: on known distributions they find what is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import NetworkConfig, PosePrior, PriorConfig
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import new_denoiser
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore
from pfmhr.studies.noise import noise_study
from pfmhr.studies.perturbation import perturbation_study
from pfmhr.studies.timestep import discrimination, recommendation, timestep_study
from pfmhr.studies.transitions import Transitions, spoilt_directions


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


@pytest.fixture
def curved(g1: Robot) -> PosePrior:
    """An untrained network with random weights everywhere: its Jacobian differs from query to query."""
    config = PriorConfig(network=NetworkConfig(depth=1, width=32, time_features=8))
    denoiser = new_denoiser(config, 29)
    generator = torch.Generator().manual_seed(0)
    for parameter in denoiser.parameters():
        parameter.data.normal_(0.0, 0.3, generator=generator)
    unit = Normalisation("standard", (0.0,) * 29, (1.0,) * 29)
    return PosePrior(config, unit, "g1", g1.joint_names, denoiser)


def wandering(g1: Robot, joints: slice, seed: int) -> Motion:
    generator = np.random.default_rng(seed)
    poses = np.zeros((301, 29), dtype=np.float32)
    poses[:, joints] = 0.05 * generator.normal(size=(301, len(range(29)[joints]))).cumsum(axis=0)
    return Motion.from_arrays(g1, poses, 30)


def test_transitions_are_moving_ones_evenly_from_the_clips(prior: PosePrior, g1: Robot) -> None:
    moving = wandering(g1, slice(0, 5), 0)
    halting = Motion.from_arrays(g1, np.repeat(moving.joint_pos[:101], 2, axis=0), 30)
    everything = Transitions.draw([moving, halting], count=1000)
    assert (everything.clip == 0).sum() == 300
    assert (everything.clip == 1).sum() == 100  # every other step is none at all
    assert torch.bincount(Transitions.draw([moving, halting], count=150).clip).tolist() == [75, 75]
    assert torch.bincount(Transitions.draw([moving, halting], count=300).clip).tolist() == [200, 100]
    lengths = everything.direction(PoseGeometryScore(prior)).norm(dim=1)
    assert torch.allclose(lengths, torch.ones(400), atol=1e-3)


def test_the_same_seed_draws_the_same_transitions(g1: Robot) -> None:
    motion = wandering(g1, slice(0, 29), 3)
    first, again, other = (Transitions.draw([motion], 50, seed=seed).previous for seed in (1, 1, 2))
    assert torch.allclose(first, again, rtol=1e-4, atol=1e-6) and not torch.equal(first, other)


def test_changes_along_the_prior_fall_when_spoilt_and_others_do_not(prior: PosePrior, g1: Robot) -> None:
    along = discrimination(prior, Transitions.draw([wandering(g1, slice(0, 5), 1)], 300), 0.75)
    assert along["angular"] > 0.3 and along["permutation"] > 0.3
    # Flipping signs changes nothing where the covariance is diagonal.
    assert along["sign_flip"] == pytest.approx(0.0, abs=1e-6)
    across = discrimination(prior, Transitions.draw([wandering(g1, slice(5, 29), 2)], 300), 0.75)
    assert across["angular"] < 0


def test_changes_are_not_turned_into_the_noise_of_their_poses(prior: PosePrior, g1: Robot) -> None:
    """What is turned by 90° points anywhere: as often along the noise that the pose is corrupted with as against it."""
    transitions = Transitions.draw([embedded_motion("walk", g1)], 200, 1 / 30, 0)
    noise = torch.randn(1, *transitions.previous.shape, generator=torch.Generator().manual_seed(0))[0]
    direction = transitions.direction(PoseGeometryScore(prior))
    turned = spoilt_directions(direction, seed=0)
    for severity in (15.0, 90.0):
        across = (
            turned["angular", severity] - (turned["angular", severity] * direction).sum(1, keepdim=True) * direction
        )
        assert abs(torch.cosine_similarity(across, noise.to(across.dtype)).mean()) < 0.1


def test_the_best_time_is_recommended_with_what_the_papers_choice_keeps() -> None:
    rows = [{"t_eval": 0.75, "average": 0.09}, {"t_eval": 0.8, "average": 0.098}, {"t_eval": 0.9, "average": 0.1}]
    text = recommendation({"rows": rows, "best_t_eval": 0.9})
    assert text.startswith("use t_eval 0.9: discrimination 0.100")
    assert "keeps 90 %" in text and text.endswith("within 5 % of it: 0.8, 0.9")


def test_the_studies_repeat_to_the_bit(prior: PosePrior, g1: Robot) -> None:
    transitions = Transitions.draw([wandering(g1, slice(0, 29), 4)], 100)
    for study in (
        lambda: timestep_study(prior, transitions, (0.5, 0.75)),
        lambda: perturbation_study(prior, transitions),
    ):
        assert study() == study()


def test_perturbations_of_a_gaussian_score_as_its_covariance_says(prior: PosePrior, g1: Robot) -> None:
    """Along the five wide joints the response is a = 0.75/(0.75² + 0.25²) = 1.2, along the others b = 0.109."""
    result = perturbation_study(prior, Transitions.draw([wandering(g1, slice(0, 5), 5)], 300))
    rows = {(row["perturbation"], row["severity"]): row for row in result["rows"]}
    wide, narrow = 1.2**2, (0.75 * 0.01 / (0.75**2 * 0.01 + 0.25**2)) ** 2
    for scale in (0.25, 4.0):
        assert rows["magnitude", scale]["normalised_score"] == pytest.approx(1.0, abs=1e-3)
    # At 90° a random perpendicular direction has 4 of its 28 dimensions among the wide joints.
    expected = (4 * wide + 24 * narrow) / 28 / wide
    assert rows["angular", 90.0]["normalised_score"] == pytest.approx(expected, rel=0.1)
    assert rows["angular", 90.0]["percentile_change"] < -0.3
    assert rows["sign_flip", 0.5]["region_agreement"] == 1.0
    for fraction in (0.25, 0.5, 0.75, 1.0):
        assert rows["sign_flip", fraction]["normalised_score"] == pytest.approx(1.0, abs=1e-5)


def test_more_samples_agree_better_with_the_reference(g1: Robot, curved: PosePrior) -> None:
    rows = noise_study(curved, Transitions.draw([wandering(g1, slice(0, 29), 6)], 200))["rows"]
    assert [row["samples"] for row in rows] == [1, 2, 4, 8, 128]
    correlations = [row["rank_correlation"] for row in rows]
    assert correlations == sorted(correlations) and correlations[-1] == pytest.approx(1.0)
    assert rows[-1]["percentile_mae"] == 0.0 and rows[-1]["region_agreement"] == 1.0
    assert all(row["milliseconds"] > 0 for row in rows)


def test_what_is_broken_or_still_is_in_no_study(g1: Robot) -> None:
    walk = embedded_motion("walk", g1)
    poses = walk.joint_pos.copy()
    poses[20] = np.nan
    still = replace(walk, joint_pos=np.zeros_like(walk.joint_pos), loop=False)
    drawn = Transitions.draw([still, replace(walk, joint_pos=poses, loop=False)], 10_000)
    assert len(drawn.motions) == 1 and not drawn.clip.any() and len(drawn) > 20
    assert bool(drawn.previous.isfinite().all()) and bool(drawn.change.isfinite().all())
    for motions in ([], [still]):
        with pytest.raises(InputError, match="no moving transition"):
            Transitions.draw(motions, 10)
