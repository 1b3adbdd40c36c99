"""What the score does to a change that is larger, turned, shuffled or partly reversed: a table of the supplement."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration, Ramp
from pfmhr.score import PoseGeometryScore
from pfmhr.score.defaults import T_EVAL
from pfmhr.studies.transitions import Transitions, spoilt_directions

MAGNITUDES = (0.25, 0.5, 2.0, 4.0)
PAPER: dict[tuple[str, float], tuple[float, float, float, float]] = {
    ("magnitude", 0.25): (0.984, -0.004, -0.001, 0.991),
    ("magnitude", 0.5): (0.995, -0.001, -0.000, 0.997),
    ("magnitude", 2.0): (1.001, 0.000, 0.000, 0.998),
    ("magnitude", 4.0): (1.002, 0.001, 0.000, 0.996),
    ("angular", 15.0): (0.928, -0.018, -0.006, 0.961),
    ("angular", 30.0): (0.794, -0.057, -0.021, 0.894),
    ("angular", 45.0): (0.623, -0.126, -0.058, 0.786),
    ("angular", 60.0): (0.441, -0.214, -0.118, 0.652),
    ("angular", 75.0): (0.350, -0.280, -0.160, 0.575),
    ("angular", 90.0): (0.268, -0.318, -0.205, 0.507),
    ("permutation", 0.25): (0.842, -0.043, -0.015, 0.918),
    ("permutation", 0.5): (0.654, -0.112, -0.047, 0.810),
    ("permutation", 0.75): (0.510, -0.180, -0.100, 0.703),
    ("permutation", 1.0): (0.372, -0.251, -0.151, 0.595),
    ("sign_flip", 0.25): (0.878, -0.032, -0.010, 0.934),
    ("sign_flip", 0.5): (0.712, -0.091, -0.035, 0.848),
    ("sign_flip", 0.75): (0.660, -0.105, -0.040, 0.830),
    ("sign_flip", 1.0): (1.000, 0.000, 0.000, 1.000),
}
"""Normalised PGS, Δpercentile, Δmultiplier, region agreement."""


def perturbation_study(
    prior: PosePrior, transitions: Transitions, t_eval: float = T_EVAL, seed: int = 0, ramp: Ramp | None = None
) -> dict[str, Any]:
    """The four metrics for every perturbation and severity, query and noise held fixed."""
    ramp = ramp or Ramp()
    score = PoseGeometryScore(prior, t_eval)
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(1, *transitions.previous.shape, generator=generator)
    calibration = Calibration.fit(score, transitions.motions, transitions.dt, generator=generator)
    original = transitions.direction(score)
    spoilt = {("magnitude", scale): transitions.direction(score, scale) for scale in MAGNITUDES}
    spoilt |= spoilt_directions(original, seed)
    scores = score.along(transitions.previous, torch.stack([original, *spoilt.values()]), noise=noise)
    percentiles = torch.stack([calibration.percentile(each, transitions.clip) for each in scores])
    rows = [
        {
            "perturbation": family,
            "severity": severity,
            **_compare(scores[0], scores[place], percentiles[0], percentiles[place], ramp, score.stabiliser),
        }
        for place, (family, severity) in enumerate(spoilt, start=1)
    ]
    return {"rows": rows, "t_eval": t_eval, "transitions": len(transitions)}


def _compare(
    score: Tensor, spoilt: Tensor, percentile: Tensor, spoilt_percentile: Tensor, ramp: Ramp, stabiliser: float
) -> dict[str, float]:
    """The supplement's four metrics over ``(N,)`` transitions."""
    ratio = (spoilt + stabiliser) / (score + stabiliser)
    reward = ramp.multiplier(spoilt_percentile) - ramp.multiplier(percentile)
    return {
        "normalised_score": float(ratio.double().mean()),
        # A mean of ratios is ruled by the smallest denominators; the ratio of means is not.
        "ratio_of_means": float(spoilt.double().mean() / score.double().mean()),
        "percentile_change": float((spoilt_percentile - percentile).double().mean()),
        "multiplier_change": float(reward.double().mean()),
        "region_agreement": float((ramp.region(percentile) == ramp.region(spoilt_percentile)).double().mean()),
    }
