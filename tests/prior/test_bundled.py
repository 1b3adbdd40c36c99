"""The prior in the box: loads by name, knows where it comes from, and is what its card says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.prior import PosePrior
from pfmhr.prior.artefact import bundled_priors
from pfmhr.reward.transitions import moving_transitions
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore


@pytest.fixture(scope="module")
def prior(g1: Robot) -> PosePrior:
    return PosePrior.load("g1-small", robot=g1)


def test_it_is_small_and_complete() -> None:
    folder = bundled_priors()["g1-small"]
    assert {file.name for file in folder.iterdir()} == {"model.safetensors", "config.json", "README.md"}
    assert sum(file.stat().st_size for file in folder.iterdir()) < 12e6


def test_its_card_names_data_licence_command_and_limits() -> None:
    card = (bundled_priors()["g1-small"] / "README.md").read_text()
    for word in ("Experiential Technologies", "CC BY 4.0", "pfmhr prior train", "Seed 0", "Limits of use"):
        assert word in card


def test_it_was_trained_on_g1_moves_alone(prior: PosePrior) -> None:
    assert prior.about["corpus"]["sources"] == 55 and prior.about["corpus"]["poses"] == 101_597
    assert all(path.startswith("g1_moves/") for path, _ in prior.about["held_out_sources"])


def test_its_samples_are_mostly_poses_of_the_robot(prior: PosePrior, g1: Robot) -> None:
    poses = prior.sample(500, generator=torch.Generator().manual_seed(0)).numpy()
    outside = ((poses < g1.lower) | (poses > g1.upper)).mean()
    assert outside < 0.01
    assert poses.std(axis=0).min() > 0.03  # not one pose over and over


def test_an_unknown_name_lists_it() -> None:
    with pytest.raises(InputError, match="g1-small"):
        PosePrior.load("g1-smal")


@pytest.fixture(scope="module")
def transitions(g1: Robot, real_data: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps of real motions: MimicKit's clips, at 30 Hz."""
    options = ReadOptions(g1)
    files = sorted((real_data / "mimickit_g1").glob("*.pkl"))
    sides = [moving_transitions(motion, 1 / 30)[:2] for file in files for motion in read_motions(file, options)]
    before, after = (torch.cat(side) for side in zip(*sides, strict=True))
    return before, after


def agreement(prior: PosePrior, before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Relative error of the fused float32 pass against float64 autodiff."""
    noise = torch.randn(1, *before.shape, generator=torch.Generator().manual_seed(0))
    exact = PoseGeometryScore(prior, precision="float64", engine="autodiff")(
        before.double(), after.double(), 1 / 30, noise=noise
    )
    return (PoseGeometryScore(prior)(before, after, 1 / 30, noise=noise) - exact).abs() / exact


def test_the_fused_pass_is_exact_on_real_transitions(
    prior: PosePrior, transitions: tuple[torch.Tensor, torch.Tensor]
) -> None:
    error = agreement(prior, *transitions)
    assert len(error) > 400
    assert error.median() < 1e-5 and error.max() < 1e-3


def test_the_fused_pass_is_exact_on_embedded_transitions(prior: PosePrior, g1: Robot) -> None:
    sides = [moving_transitions(embedded_motion(name, g1), 1 / 30)[:2] for name in ("walk", "punch", "jump")]
    before, after = (torch.cat(side) for side in zip(*sides, strict=True))
    error = agreement(prior, before, after)
    assert error.median() < 1e-5 and error.max() < 1e-3


def test_the_score_falls_when_joints_no_longer_move_together(prior: PosePrior, g1: Robot) -> None:
    before, after, _ = moving_transitions(embedded_motion("walk", g1), 1 / 30)
    signs = torch.from_numpy(np.random.default_rng(0).choice([-1.0, 1.0], size=before.shape)).float()
    noise = torch.randn(1, *before.shape, generator=torch.Generator().manual_seed(0))
    score = PoseGeometryScore(prior)
    real = score(before, after, 1 / 30, noise=noise)
    flipped = score(before, before + signs * (after - before), 1 / 30, noise=noise)
    assert flipped.mean() < 0.9 * real.mean()
