"""The fused pass, automatic differentiation and finite differences: three ways to one number."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch import Tensor

from pfmhr.prior.denoiser import Prediction
from pfmhr.prior.network import PoseNetwork
from pfmhr.score import PoseGeometryScore, ReconstructionScore, fused
from pfmhr.score.autodiff import AutodiffEngine
from pfmhr.score.engine import Engine, make_engine, self_test
from pfmhr.score.fused import FusedEngine

from .priors import Matrix, around, normal, random_prior, refused, transitions

CPU = torch.device("cpu")
FLOW_TIMES = (0.01, 0.5, 0.75, 0.999)


def relative_error(ours: Tensor, expected: Tensor) -> float:
    return float((ours - expected).norm() / expected.norm())


def rank_correlation(first: Tensor, second: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([values.argsort().argsort().double() for values in (first, second)]))[0, 1])


def rms(values: Tensor) -> float:
    return float(values.square().mean().sqrt())


@pytest.mark.parametrize("prediction", ["clean", "velocity"])
@pytest.mark.parametrize("linears", [1, 2])
@pytest.mark.parametrize(("depth", "width"), [(1, 8), (2, 3), (3, 24)])
def test_three_ways_to_one_response(prediction: Prediction, linears: int, depth: int, width: int) -> None:
    prior = random_prior(4, depth, width, linears, prediction, seed=depth)
    noisy, directions, step = normal(7, 4, seed=1), normal(3, 7, 4, seed=2), 1e-5
    for flow_time in FLOW_TIMES:
        quick = FusedEngine(prior.denoiser, flow_time, CPU, torch.float64).respond(noisy, directions)
        reference = AutodiffEngine(prior.denoiser, flow_time, CPU, torch.float64).respond(noisy, directions)
        ahead, behind = (prior.denoise(noisy + sign * step * directions, flow_time) for sign in (1, -1))
        assert relative_error(quick, reference) < 1e-12
        assert relative_error(quick, (ahead - behind) / (2 * step)) < 1e-6
        assert rms(quick) > 1e-3  # says something


@pytest.mark.parametrize("prediction", ["clean", "velocity"])
@pytest.mark.parametrize("linears", [1, 2])
def test_the_fused_clean_pose_is_the_denoisers(prediction: Prediction, linears: int) -> None:
    prior, noisy = random_prior(6, 3, 16, linears, prediction), normal(9, 6, seed=3)
    for flow_time in FLOW_TIMES:
        engine = FusedEngine(prior.denoiser, flow_time, CPU, torch.float64)
        assert relative_error(engine.clean_pose(noisy), prior.denoise(noisy, flow_time)) < 1e-13


def test_the_test_network_is_no_trivial_one() -> None:
    """Its response changes with the pose, the direction and the flow time, so agreeing on it means something."""
    prior, directions = random_prior(4), normal(2, 1, 4, seed=2)
    early, late = (FusedEngine(prior.denoiser, time, CPU, torch.float64) for time in (0.5, 0.75))
    here, there = normal(1, 4, seed=3), normal(1, 4, seed=4)
    response = late.respond(here, directions)
    assert relative_error(late.respond(there, directions), response) > 0.1
    assert relative_error(early.respond(here, directions), response) > 0.1
    assert relative_error(response[1], response[0]) > 0.1


@pytest.mark.parametrize("kind", [FusedEngine, AutodiffEngine])
def test_directions_share_a_query_without_touching_each_other(kind: type) -> None:
    prior, noisy, directions = random_prior(5), normal(11, 5, seed=1), normal(6, 11, 5, seed=2)
    engine = kind(prior.denoiser, 0.75, CPU, torch.float64)
    together = engine.respond(noisy, directions)
    for place, along in enumerate(directions):
        assert torch.allclose(together[place], engine.respond(noisy, along[None])[0], rtol=1e-12, atol=1e-12)
    assert engine.respond(noisy, directions[:0]).shape == (0, 11, 5)
    assert torch.allclose(engine.respond(noisy, 3.0 * directions), 3.0 * together, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_rows_per_pass_do_not_show(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    prior, noisy, directions = random_prior(5), normal(21, 5, seed=1), normal(4, 21, 5, seed=2)
    whole = FusedEngine(prior.denoiser, 0.75, CPU, torch.float64)
    monkeypatch.setattr(fused, "ROWS_PER_PASS", rows)
    pieces = FusedEngine(prior.denoiser, 0.75, CPU, torch.float64)
    assert torch.allclose(pieces.respond(noisy, directions), whole.respond(noisy, directions), rtol=1e-12, atol=1e-12)
    assert torch.allclose(pieces.clean_pose(noisy), whole.clean_pose(noisy), rtol=1e-12, atol=1e-12)


def test_a_pose_at_which_the_hidden_layer_vanishes_is_finite() -> None:
    """Input bias 0 and z = 0: the norm divides by its ε alone."""
    prior = random_prior(4)
    with torch.no_grad():
        prior.denoiser.network.input.bias.zero_()
    noisy, directions = torch.zeros(1, 4, dtype=torch.float64), normal(2, 1, 4, seed=2)
    quick = FusedEngine(prior.denoiser, 0.75, CPU, torch.float64).respond(noisy, directions)
    reference = AutodiffEngine(prior.denoiser, 0.75, CPU, torch.float64).respond(noisy, directions)
    assert relative_error(quick, reference) < 1e-12


@pytest.mark.parametrize("prediction", ["clean", "velocity"])
def test_float32_and_bfloat16_are_close_to_float64(prediction: Prediction) -> None:
    prior = random_prior(29, 3, 64, prediction=prediction, dtype=torch.float32)
    before, after, noise = transitions(prior, 400)
    scores = {
        precision: PoseGeometryScore(prior, precision=precision)(before, after, 0.02, noise=noise).double()
        for precision in ("float64", "float32", "bfloat16")
    }
    exact = scores["float64"]
    assert float(((scores["float32"] - exact) / exact).abs().max()) < 1e-5
    assert float(((scores["bfloat16"] - exact) / exact).abs().max()) < 0.02
    assert rank_correlation(scores["bfloat16"], exact) > 0.999


def test_bfloat16_scores_are_float32() -> None:
    prior = random_prior(5, dtype=torch.float32)
    before, after, noise = transitions(prior, 3)
    assert PoseGeometryScore(prior, precision="bfloat16")(before, after, 0.02, noise=noise).dtype == torch.float32
    assert PoseGeometryScore(prior, precision="float64")(before, after, 0.02, noise=noise).dtype == torch.float64


def test_both_engines_give_the_same_score() -> None:
    prior = random_prior(6, dtype=torch.float32)
    before, after, noise = transitions(prior, 30)
    quick = PoseGeometryScore(prior, engine="fused")(before, after, 0.02, noise=noise)
    reference = PoseGeometryScore(prior, engine="autodiff")(before, after, 0.02, noise=noise)
    assert torch.allclose(quick, reference, rtol=1e-5)


def test_our_own_network_gets_the_fused_engine() -> None:
    prior = random_prior()
    assert isinstance(make_engine(prior, 0.75, CPU), FusedEngine)
    assert isinstance(make_engine(prior, 0.75, CPU, "autodiff"), AutodiffEngine)


class Wrong:
    """An engine that is off by a factor in its response, its clean pose, or both."""

    def __init__(self, right: Engine, response: float, clean: float) -> None:
        self.right, self.response, self.clean = right, response, clean

    def clean_pose(self, noisy_pose: Tensor) -> Tensor:
        return self.clean * self.right.clean_pose(noisy_pose)

    def respond(self, noisy_pose: Tensor, directions: Tensor) -> Tensor:
        return self.response * self.right.respond(noisy_pose, directions)


@pytest.mark.parametrize(
    ("response", "clean", "what"),
    [(1.001, 1.0, "response"), (1.0, 0.999, "clean pose"), (-1.0, 1.0, "response"), (float("nan"), 1.0, "response")],
)
def test_the_self_test_refuses_a_wrong_engine(response: float, clean: float, what: str) -> None:
    denoiser = random_prior().denoiser
    right, exact = (AutodiffEngine(denoiser, 0.75, CPU, dtype) for dtype in (torch.float32, torch.float64))
    with refused("engine_mismatch", what):
        self_test(Wrong(right, response, clean), right, exact, 5, CPU, torch.float32, 1e-4)


def test_the_self_test_allows_errors_within_its_tolerance() -> None:
    denoiser = random_prior().denoiser
    right, exact = (AutodiffEngine(denoiser, 0.75, CPU, dtype) for dtype in (torch.float32, torch.float64))
    nearly = Wrong(right, 1.0 + 5e-5, 1.0 - 5e-5)
    self_test(nearly, right, exact, 5, CPU, torch.float32, 1e-4)
    with refused("engine_mismatch"):
        self_test(nearly, right, exact, 5, CPU, torch.float32, 1e-5)


@pytest.mark.parametrize(("ours", "theirs", "fine"), [(2e-3, 1e-3, True), (2e-2, 1e-3, False), (0.1, 0.1, False)])
def test_the_self_test_knows_how_coarse_the_machine_s_products_are(ours: float, theirs: float, fine: bool) -> None:
    """With TF32 autodiff itself is off by a thousandth; ten times that is allowed, and a twentieth never exceeded."""
    exact = AutodiffEngine(random_prior().denoiser, 0.75, CPU, torch.float64)
    engine, usual = (Wrong(exact, 1.0 + each, 1.0 + each) for each in (ours, theirs))
    with nullcontext() if fine else refused("engine_mismatch"):
        self_test(engine, usual, exact, 5, CPU, torch.float64, 1e-4)


def test_a_score_may_be_made_under_autocast() -> None:
    prior = random_prior(6, dtype=torch.float32)
    before, after, noise = transitions(prior, 30)
    outside = PoseGeometryScore(prior)(before, after, 0.02, noise=noise)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(PoseGeometryScore(prior)(before, after, 0.02, noise=noise), outside)
        ReconstructionScore(prior)


def test_a_score_is_not_made_with_a_wrong_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    right = FusedEngine.respond
    monkeypatch.setattr(FusedEngine, "respond", lambda self, pose, along: 1.01 * right(self, pose, along))
    for choice in ("auto", "fused"):
        with refused("engine_mismatch", "autodiff"):
            PoseGeometryScore(random_prior(), engine=choice)
    PoseGeometryScore(random_prior(), engine="autodiff")


def test_a_network_that_only_looks_like_ours_is_found_out() -> None:
    class Twisted(PoseNetwork):
        def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
            return super().forward(noisy_pose, flow_time).flip(-1)

    prior = random_prior()
    prior.denoiser.network.__class__ = Twisted
    with refused("engine_mismatch"):
        PoseGeometryScore(prior)


def test_what_the_fused_engine_cannot_do_is_refused() -> None:
    foreign = around(Matrix([[1.0]]), (0.0,))
    with refused("bad_config", "autodiff"):
        make_engine(foreign, 0.75, CPU, "fused")
    with refused("bad_config", "bfloat16"):
        make_engine(foreign, 0.75, CPU, "auto", "bfloat16")
    with refused("bad_config", "bfloat16"):
        make_engine(random_prior(), 0.75, CPU, "autodiff", "bfloat16")


def test_unknown_engines_and_precisions_are_refused() -> None:
    with refused("unknown_name", "fused", "autodiff"):
        make_engine(random_prior(), 0.75, CPU, "fast")  # type: ignore[arg-type]
    with refused("unknown_name", "float32", "bfloat16"):
        make_engine(random_prior(), 0.75, CPU, precision="float16")  # type: ignore[arg-type]
