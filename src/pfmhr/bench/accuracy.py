"""How exact the fast ways to a score are, on the bundled prior and whole motions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from scipy.stats import spearmanr
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration, Ramp
from pfmhr.reward.transitions import moving_transitions
from pfmhr.score import PoseGeometryScore

DT = 1.0 / 30.0


def score_accuracy(prior: PosePrior, motions: Sequence[Motion]) -> dict[str, Any]:
    """Fused float32 and bfloat16 against float64 autodiff, same transitions and noise."""
    generator = torch.Generator().manual_seed(0)
    sides = [moving_transitions(motion, DT)[:2] for motion in motions]
    before, after = (torch.cat(side) for side in zip(*sides, strict=True))
    clip = torch.cat([torch.full((len(side[0]),), number) for number, side in enumerate(sides)])
    noise = torch.randn(1, *before.shape, generator=generator)
    reference = PoseGeometryScore(prior, precision="float64", engine="autodiff")
    exact = reference(before.double(), after.double(), DT, noise=noise)
    calibration = Calibration.fit(PoseGeometryScore(prior), motions, DT, torch.Generator().manual_seed(1))
    result: dict[str, Any] = {"transitions": len(before), "clips": len(motions)}
    for precision in ("float32", "bfloat16"):
        ours = PoseGeometryScore(prior, precision=precision)(before, after, DT, noise=noise)
        result[precision] = _compare(ours, exact, calibration, clip)
    return result


def _compare(ours: Tensor, exact: Tensor, calibration: Calibration, clip: Tensor) -> dict[str, float]:
    error, ramp = (ours - exact).abs() / exact, Ramp()
    regions = [ramp.region(calibration.percentile(score, clip)) for score in (ours, exact.float())]
    return {
        "median_relative_error": float(error.median()),
        "largest_relative_error": float(error.max()),
        "spearman": float(spearmanr(ours.numpy(), exact.numpy())[0]),  # type: ignore[arg-type]
        "same_reward_region": float((regions[0] == regions[1]).double().mean()),
    }
