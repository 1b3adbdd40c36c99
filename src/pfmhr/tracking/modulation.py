"""The modulator of a run, by its config, calibrated on the clips that are tracked."""

from __future__ import annotations

from collections.abc import Sequence

from pfmhr.motion import Motion
from pfmhr.reward import Fading, Modulator, configuring
from pfmhr.reward.available import Ingredients, modulator_kind
from pfmhr.tracking.config import ModulatorConfig


def make_modulator(config: ModulatorConfig, motions: Sequence[Motion], dt: float) -> Modulator:
    """The modulator a config names, calibrated on ``motions`` at the control time step."""
    made = configuring.make_modulator(config.kind, Ingredients(motions, dt, config.prior), config.settings)
    return made if config.fade is None else Fading(made, config.fade)


def prior_hash(config: ModulatorConfig) -> str:
    """Which prior or distance field it is, wherever it lies; nothing without one."""
    needs = modulator_kind(config.kind).needs
    if not config.prior or needs == "nothing":
        return ""
    named = Ingredients((), 0.0, config.prior)
    return named.load_field().hash if needs == "field" else named.load_prior().hash
