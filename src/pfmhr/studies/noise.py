"""Is one corruption sample enough? Estimates from K samples against one from 128: a table of the supplement."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from scipy.stats import spearmanr
from torch import Tensor

from pfmhr.prior import PosePrior
from pfmhr.reward import Calibration, Ramp
from pfmhr.score import PoseGeometryScore
from pfmhr.score.defaults import T_EVAL
from pfmhr.studies.transitions import Transitions

SAMPLES = (1, 2, 4, 8)
REFERENCE_SAMPLES = 128
LATENCY_BATCH = 4096


def noise_study(
    prior: PosePrior,
    transitions: Transitions,
    t_eval: float = T_EVAL,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """The table, with percentiles under the one-sample distribution that training uses."""
    ramp, generator = Ramp(), torch.Generator().manual_seed(seed)
    single = PoseGeometryScore(prior, t_eval)
    calibration = Calibration.fit(single, transitions.motions, transitions.dt, generator=generator)
    total, done = REFERENCE_SAMPLES + sum(SAMPLES), 0
    estimates: dict[int, Tensor] = {}
    for samples in (*SAMPLES, REFERENCE_SAMPLES):
        score = PoseGeometryScore(prior, t_eval, samples)
        after = transitions.previous + transitions.change
        estimates[samples] = score(transitions.previous, after, transitions.dt, generator=generator)
        done += samples
        progress(done, total)
    reference = estimates[REFERENCE_SAMPLES]
    rows = [
        {
            "samples": samples,
            **_compare(estimate, reference, calibration, transitions.clip, ramp),
            "milliseconds": _latency(prior, transitions, t_eval, samples),
        }
        for samples, estimate in estimates.items()
    ]
    return {"rows": rows, "t_eval": t_eval, "transitions": len(transitions), "latency_batch": LATENCY_BATCH}


def _compare(
    estimate: Tensor, reference: Tensor, calibration: Calibration, clip: Tensor, ramp: Ramp
) -> dict[str, float]:
    mine, theirs = calibration.percentile(estimate, clip), calibration.percentile(reference, clip)
    return {
        "rank_correlation": float(spearmanr(estimate.numpy(), reference.numpy())[0]),  # type: ignore[arg-type]
        "percentile_mae": float((mine - theirs).abs().double().mean()),
        "region_agreement": float((ramp.region(mine) == ramp.region(theirs)).double().mean()),
        "reward_mae": float((ramp.multiplier(mine) - ramp.multiplier(theirs)).abs().double().mean()),
    }


def _latency(prior: PosePrior, transitions: Transitions, t_eval: float, samples: int) -> float:
    """Milliseconds to score a batch of 4096 on this machine."""
    rows = torch.arange(LATENCY_BATCH) % len(transitions)
    before = transitions.previous[rows]
    after = before + transitions.change[rows]
    score = PoseGeometryScore(prior, t_eval, samples)
    seconds = []
    for _ in range(5 if samples < REFERENCE_SAMPLES else 2):
        start = time.perf_counter()
        score(before, after, transitions.dt)
        seconds.append(time.perf_counter() - start)
    return round(1000.0 * median(seconds), 2)
