"""The method in plain torch is an oracle: on the same network it gives what the package gives."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch import Tensor

from pfmhr import Calibration, Motion, PoseGeometryScore, PosePrior, RewardModulator
from pfmhr.motion.embedded import embedded_motion

T_EVAL, DT = 0.75, 1 / 30


@pytest.fixture(scope="module")
def method(example: Callable[[str], ModuleType]) -> ModuleType:
    return example("method")


@pytest.fixture(scope="module")
def prior() -> PosePrior:
    return PosePrior.load("g1-small")


@pytest.fixture(scope="module")
def kick() -> Motion:
    """A clip that is not repeated, so that its steps are those between its frames."""
    clip = embedded_motion("front_kick", seed=3)
    assert not clip.loop
    return clip


def denoiser(prior: PosePrior) -> Callable[[Tensor, Tensor], Tensor]:
    """The real network in double precision, called as the example calls its own."""
    network = copy.deepcopy(prior.denoiser).double()
    return lambda noisy, time: network(noisy, time.squeeze(1))


def transitions(prior: PosePrior, clip: Motion) -> tuple[Tensor, Tensor]:
    """Poses before and after each step, ``(N, J)`` rad in double precision."""
    poses = torch.from_numpy(clip.resample(1 / DT).joint_pos).double()
    return poses[:-1], poses[1:]


def test_its_loss_is_that_of_training(method: ModuleType, prior: PosePrior) -> None:
    poses = torch.randn(64, 29, dtype=torch.float64)
    noise, time = torch.randn_like(poses), 0.99 * torch.rand(64, 1, dtype=torch.float64)  # before t = 1 − δ
    ours = copy.deepcopy(prior.denoiser).double().loss(poses, noise, time.squeeze(1)).mean()
    torch.testing.assert_close(method.flow_loss(denoiser(prior), poses, noise, time), ours, rtol=1e-9, atol=0)


def test_its_score_is_the_score(method: ModuleType, prior: PosePrior, kick: Motion) -> None:
    before, after = transitions(prior, kick)
    noise = torch.randn(before.shape, dtype=torch.float64)
    at, then = prior.normalise(before), prior.normalise(after)
    plain = method.pose_geometry_score(denoiser(prior), at, then, noise, T_EVAL)
    exact = PoseGeometryScore(prior, T_EVAL, precision="float64")(before, after, DT, noise=noise[None])
    torch.testing.assert_close(exact.double(), plain, rtol=1e-6, atol=0)  # scores are returned in single precision
    fast = PoseGeometryScore(prior, T_EVAL, engine="fused")(before, after, DT, noise=noise[None])
    torch.testing.assert_close(fast.double(), plain, rtol=1e-4, atol=0)
    assert plain.max() > 2 * plain.min() > 0


def test_its_calibration_and_factor_are_those_of_the_modulator(
    method: ModuleType, prior: PosePrior, kick: Motion
) -> None:
    score = PoseGeometryScore(prior, T_EVAL)
    calibration = Calibration.fit(score, [kick], DT, torch.Generator().manual_seed(1))
    before, after = (side.float() for side in transitions(prior, kick))
    moving = ((after - before).abs() > 1e-4 * DT).any(dim=1)
    reference = _scores(method, prior, before[moving], after[moving], seed=1)
    torch.testing.assert_close(calibration.distributions[0].scores[0], reference.sort().values, rtol=1e-4, atol=0)

    shuffled = before + (after - before)[:, torch.randperm(29, generator=torch.Generator().manual_seed(2))]
    rollout = torch.cat([after[moving], shuffled[moving]])
    starts = torch.cat([before[moving]] * 2)
    plain = method.percentile(reference, _scores(method, prior, starts, rollout, seed=5))
    factor = RewardModulator(score, calibration)(starts, rollout, DT, generator=torch.Generator().manual_seed(5))
    # Rounding may put a score on the other side of one reference score, which is one rank.
    rank = 1 / len(reference)
    torch.testing.assert_close(factor, method.reward_factor(plain), rtol=0, atol=0.5 * rank / 0.04 + 1e-6)
    assert (factor - method.reward_factor(plain)).abs().median() < 1e-6
    assert factor.min() < 0.7 and factor.max() == 1.0


def _scores(method: ModuleType, prior: PosePrior, before: Tensor, after: Tensor, seed: int) -> Tensor:
    """The example's scores with the noise the package draws from a generator of this seed."""
    noise = torch.randn(len(before), 1, 29, generator=torch.Generator().manual_seed(seed))[:, 0]
    at, then = prior.normalise(before.double()), prior.normalise(after.double())
    return method.pose_geometry_score(denoiser(prior), at, then, noise.double(), T_EVAL).float()


def test_its_factor_by_hand(method: ModuleType) -> None:
    shares = torch.tensor([0.0, 0.01, 0.03, 0.05, 1.0])
    expected = [math.exp(-0.5), math.exp(-0.5), math.exp(-0.25), 1.0, 1.0]
    assert method.reward_factor(shares).tolist() == pytest.approx(expected, abs=1e-6)
    reference = torch.tensor([4.0, 1.0, 2.0, 2.0])
    assert method.percentile(reference, torch.tensor([0.5, 1.0, 2.0, 3.0, 9.0])).tolist() == [0, 0.25, 0.75, 0.75, 1.0]


def test_a_short_run_prefers_real_changes_in_either_direction(
    method: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    factors = method.main(steps=400)
    assert factors["as in the walk"] > 0.95 and factors["played backwards"] > 0.95
    assert factors["joints shuffled"] < 0.9 and factors["random"] < 0.9
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("10,770 poses of 110 clips") and len(printed) == 6
