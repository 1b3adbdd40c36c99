"""What counts as a good score: the distribution of the scores of the reference motion itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.inputs import as_motion_ids, as_scores, check_count, check_dt
from pfmhr.motion import Motion
from pfmhr.motion.cycle import repeats
from pfmhr.prior import PosePrior
from pfmhr.reward.distribution import ReferenceDistribution
from pfmhr.reward.settings import DRAWS
from pfmhr.reward.transitions import moving_transitions, require_joints


class TransitionScore(Protocol):
    """Anything that scores transitions: the Pose Geometry Score, the reconstruction error."""

    prior: PosePrior
    of_changes: ClassVar[bool]
    """Whether it judges changes: where there is none, there is nothing to judge, in the reference as in a rollout."""

    @property
    def settings(self) -> dict[str, Any]:
        """What its values depend on."""
        ...

    def evaluate(
        self, previous_pose: Any, pose: Any, dt: float, *, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Values ``(channels, N)``, and which transitions ``(N,)`` are finite."""
        ...


@dataclass(frozen=True)
class Reference:
    """One motion of a calibration, and what was counted on the way."""

    name: str
    transitions: int
    """How many were scored."""
    without_change: int
    """Left out: no joint moved, so there is no direction to judge."""
    not_finite: int
    """Left out: NaN or infinity."""
    loop: bool
    """Whether the step from the last frame to the first was counted."""


class Calibration:
    """Scores of every transition of the reference motions, per motion, at the control time step."""

    def __init__(
        self,
        settings: dict[str, Any],
        dt: float,
        references: Sequence[Reference],
        channels: Sequence[Sequence[Tensor]],
        pooled: bool = False,
        draws: int = 1,
    ) -> None:
        """``channels[c][m]``: values of channel c (one for PGS) and motion m, draw after draw."""
        self.settings, self.dt, self.references, self.pooled = settings, float(dt), tuple(references), pooled
        self.draws = draws
        self.values = tuple(tuple(motion.detach().float().cpu() for motion in channel) for channel in channels)
        shown = [[torch.cat(list(channel))] if pooled else list(channel) for channel in self.values]
        self.distributions = tuple(ReferenceDistribution(motions) for motions in shown)

    @staticmethod
    def fit(
        score: TransitionScore,
        motions: Sequence[Motion],
        dt: float,
        generator: torch.Generator | None = None,
        pooled: bool = False,
        phases: int = 1,
        draws: int = DRAWS,
    ) -> Calibration:
        """Score every transition of each motion, resampled to ``dt``.

        For a cycle the step from the last frame to the first counts too. Transitions without any change
        are left out: they have no direction. With ``pooled`` all motions share one distribution.

        Args:
            phases: transitions begin that many times per time step, for a finer distribution of a short clip.
            draws: how often each transition is scored, every time with new noise. All of these scores enter the
                distribution: a percentile is the mean of what single draws would give. With one draw the share of
                the reference that falls below p_good is a matter of luck.
        """
        dt = check_dt(dt)
        phases, draws = check_count(phases, "phases"), check_count(draws, "draws")
        if not motions:
            raise InputError("no reference motion to calibrate on", code="bad_calibration")
        fitted = [_score_motion(score, motion, dt, generator, phases, draws) for motion in motions]
        channels = [list(channel) for channel in zip(*(values.unbind(0) for _, values in fitted), strict=True)]
        return Calibration(score.settings, dt, [reference for reference, _ in fitted], channels, pooled, draws)

    def percentile(self, score: Tensor, motion_id: int | Tensor = 0) -> Tensor:
        """Share of the reference scores not above each score ``(N,)``; in [0, 1]."""
        scores = as_scores(score)
        return self.distributions[0].not_above(scores, self.motion_ids(scores, motion_id))

    def motion_ids(self, like: Tensor, motion_id: int | Tensor) -> Tensor:
        """Motion numbers ``(N,)`` on the device of ``like``; a single one serves all rows."""
        ids = as_motion_ids(motion_id, like, len(self.references))
        return torch.zeros_like(ids, dtype=torch.long) if self.pooled else ids.long()

    def require(self, score: TransitionScore) -> None:
        """Refuse to judge another score than the one this was made with."""
        theirs = score.settings
        for name in sorted(self.settings.keys() | theirs.keys()):
            mine, other = self.settings.get(name), theirs.get(name)
            if mine != other:
                raise InputError(
                    f"the calibration was made with another {name}",
                    expected=f"{name} {_short(other)}",
                    got=f"{name} {_short(mine)}",
                    fix="Calibrate again with `pfmhr calibrate`.",
                    code="wrong_calibration",
                )

    def require_dt(self, dt: float) -> None:
        """Refuse another time step."""
        if not abs(dt - self.dt) <= 1e-6 * self.dt:
            raise InputError(
                "the calibration was made for another time step",
                expected=f"{dt:g} s",
                got=f"{self.dt:g} s",
                fix="Calibrate again with the control time step.",
                code="wrong_calibration",
            )

    def save(self, path: str | Path) -> None:
        """Write one npz with a JSON header, whole or not at all."""
        from pfmhr.reward.calibration_file import save

        save(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Calibration:
        """Read what :meth:`save` wrote."""
        from pfmhr.reward.calibration_file import load

        return load(Path(path))

    def header(self) -> dict[str, Any]:
        """Everything but the values."""
        return {
            "settings": self.settings,
            "dt": self.dt,
            "pooled": self.pooled,
            "draws": self.draws,
            "channels": len(self.values),
            "references": [asdict(reference) for reference in self.references],
        }


def _score_motion(
    score: TransitionScore, motion: Motion, dt: float, generator: torch.Generator | None, phases: int, draws: int
) -> tuple[Reference, Tensor]:
    require_joints(score.prior, motion)
    before, after, moving = moving_transitions(motion, dt, phases, with_still=not score.of_changes)
    still = int((~moving).sum()) if score.of_changes else 0
    device = score.prior.device
    before, after = before.to(device), after.to(device)
    scored = [score.evaluate(before, after, dt, generator=generator) for _ in range(draws)]
    finite = scored[0][1]  # of the poses, whatever the noise
    reference = Reference(motion.name, int(finite.sum()), still, int((~finite).sum()), loop=repeats(motion))
    if reference.transitions == 0:
        raise InputError(
            "no transition to calibrate on",
            where=motion.source or motion.name,
            got=f"{motion.num_frames} frames, {still} steps without change, {reference.not_finite} not finite",
            code="bad_calibration",
        )
    return reference, torch.cat([values[:, finite] for values, _ in scored], dim=1).cpu()


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:12]}…"
