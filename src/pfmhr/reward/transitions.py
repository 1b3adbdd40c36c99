"""The steps of a reference motion at a controller's rate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.inputs import check_dt
from pfmhr.motion import Motion
from pfmhr.motion.cycle import closed, repeats
from pfmhr.prior import PosePrior

STILL = 1e-4
"""rad/s: a joint slower than this stands still. Files of six decimals make such speeds out of nothing."""


def moving_transitions(
    motion: Motion, dt: float, phases: int = 1, with_still: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Poses before and after every step of ``dt`` seconds in which a joint moves, each ``(N, J)`` rad.

    Also which of all steps ``(T,)`` those are. A cycle's closing step is one of them, if the clip can be repeated at
    all; steps in which nothing moves are not, unless ``with_still``: they have no direction to judge. With ``phases``
    steps begin that many times per ``dt``.
    """
    rate = phases / check_dt(dt)
    cycles = repeats(motion)
    played = closed(motion)
    poses = torch.from_numpy((_continued(played, dt) if cycles else motion).resample(rate).joint_pos)
    before, after = poses[:-phases], poses[phases:]
    if cycles:
        period = (played.num_frames - 1) / motion.fps
        before, after = (side[: math.floor(period * rate + 1e-6)] for side in (before, after))
    moving = is_moving(before, after, dt)
    return (before, after, moving) if with_still else (before[moving], after[moving], moving)


def is_moving(before: Tensor, after: Tensor, dt: float) -> Tensor:
    """(N,) whether any joint moves from one pose to the other, each ``(N, J)`` rad; NaN counts as moving."""
    return ~((after - before).abs_() < STILL * dt).all(dim=1)


def require_joints(prior: PosePrior, motion: Motion) -> None:
    """Refuse a motion whose joints are not exactly the prior's, in its order."""
    if motion.joint_names != prior.joint_names:
        raise InputError(
            "the motion is for other joints than the prior",
            where=motion.source or motion.name,
            expected=f"{', '.join(prior.joint_names[:3])}, … ({len(prior.joint_names)})",
            got=f"{', '.join(motion.joint_names[:3])}, … ({len(motion.joint_names)})",
            code="wrong_robot",
        )


def _continued(cycle: Motion, dt: float) -> Motion:
    """A closed cycle, its last frame the first of the next, going on for another step behind its end."""
    period = cycle.num_frames - 1
    frames = np.arange(period + math.ceil(dt * cycle.fps) + 1) % period
    names = ("joint_pos", "root_pos", "root_quat")
    return replace(cycle, loop=False, **{name: getattr(cycle, name)[frames] for name in names})
