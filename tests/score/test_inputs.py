"""What may be handed in, in which form, and what broken rows do."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pfmhr.score import PoseGeometryScore
from pfmhr.score.engine import Choice

from .priors import Matrix, around, float64, normal, random_prior, seeded, transitions

DT = 0.02
JOINTS = 5
ENGINES: list[Choice] = ["fused", "autodiff"]


@cache
def score(engine: Choice = "fused", samples: int = 1) -> PoseGeometryScore:
    return PoseGeometryScore(random_prior(JOINTS, dtype=torch.float32), samples=samples, engine=engine)


def step(count: int = 8, seed: int = 0) -> tuple[Tensor, ...]:
    return transitions(score().prior, count, seed, torch.float32)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_poses_give_no_scores(engine: Choice) -> None:
    none = torch.zeros(0, JOINTS)
    assert score(engine)(none, none, DT).shape == (0,)
    assert score(engine).contributions(none, none, DT).shape == (0, JOINTS)
    values, finite = score(engine).evaluate(none, none, DT, noise=torch.zeros(1, 0, JOINTS))
    assert (values.shape, finite.shape) == ((1, 0), (0,))
    geometry = score(engine).geometry(none)
    assert geometry.jacobian.shape == geometry.modes.shape == (0, JOINTS, JOINTS)
    assert geometry.eigenvalues.shape == geometry.joint_response.shape == (0, JOINTS)


@pytest.mark.parametrize("engine", ENGINES)
def test_poses_may_come_in_many_forms(engine: Choice) -> None:
    before, after, noise = step()
    expected = score(engine)(before, after, DT, noise=noise)
    wide = torch.zeros(8, 2 * JOINTS)
    wide[:, ::2] = before
    forms: list[tuple[Any, Any, Any]] = [
        (before.double(), after.double(), noise.double()),
        (before.numpy(), after.numpy(), noise.numpy()),
        (before.double().numpy(), after, noise),
        (before.T.contiguous().T, after.T.contiguous().T, noise[0]),
        (wide[:, ::2], after, noise.expand(1, -1, -1)),
    ]
    for previous, pose, drawn in forms:
        values = score(engine)(previous, pose, DT, noise=drawn)
        assert values.dtype == torch.float32
        assert torch.allclose(values, expected, rtol=1e-3)


def test_whole_numbers_are_angles_too() -> None:
    before, after = torch.tensor([[0, 1, 2, 3, 4]]), torch.tensor([[1, 1, 0, 3, 3]])
    noise = normal(1, 1, JOINTS)
    expected = score()(before.float(), after.float(), DT, noise=noise)
    assert torch.allclose(score()(before, after, DT, noise=noise), expected, rtol=1e-4, atol=1e-6)


def test_the_change_is_taken_before_rounding() -> None:
    """From 3 rad by 1e-9: nothing in float32, where neighbouring numbers are 2e-7 apart."""
    made = PoseGeometryScore(around(Matrix([[1.0, 0.0], [0.0, 0.0]]), (0.0, 0.0)), stabiliser=1e-30)
    before = float64([[3.0, 3.0]])
    values = made(before, before + float64([[0.6e-9, 0.8e-9]]), DT)
    assert values.item() == pytest.approx(0.36, rel=1e-5)


def test_neighbouring_poses_of_a_stretched_batch_may_share_memory() -> None:
    before, after, noise = step(1)
    many = score()(before.expand(9, -1), after.expand(9, -1), DT, noise=noise.expand(1, 9, -1))
    assert torch.allclose(many, score()(before, after, DT, noise=noise).expand(9), rtol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_scores_are_the_same_in_every_gradient_mode(engine: Choice, mode: Any) -> None:
    before, after, noise = step()
    expected = score(engine)(before, after, DT, noise=noise)
    with mode():
        values = score(engine)(before.clone(), after.clone(), DT, noise=noise.clone())
        parts = score(engine).contributions(before, after, DT, noise=noise)
        whole = score(engine).geometry(before.clone(), noise=noise).jacobian
    assert torch.allclose(values, expected, rtol=1e-4, atol=1e-6) and not values.requires_grad
    assert torch.allclose(parts.sum(dim=1), expected, rtol=1e-5) and not whole.requires_grad


@pytest.mark.parametrize("engine", ENGINES)
def test_poses_born_in_inference_mode_are_scored_outside(engine: Choice) -> None:
    before, after, noise = step()
    expected = score(engine)(before, after, DT, noise=noise)
    with torch.inference_mode():
        born = [values.clone() for values in (before, after, noise)]
    assert torch.allclose(score(engine)(born[0], born[1], DT, noise=born[2]), expected, rtol=1e-4, atol=1e-6)
    assert score(engine).along(born[0], (born[1] - born[0])[None]).shape == (1, 8)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_score_made_in_inference_mode_serves_outside(engine: Choice) -> None:
    before, after, noise = step()
    with torch.inference_mode():
        made = PoseGeometryScore(score().prior, engine=engine)
        inside = made(before, after, DT, noise=noise)
    assert torch.allclose(made(before, after, DT, noise=noise), inside, rtol=1e-4, atol=1e-6)
    assert made.geometry(before, noise=noise).jacobian.shape == (8, JOINTS, JOINTS)


@pytest.mark.parametrize("engine", ENGINES)
def test_poses_that_want_gradients_are_scored_without(engine: Choice) -> None:
    before, after, noise = step()
    expected = score(engine)(before, after, DT, noise=noise)
    values = score(engine)(before.clone().requires_grad_(), after, DT, noise=noise)
    assert torch.allclose(values, expected, rtol=1e-4, atol=1e-6) and not values.requires_grad


@pytest.mark.parametrize("engine", ENGINES)
def test_automatic_mixed_precision_around_a_score_does_not_show(engine: Choice) -> None:
    before, after, noise = step()
    expected = score(engine)(before, after, DT, noise=noise)
    with torch.autocast("cpu", torch.bfloat16):
        values = score(engine)(before, after, DT, noise=noise)
    assert torch.allclose(values, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_scoring_leaves_the_prior_alone(engine: Choice) -> None:
    prior = random_prior(JOINTS, dtype=torch.float32)
    identity = prior.hash
    made = PoseGeometryScore(prior, engine=engine, precision="float64")
    before, after, noise = step()
    made(before, after, DT, noise=noise)
    made.geometry(before)
    assert prior.hash == identity
    for parameter in prior.denoiser.parameters():
        assert parameter.dtype == torch.float32 and not parameter.requires_grad and parameter.grad is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf")])
def test_broken_rows_score_zero_and_touch_no_others(engine: Choice, broken: float) -> None:
    before, after, noise = step()
    expected = score(engine)(before, after, DT, noise=noise)
    spoilt_before, spoilt_after = before.clone(), after.clone()
    spoilt_before[1, 2] = broken
    spoilt_after[4, 0] = broken
    spoilt_before[6], spoilt_after[6] = broken, broken
    fine = torch.ones(8, dtype=torch.bool)
    fine[[1, 4, 6]] = False
    values, finite = score(engine).evaluate(spoilt_before, spoilt_after, DT, noise=noise)
    assert torch.equal(finite, fine)
    assert torch.allclose(values[0], torch.where(fine, expected, 0.0), rtol=1e-4, atol=1e-6)
    assert torch.allclose(score(engine)(spoilt_before, spoilt_after, DT, noise=noise), values[0], rtol=1e-4, atol=1e-6)
    parts = score(engine).contributions(spoilt_before, spoilt_after, DT, noise=noise)
    assert torch.equal(parts[~fine], torch.zeros(3, JOINTS)) and bool(parts.isfinite().all())


def test_broken_rows_do_not_shift_the_noise_of_others() -> None:
    before, after, _ = step()
    spoilt = before.clone()
    spoilt[0] = float("nan")
    expected = score()(before, after, DT, generator=seeded(3))
    assert torch.allclose(score()(spoilt, after, DT, generator=seeded(3))[1:], expected[1:], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1e12, 1e30, 3e38])
def test_a_score_is_a_number_however_far_a_finite_pose_is(size: float) -> None:
    """A simulation that explodes passes through every size on its way to infinity."""
    far = torch.full((1, JOINTS), size)
    assert bool(score()(-far, far, DT).isfinite().all())


def test_a_time_step_may_be_a_number_of_numpy() -> None:
    before, after, noise = step()
    expected = score()(before, after, 0.25, noise=noise)
    for dt in (np.float64(0.25), np.float32(0.25)):
        assert torch.allclose(score()(before, after, dt, noise=noise), expected, rtol=1e-4, atol=1e-6)  # type: ignore[arg-type]


def test_the_settings_say_what_scores_depend_on() -> None:
    made = PoseGeometryScore(score().prior, 0.6, 4, stabiliser=1e-5)
    assert made.settings == {
        "score": "pose geometry",
        "prior": score().prior.hash,
        "t_eval": [0.6],
        "samples": 4,
        "stabiliser": 1e-5,
    }
