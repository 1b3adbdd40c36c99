"""From a list of footsteps to the paths of both feet and of the weight they carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pfmhr.motion.embedded.curves import Array, bump, keyed, smooth
from pfmhr.motion.embedded.sketch import grounded

Place = tuple[float, float, float]
"""x, y in m and heading in rad."""
SHIFT = 0.35
"""Time in s to bring the weight from both feet onto one, before a first step and after a last."""


@dataclass(frozen=True)
class Stride:
    """The shape of a step; pitches in rad, positive with the toes down."""

    height: float = 0.05
    """How far the sole is lifted at mid-swing, in m."""
    toe_off: float = 0.0
    """Pitch when the toe leaves the floor."""
    fold: float = 0.0
    """Pitch early in the swing."""
    strike: float = 0.0
    """Pitch of the foot as it lands, heel first: counted positive with the toes up."""
    reach: float = 0.0
    """How far the foot is carried ahead of the straight path at mid-swing, in m: lifts the knee."""


@dataclass(frozen=True)
class Step:
    """One foot leaves the floor at ``lift`` and stands at ``place`` from ``land`` on."""

    foot: int
    lift: float
    land: float
    place: Place
    stride: Stride


def ahead(place: Place, move: Place) -> Place:
    """The place reached from ``place`` by a move in its own frame: forward, left, turn."""
    x, y, heading = place
    forward, left, turn = move
    c, s = np.cos(heading), np.sin(heading)
    return (float(x + c * forward - s * left), float(y + s * forward + c * left), heading + turn)


def beside(place: Place, foot: int, half_width: float) -> Place:
    """Where the left (0) or right (1) foot stands when the body is at ``place``."""
    return ahead(place, (0.0, half_width if foot == 0 else -half_width, 0.0))


def feet(time: Array, stance: Sequence[Place], steps: Sequence[Step], toe_out: float) -> tuple[Array, Array]:
    """Paths of both soles: centres ``(2, T, 3)`` and roll-pitch-yaw ``(2, T, 3)``.

    Args:
        stance: where the feet stand before their first step. toe_out: how far each foot points outward.
    """
    centres, tilts = np.empty((2, len(time), 3)), np.zeros((2, len(time), 3))
    for foot in range(2):
        own = [step for step in steps if step.foot == foot]
        track = np.tile(np.array(stance[foot], dtype=np.float64), (len(time), 1))
        clearance = np.zeros(len(time))
        for before, step in zip([stance[foot], *(step.place for step in own)], own, strict=False):
            u = (time - step.lift) / (step.land - step.lift)
            track += smooth(u)[:, None] * (np.array(step.place) - np.array(before))
            clearance += step.stride.height * bump(u)
            forward = step.stride.reach * bump(u)
            track[:, 0] += forward * np.cos(step.place[2])
            track[:, 1] += forward * np.sin(step.place[2])
        pitch, yaw = _rolling(time, own), track[:, 2] + (toe_out if foot == 0 else -toe_out)
        centres[foot] = grounded(track[:, :2], clearance, pitch, yaw)
        tilts[foot, :, 1], tilts[foot, :, 2] = pitch, yaw
    return centres, tilts


def _rolling(time: Array, steps: Sequence[Step]) -> Array:
    """Pitch ``(T,)`` of one foot: off over the toe, through the swing, down on the heel.

    It rests at 0 in between: crossing 0 at speed would jerk the sole, whose lowest corner changes there.
    """
    pitch = np.zeros(len(time))
    earliest = -np.inf
    next_lifts = [*(step.lift for step in steps), np.inf][1:]
    for step, next_lift in zip(steps, next_lifts, strict=True):
        swing, shape, rest = step.land - step.lift, step.stride, next_lift - step.land
        push, settle = min(0.5 * swing, 0.6 * (step.lift - earliest)), min(0.3 * swing, 0.35 * rest)
        times = [step.lift - push, step.lift, step.lift + 0.38 * swing, step.lift + 0.75 * swing, step.land]
        values = [0.0, shape.toe_off, shape.fold, 0.0, -shape.strike, 0.0]
        pitch += keyed(time, [*times, step.land + settle], values)
        earliest = step.land
    return pitch


def support(time: Array, stance: Sequence[Place], steps: Sequence[Step]) -> Array:
    """Where the weight rests: ``(T, 3)`` x, y and heading.

    On the foot that stands alone; between the feet before the first step, after the last, and
    wherever both stand long enough to settle.
    """
    standing, landed = list(stance), [-np.inf, -np.inf]
    times, places = [steps[0].lift - SHIFT], [_middle(standing)]
    for index, step in enumerate(steps):
        other = 1 - step.foot
        next_lift = next((later.lift for later in steps[index + 1 :] if later.foot == other), np.inf)
        times += [max(step.lift, landed[other]), min(step.land, next_lift)]
        places += [standing[other], standing[other]]
        standing[step.foot], landed[step.foot] = step.place, step.land
        pause = steps[index + 1].lift - step.land if index + 1 < len(steps) else np.inf
        if pause > 2.0 * SHIFT:
            times += [step.land + SHIFT, step.land + min(pause, 1e3) - SHIFT]
            places += [_middle(standing)] * 2
    corners = np.array(places)
    return np.stack([np.interp(time, times, corners[:, column]) for column in range(3)], axis=1)


def _middle(standing: Sequence[Place]) -> Place:
    (x, y, heading), (other_x, other_y, other_heading) = standing
    return (0.5 * (x + other_x), 0.5 * (y + other_y), 0.5 * (heading + other_heading))
