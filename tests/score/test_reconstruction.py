"""FM-Recon: how far the denoiser moves a corrupted pose, at three flow times."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from pfmhr.score import ReconstructionScore, reconstruction
from pfmhr.score.engine import Choice

from .priors import GaussianDenoiser, Matrix, Target, around, float64, normal, random_prior, refused, seeded

JOINTS = 5
LEVELS = (0.55, 0.65, 0.80)
ENGINES: list[Choice] = ["fused", "autodiff"]


@cache
def score(engine: Choice = "fused") -> ReconstructionScore:
    return ReconstructionScore(random_prior(JOINTS, dtype=torch.float32), engine=engine)


def test_the_error_by_hand() -> None:
    """c = (10, 0), q = (4, 1) in units of (1, 2) off (1, −1): normalised (3, 1). Errors (10 t − 3)² + 1."""
    made = ReconstructionScore(around(Target([10.0, 0.0]), (1.0, -1.0), (1.0, 2.0)), precision="float64")
    errors = made(float64([[4.0, 1.0]]))
    assert errors.shape == (3, 1)
    assert errors[:, 0].tolist() == pytest.approx([2.5**2 + 1, 3.5**2 + 1, 5.0**2 + 1])


def test_a_map_that_changes_nothing_errs_by_the_corruption() -> None:
    """F(z) = z: the error is (1 − t)²‖ε − q‖², of mean (1 − t)²(J + ‖q‖²) over noise."""
    made = ReconstructionScore(around(Matrix([[1.0, 0.0], [0.0, 1.0]]), (0.0, 0.0)), precision="float64")
    errors = made(float64([[3.0, 4.0]]).expand(20_000, 2), generator=seeded(0))
    for flow_time, values in zip(LEVELS, errors, strict=True):
        assert values.mean().item() == pytest.approx((1 - flow_time) ** 2 * (2 + 25), rel=0.01)


def test_levels_and_rows_have_noise_of_their_own() -> None:
    made = ReconstructionScore(around(Matrix([[1.0]]), (0.0,)), (0.5, 0.5), precision="float64")
    errors = made(torch.zeros(1000, 1).double(), generator=seeded(0))  # (1 − t)² ε²
    assert abs(float(torch.corrcoef(errors)[0, 1])) < 0.1
    assert len(errors.unique()) == 2000


def test_the_error_of_a_gaussian_is_exact() -> None:
    """F − q = m + t Σ M⁻¹ (t (q − m) + (1 − t) ε) − q with M = t² Σ + (1 − t)² I, its noise drawn here again."""
    root, mean = normal(3, 3, seed=1), normal(3, seed=2)
    covariance = root @ root.T + 0.1 * torch.eye(3, dtype=torch.float64)
    made = ReconstructionScore(around(GaussianDenoiser(mean, covariance), (0.0,) * 3), precision="float64")
    poses = normal(40, 3, seed=3)
    errors = made(poses, generator=seeded(4))
    noise = torch.randn(40, 3, 3, generator=seeded(4), dtype=torch.float64)  # pose, level, joint
    for level, flow_time in enumerate(LEVELS):
        marginal = flow_time**2 * covariance + (1 - flow_time) ** 2 * torch.eye(3, dtype=torch.float64)
        gain = flow_time * covariance @ torch.linalg.inv(marginal)
        noisy = flow_time * poses + (1 - flow_time) * noise[:, level]
        clean = mean + (noisy - flow_time * mean) @ gain.T
        assert torch.allclose(errors[level], (clean - poses).square().sum(dim=1), rtol=1e-9)


def test_both_engines_give_the_same_errors() -> None:
    poses = normal(30, JOINTS, seed=1)
    fused, autodiff = (score(engine)(poses, generator=seeded(2)) for engine in ENGINES)
    assert torch.allclose(fused, autodiff, rtol=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_broken_poses_err_by_zero_and_touch_no_others(engine: Choice) -> None:
    poses = normal(6, JOINTS, seed=1, dtype=torch.float32)
    expected = score(engine)(poses, generator=seeded(2))
    spoilt = poses.clone()
    spoilt[1, 0], spoilt[3], spoilt[4, 4] = float("nan"), float("inf"), -float("inf")
    fine = torch.tensor([True, False, True, False, False, True])
    errors, finite = score(engine).evaluate(None, spoilt, 0.02, generator=seeded(2))
    assert torch.equal(finite, fine)
    assert torch.allclose(errors, torch.where(fine, expected, 0.0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_shapes_of_errors(engine: Choice) -> None:
    poses = normal(7, JOINTS)
    assert score(engine)(poses).shape == (3, 7)
    assert score(engine)(poses.numpy()).shape == (3, 7)
    assert score(engine)(poses[:0]).shape == (3, 0)
    assert ReconstructionScore(score().prior, (0.5,), engine=engine)(poses).shape == (1, 7)


@pytest.mark.parametrize("chunk", [16, 64])
def test_chunks_of_poses_do_not_show(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ReconstructionScore(random_prior(18, dtype=torch.float32))
    poses = normal(150, 18, dtype=torch.float32)
    whole = made(poses, generator=seeded(5))
    monkeypatch.setattr(reconstruction, "POSES_PER_CHUNK", chunk)
    assert torch.allclose(made(poses, generator=seeded(5)), whole, rtol=1e-4)


def test_errors_are_repeatable_with_a_generator() -> None:
    poses = normal(20, JOINTS)
    first, again, other = (score()(poses, generator=seeded(seed)) for seed in (1, 1, 2))
    assert torch.allclose(first, again, rtol=1e-4, atol=1e-6)
    assert not torch.allclose(first, other, rtol=0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_need_no_gradients(engine: Choice) -> None:
    poses = normal(5, JOINTS, dtype=torch.float32)
    expected = score(engine)(poses, generator=seeded(1))
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            assert torch.allclose(score(engine)(poses.clone(), generator=seeded(1)), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_poses_that_want_gradients_are_judged_without(engine: Choice) -> None:
    poses = normal(5, JOINTS, dtype=torch.float32)
    expected = score(engine)(poses, generator=seeded(1))
    errors = score(engine)(poses.clone().requires_grad_(), generator=seeded(1))
    assert torch.allclose(errors, expected, rtol=1e-4, atol=1e-6) and not errors.requires_grad


@pytest.mark.parametrize("levels", [(0.5, 1.0), (0.0,), (0.9995,), (float("nan"), 0.5)])
def test_flow_times_without_a_score_are_refused(levels: tuple[float, ...]) -> None:
    with refused("bad_flow_time"):
        ReconstructionScore(score().prior, levels)


def test_no_flow_time_at_all_is_refused() -> None:
    with refused("bad_flow_time"):
        ReconstructionScore(score().prior, ())


@pytest.mark.parametrize("shape", [(JOINTS,), (3, JOINTS + 1), (1, 3, JOINTS)])
def test_poses_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with refused("bad_shape"):
        score()(torch.zeros(shape))


def test_the_settings_say_what_errors_depend_on() -> None:
    assert score().settings == {
        "score": "reconstruction",
        "prior": score().prior.hash,
        "t_eval": [0.55, 0.65, 0.80],
        "samples": 1,
    }
