"""What one evaluation of a policy found: success and errors over its episodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

ERRORS = ("success", "success_strict", "position_error", "rotation_error", "body_error")
"""Figures of an evaluation that summaries keep and tables show."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Means over episodes; errors over all frames before an episode was lost. None: not measured, or nothing tracked.

    Results of earlier versions lack some of the figures.
    """

    success: float
    """Mean over episodes of tracked time / time that could be tracked."""
    success_pooled: float | None = None
    """Tracked time of all episodes / time that could be tracked in all of them: long episodes count more."""
    success_interval: tuple[float, float] | None = None
    """95 % of the mean, by bootstrap over episodes."""
    success_strict: float | None = None
    """Success if episodes had ended at 0.5 m."""
    success_by_clip: tuple[float | None, ...] = ()
    """Success of each clip's episodes, in the order of the clips; None for a clip that no episode began in."""
    position_error: float | None = None
    """E_pos in m: joints in the robot's frame and root in the world's, mean over all."""
    position_error_turned: float | None = None
    """E_pos with joints turned into the root's frame as well: the other reading of "robot-local"."""
    rotation_error: float | None = None
    """E_rot in rad, likewise."""
    body_error: float | None = None
    """m, bodies relative to the root's position, mean over bodies."""
    root_error: float | None = None
    """m, root in the world."""
    position_interval: tuple[float | None, float | None] | None = None
    rotation_interval: tuple[float | None, float | None] | None = None
    episodes: int | None = None
    distance: float | None = None
    """m at which an episode was lost."""
    start: str | None = None
    horizon: float | None = None
    """s an episode lasts at most."""
    samples: int | None = None
    """Samples of training at this evaluation; None after training."""
    horizons: tuple[Evaluation, ...] = ()
    """The same episodes with other horizons."""

    def value(self, figure: str) -> float | None:
        """One of the figures above, by its name."""
        return getattr(self, figure)


def with_horizons(evaluations: tuple[Evaluation, ...] | list[Evaluation]) -> Evaluation:
    """The first of several evaluations of the same episodes, with the others as its ``horizons``."""
    first, *others = evaluations
    return replace(first, horizons=tuple(others))
