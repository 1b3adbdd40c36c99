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
