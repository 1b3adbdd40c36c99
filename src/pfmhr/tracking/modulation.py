"""The prior in the loop: a modulator by its settings, calibrated on the clips that are tracked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.reward import (
    Calibration,
    DistanceModulator,
    DistanceReward,
    Modulator,
    NoModulation,
    ReconstructionModulator,
    RewardModulator,
)
from pfmhr.tracking.config import ModulatorConfig
from pfmhr.tracking.controls import RandomModulation, ShuffledModulation


def make_modulator(config: ModulatorConfig, motions: Sequence[Motion], dt: float) -> Modulator:
    """The modulator a config names, calibrated on ``motions`` at the control time step."""
    if config.kind == "none":
        return NoModulation()
    if config.kind == "random":
        return RandomModulation(config.alpha)
    if not config.prior:
        what = "distance field" if config.kind == "pdf" else "prior"
        raise InputError(f"modulator '{config.kind}' needs a {what}", fix="Name one with --prior.", code="bad_config")
    if config.kind == "pdf":
        from pfmhr.distance import PoseDistanceField

        reward = DistanceReward(config.pdf_good, config.pdf_combine, bad=config.pdf_bad, alpha=config.alpha)
        return DistanceModulator(PoseDistanceField.load(config.prior), motions, reward)
    return _calibrated(config, motions, dt)


def prior_hash(config: ModulatorConfig) -> str:
    """Which prior or distance field it is, wherever it lies; nothing without one."""
    if not config.prior or config.kind in ("none", "random"):
        return ""
    if config.kind == "pdf":
        from pfmhr.distance import PoseDistanceField

        return PoseDistanceField.load(config.prior).hash
    from pfmhr.prior import PosePrior

    return PosePrior.load(config.prior).hash


def _calibrated(config: ModulatorConfig, motions: Sequence[Motion], dt: float) -> Modulator:
    from pfmhr.prior import PosePrior
    from pfmhr.score import PoseGeometryScore, ReconstructionScore

    prior = PosePrior.load(config.prior)
    how: dict[str, Any] = {
        "generator": torch.Generator().manual_seed(0),
        "pooled": config.pooled,
        "phases": config.phases,
    }
    strength = (config.alpha, config.p_good, config.p_bad)
    if config.kind == "recon":
        recon = ReconstructionScore(prior)
        return ReconstructionModulator(recon, Calibration.fit(recon, motions, dt, **how), *strength)
    score = PoseGeometryScore(prior, config.t_eval)
    made = RewardModulator(score, Calibration.fit(score, motions, dt, **how), *strength)
    return ShuffledModulation(made) if config.kind == "shuffled" else made
