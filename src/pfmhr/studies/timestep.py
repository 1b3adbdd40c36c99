"""At which flow time does the score tell real changes from spoilt ones best? The supplement's table and beyond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration
from pfmhr.score import PoseGeometryScore
from pfmhr.studies.perturbations import FAMILIES
from pfmhr.studies.transitions import Transitions, spoilt_directions

TIMES = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)


def timestep_study(
    prior: PosePrior,
    transitions: Transitions,
    times: Sequence[float] = TIMES,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Discrimination by flow time, and where it peaks."""
    rows = []
    for done, time in enumerate(times):
        progress(done, len(times))
        rows.append({"t_eval": time, **discrimination(prior, transitions, time, seed)})
    best = max(rows, key=lambda row: row["average"])
    return {"rows": rows, "best_t_eval": best["t_eval"], "transitions": len(transitions)}


def recommendation(result: dict[str, Any]) -> str:
    """Which t_eval to use, and how much the choice matters."""
    rows = {row["t_eval"]: row["average"] for row in result["rows"]}
    best = result["best_t_eval"]
    near = [f"{time:g}" for time, value in rows.items() if value >= 0.95 * rows[best]]
    kept = f" (0.75, the paper's, keeps {100.0 * rows[0.75] / rows[best]:.0f} % of it)" if 0.75 in rows else ""
    return f"use t_eval {best:g}: discrimination {rows[best]:.3f}{kept}; within 5 % of it: {', '.join(near)}"


def discrimination(prior: PosePrior, transitions: Transitions, flow_time: float, seed: int = 0) -> dict[str, float]:
    """Mean fall of the reference percentile under each family of perturbations, averaged over severities.

    Each clip is its own reference, calibrated anew at this time with noise of its own. The corrupted
    query is the same before and after a perturbation, and the noise the same at every flow time.
    """
    score = PoseGeometryScore(prior, flow_time)
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(1, *transitions.previous.shape, generator=generator)
    calibration = Calibration.fit(score, transitions.motions, transitions.dt, generator=generator)
    direction = transitions.direction(score)
    spoilt = spoilt_directions(direction, seed)
    scores = score.along(transitions.previous, torch.stack([direction, *spoilt.values()]), noise=noise)
    percentile = torch.stack([calibration.percentile(each, transitions.clip) for each in scores])
    fall: dict[str, float] = {}
    for family in FAMILIES:
        rows = [1 + place for place, (name, _) in enumerate(spoilt) if name == family]
        fall[family] = _mean(percentile[0] - percentile[rows])
    return {**fall, "average": float(np.mean(list(fall.values())))}


def _mean(values: Tensor) -> float:
    return float(values.double().mean())
