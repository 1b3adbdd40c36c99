"""torch.compile around scores and modulators: the same numbers, in one graph where nothing is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration, ReconstructionModulator, RewardModulator
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore, ReconstructionScore
from pfmhr.score.engine import Choice

DT = 1 / 30
WHOLE = [pytest.param(True, id="one_graph"), pytest.param(False, id="breaks")]


@pytest.fixture(autouse=True)
def compiled_anew() -> Iterator[None]:
    """No test meets what another has compiled."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture(scope="module")
def prior() -> PosePrior:
    return PosePrior.load("g1-small")


@pytest.fixture(scope="module")
def steps(g1: Robot) -> tuple[Tensor, Tensor]:
    """Poses before and after each step of the walk."""
    poses = torch.from_numpy(embedded_motion("walk", g1).resample(30.0).joint_pos)
    return poses[:-1].contiguous(), poses[1:].contiguous()


def compiled(function: Any, whole: bool) -> Any:
    """Traced and run without a compiler of C."""
    return torch.compile(function, backend="aot_eager", fullgraph=whole)


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("engine", ["fused", "autodiff"])
def test_a_function_of_the_users_that_scores_gives_the_same_compiled(
    prior: PosePrior, steps: tuple[Tensor, Tensor], engine: Choice, whole: bool
) -> None:
    score, noise = PoseGeometryScore(prior, engine=engine), torch.randn(1, *steps[0].shape)

    def twice(before: Tensor, after: Tensor) -> Tensor:
        return 2.0 * score(before, after, DT, noise=noise)

    assert compiled(twice, whole)(*steps) == pytest.approx(twice(*steps), rel=1e-4)


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("kind", ["pfm", "recon"])
def test_a_modulator_gives_the_same_compiled(
    g1: Robot, prior: PosePrior, steps: tuple[Tensor, Tensor], kind: str, whole: bool
) -> None:
    score = PoseGeometryScore(prior) if kind == "pfm" else ReconstructionScore(prior)
    calibration = Calibration.fit(score, [embedded_motion("walk", g1)], dt=DT)
    make: Any = RewardModulator if kind == "pfm" else ReconstructionModulator
    modulator = make(score, calibration)
    motion = torch.zeros(len(steps[0]), dtype=torch.long)

    def reward(before: Tensor, after: Tensor) -> Tensor:
        return modulator.combine(torch.ones(len(before)), modulator(before, after, DT, motion_id=motion))

    torch.manual_seed(0)
    expected = reward(*steps)
    torch.manual_seed(0)
    assert compiled(reward, whole)(*steps) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("whole", WHOLE)
def test_the_clean_pose_map_gives_the_same_compiled(
    prior: PosePrior, steps: tuple[Tensor, Tensor], whole: bool
) -> None:
    assert compiled(prior.denoise, whole)(steps[0], 0.75) == pytest.approx(prior.denoise(steps[0], 0.75), abs=1e-5)
