"""FM-Recon's factor: reverse percentiles at several flow times, averaged, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from pfmhr.reward import Calibration, Ramp, ReconstructionModulator
from pfmhr.score import ReconstructionScore

from ..score.priors import Target, around, float64
from .gauge import DT, clip


def reconstruction() -> ReconstructionModulator:
    """Errors (4 t − q)² at t = 1/4, 1/2, 3/4; references q = 0.4, 1.5, 2.6, 3.7 after a frame at 9."""
    score = ReconstructionScore(around(Target([4.0]), (0.0,)), (0.25, 0.5, 0.75))
    calibration = Calibration.fit(score, [clip([[9.0], [0.4], [1.5], [2.6], [3.7]])], DT, draws=1)
    return ReconstructionModulator(score, calibration, Ramp(alpha=1.0, p_good=1.0, p_bad=0.0))


def test_reconstruction_errors_of_the_reference_by_hand() -> None:
    """Of the pose after each step: (1 − q)², (2 − q)², (3 − q)²."""
    values = [channel[0].tolist() for channel in reconstruction().calibration.values]
    assert values[0] == pytest.approx([0.36, 0.25, 2.56, 7.29], rel=1e-5)
    assert values[1] == pytest.approx([2.56, 0.25, 0.36, 2.89], rel=1e-5)
    assert values[2] == pytest.approx([6.76, 2.25, 0.16, 0.49], rel=1e-5)


@pytest.mark.parametrize(
    ("pose", "shares"),
    [
        (1.2, (1.0, 0.5, 0.25)),  # errors 0.04, 0.64, 3.24: not above all four, two, one of the reference's
        (2.1, (0.5, 1.0, 0.5)),  # 1.21, 0.01, 0.81
        (3.0, (0.25, 0.5, 1.0)),  # 4, 1, 0
        (9.0, (0.0, 0.0, 0.0)),  # 64, 49, 36
    ],
)
def test_reverse_percentiles_are_averaged_over_levels(pose: float, shares: tuple[float, ...]) -> None:
    modulator, percentile = reconstruction(), sum(shares) / 3
    factor = modulator(float64([[math.nan]]), float64([[pose]]), DT)  # the pose before does not matter
    assert factor.item() == pytest.approx(math.exp(percentile - 1.0), abs=1e-6)
    assert modulator.statistics()["percentile"] == pytest.approx(percentile, abs=1e-6)


def test_a_broken_pose_has_no_reconstruction_and_is_left_alone() -> None:
    modulator = reconstruction()
    poses = float64([[9.0], [math.nan], [9.0]])
    factors = modulator(poses, poses, DT, valid=torch.tensor([True, True, False]))
    assert factors.tolist() == pytest.approx([math.exp(-1.0), 1.0, 1.0], abs=1e-6)
    assert modulator.statistics()["not_finite"] == 1


def test_poses_at_rest_are_references_too() -> None:
    """A pose is judged whether it moves or not, in a rollout as in the reference: half of this one stands at 1."""
    score = ReconstructionScore(around(Target([4.0]), (0.0,)), (0.25,))
    calibration = Calibration.fit(score, [clip([[1.0], [1.0], [1.0], [2.0], [3.0]])], DT, draws=1)
    assert calibration.values[0][0].tolist() == pytest.approx([0.0, 0.0, 1.0, 4.0], abs=1e-5)
    assert calibration.references[0].without_change == 0
    modulator = ReconstructionModulator(score, calibration, Ramp(alpha=1.0, p_good=1.0, p_bad=0.0))
    assert modulator(float64([[1.0]]), float64([[1.0]]), DT).item() == pytest.approx(1.0)
