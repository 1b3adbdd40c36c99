"""The modulators there are, one row each: everything that names, describes or makes them reads it here.

A new one of ours is a module and a row. One of a user's own is named as ``package.module:Class`` and needs neither:
see :func:`modulator_kind`. Nothing here waits for torch until a modulator is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

from pfmhr.errors import InputError, unknown_name
from pfmhr.extension import OWN, is_own, resolve
from pfmhr.reward.settings import (
    CalibratedSettings,
    DistanceReward,
    NoSettings,
    PoseGeometrySettings,
    RandomSettings,
)

if TYPE_CHECKING:
    from pfmhr.distance import PoseDistanceField
    from pfmhr.motion import Motion
    from pfmhr.prior import PosePrior
    from pfmhr.reward.calibration import Calibration, TransitionScore
    from pfmhr.reward.modulators import Modulator

Needs = Literal["nothing", "prior", "field"]


@dataclass(frozen=True)
class Ingredients:
    """What a modulator can be made of, besides its settings."""

    motions: Sequence[Motion]
    """The reference motions, in the order of ``motion_id``."""
    dt: float
    """The control time step in s."""
    prior: str = ""
    """Directory or name of a prior, or of a distance field."""

    def load_prior(self) -> PosePrior:
        """The prior that was named."""
        from pfmhr.prior import PosePrior

        return PosePrior.load(self.prior)

    def load_field(self) -> PoseDistanceField:
        """The distance field that was named."""
        from pfmhr.distance import PoseDistanceField

        return PoseDistanceField.load(self.prior)

    def calibrate(self, score: TransitionScore, settings: CalibratedSettings) -> Calibration:
        """The scores of the reference motions, with the same noise in every run."""
        import torch

        from pfmhr.reward.calibration import Calibration

        noise = torch.Generator().manual_seed(0)
        how = (settings.pooled, settings.phases, settings.draws)
        return Calibration.fit(score, self.motions, self.dt, noise, *how)


@dataclass(frozen=True)
class ModulatorKind:
    """One row."""

    name: str
    label: str
    """As tables and figures call it."""
    about: str
    """A few words for help."""
    needs: Needs
    settings: type
    """A frozen dataclass; its defaults are the usual settings."""
    make: Callable[[Ingredients, Any], Modulator]
    control: bool = False
    """Whether it is there to be compared with, and says nothing by itself."""


def _none(given: Ingredients, settings: NoSettings) -> Modulator:
    from pfmhr.reward.modulators import NoModulation

    return NoModulation()


def _random(given: Ingredients, settings: RandomSettings) -> Modulator:
    from pfmhr.reward.controls import RandomModulation

    return RandomModulation(settings.alpha)


def _pfm(given: Ingredients, settings: PoseGeometrySettings) -> Modulator:
    from pfmhr.reward.modulators import RewardModulator
    from pfmhr.score import PoseGeometryScore

    score = PoseGeometryScore(given.load_prior(), settings.t_eval)
    return RewardModulator(score, given.calibrate(score, settings), settings.ramp)


def _shuffled(given: Ingredients, settings: PoseGeometrySettings) -> Modulator:
    from pfmhr.reward.controls import ShuffledModulation

    return ShuffledModulation(_pfm(given, settings))


def _recon(given: Ingredients, settings: CalibratedSettings) -> Modulator:
    from pfmhr.reward.modulators import ReconstructionModulator
    from pfmhr.score import ReconstructionScore

    score = ReconstructionScore(given.load_prior())
    return ReconstructionModulator(score, given.calibrate(score, settings), settings.ramp)


def _pdf(given: Ingredients, settings: DistanceReward) -> Modulator:
    from pfmhr.reward.distance import DistanceModulator

    return DistanceModulator(given.load_field(), given.motions, settings)


_ROWS = (
    ModulatorKind("none", "", "the reward as it is", "nothing", NoSettings, _none),
    ModulatorKind("pfm", "PFM-HR", "the Pose Geometry Score", "prior", PoseGeometrySettings, _pfm),
    ModulatorKind("recon", "FM-Recon", "the reconstruction error", "prior", CalibratedSettings, _recon),
    ModulatorKind("pdf", "PDF-HR", "a distance field", "field", DistanceReward, _pdf),
    ModulatorKind("random", "random", "random factors, a control", "nothing", RandomSettings, _random, control=True),
    ModulatorKind(
        "shuffled",
        "PFM-HR's factors, shuffled",
        "the factors of pfm on other transitions of the rollout, a control",
        "prior",
        PoseGeometrySettings,
        _shuffled,
        control=True,
    ),
)
MODULATORS = {row.name: row for row in _ROWS}
CHOICES = "|".join((*MODULATORS, OWN))
"""What may stand where a modulator is named."""
HELP = "; ".join([*(f"{row.name}: {row.about}" for row in _ROWS), f"{OWN}: your own"])
"""What each of them is, in one sentence."""


def modulator_kind(name: str) -> ModulatorKind:
    """The row of a name; ``package.module:Class`` is imported, and its row read from the class.

    Such a class is called with :class:`Ingredients` and its settings, and returns (or is) a
    :class:`~pfmhr.reward.Modulator`. It may have attributes ``needs`` ("nothing" unless it says "prior" or "field")
    and ``Settings`` (a frozen dataclass).
    """
    if name in MODULATORS:
        return MODULATORS[name]
    make = resolve(name, "modulator", MODULATORS)
    needs, settings = getattr(make, "needs", "nothing"), getattr(make, "Settings", NoSettings)
    if needs not in ("nothing", "prior", "field"):
        raise InputError("needs: nothing, prior or field", where=name, got=needs, code="bad_extension")
    if not (isinstance(settings, type) and is_dataclass(settings)):
        raise InputError("Settings must be a dataclass", where=name, got=settings, code="bad_extension")
    return ModulatorKind(name, label_of(name), "", needs, settings, make)


def require_modulator(name: str) -> None:
    """Refuse what names no modulator; nothing is imported."""
    if name not in MODULATORS and not is_own(name):
        raise unknown_name("modulator", name, [*MODULATORS, f"or your own as {OWN}"])


def label_of(name: str) -> str:
    """A modulator as tables call it; of the user's own the class's name. Nothing is imported."""
    return MODULATORS[name].label if name in MODULATORS else name.rpartition(":")[2]


def suffix_of(name: str) -> str:
    """What a modulator adds to the name of a run: " + PFM-HR", " × random", or nothing."""
    sign = "×" if name in MODULATORS and MODULATORS[name].control else "+"
    return f" {sign} {label_of(name)}" if label_of(name) else ""
