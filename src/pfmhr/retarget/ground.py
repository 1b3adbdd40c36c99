"""Feet and the floor: how high a clip stands, when feet stand still, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_closing, binary_opening, gaussian_filter1d, maximum_filter1d

from pfmhr.retarget.body import Body
from pfmhr.retarget.parts import SIDES
from pfmhr.retarget.rotations import Array, turned
from pfmhr.retarget.targets import Targets

STILL = 0.25
"""m/s below which a foot stands."""
LOW = 0.05
"""m above the usual height up to which a foot can stand."""
SLIDE = 0.04
"""m that a foot may creep while it is said to stand; one that goes on slowly does not stand."""
_SHORTEST = 0.1
"""s that a contact lasts at least."""
_FADING = 0.1
"""s in which a foot is let go, and taken, before and after it."""
_SHALLOW = 0.02
"""m under the floor that need no lifting."""
_SPREAD = 0.1
"""s before and after a frame over which it is lifted."""
_FEW = 3
"""Fewer frames than this say nothing of the floor."""


def sole_points(places: Array, turns: Array, body: Body, side: str) -> Array:
    """``(n, 3, T)`` the corners of a sole, for places and turns of all links."""
    link = body.link[f"{side}_foot"]
    return np.stack([places[link] + turned(turns[link], corner) for corner in body.soles[side]])


def floor_height(places: Array, turns: Array, body: Body, fps: float) -> float:
    """How high in m the soles are while feet stand still: the median over such frames.

    One toe that points down, as in a flip, must not lift the whole clip, so it is not the lowest point.
    """
    soles = {side: sole_points(places, turns, body, side) for side in SIDES}
    lows = {side: points[:, 2].min(axis=0) for side, points in soles.items()}
    usual = float(np.median(np.minimum(lows["left"], lows["right"]))) + LOW
    standing = [
        lows[side][(_speed(points.mean(axis=0), fps) < STILL) & (lows[side] < usual)] for side, points in soles.items()
    ]
    heights = np.concatenate(standing)
    if len(heights) > _FEW:
        return float(np.median(heights))
    return float(np.quantile(np.minimum(lows["left"], lows["right"]), 0.1))


def clearance(places: Array, turns: Array, body: Body, fps: float) -> Array:
    """How much higher ``(T,)`` in m a clip has to be, frame by frame, for no link to be under the floor at height 0.

    Hands that carry a human, as in a handstand, are on other arms in a robot: its feet may come too low. What is needed
    is spread over the frames around, so that nothing jumps. Small depths are left to the solver.
    """
    lowest = places[:, 2].min(axis=0)
    for side in SIDES:
        lowest = np.minimum(lowest, sole_points(places, turns, body, side)[:, 2].min(axis=0))
    needed = np.where(lowest < -_SHALLOW, -lowest, 0.0)
    if not needed.any():
        return needed
    reach = max(1, round(_SPREAD * fps))
    return gaussian_filter1d(maximum_filter1d(needed, 2 * reach + 1), 0.5 * reach, mode="nearest")


@dataclass(frozen=True)
class Contacts:
    """When and how feet stand."""

    standing: NDArray[np.bool_]
    """``(2, T)`` left and right."""
    grip: Array
    """``(2, T)`` between 0 and 1: the same, faded in and out."""


def find_contacts(places: Array, turns: Array, body: Body, fps: float) -> Contacts:
    """Frames in which a sole is low and hardly moves, for at least a tenth of a second."""
    frames = places.shape[-1]
    standing = np.zeros((len(SIDES), frames), dtype=bool)
    shortest = max(2, round(_SHORTEST * fps))
    for index, side in enumerate(SIDES):
        points = sole_points(places, turns, body, side)
        slow = _speed(points.mean(axis=0), fps) < STILL
        touching = slow & (points[:, 2].min(axis=0) < LOW)
        closed = binary_closing(touching, np.ones(3)) | touching
        _cut_slides(closed, points.mean(axis=0)[:2])
        standing[index] = binary_opening(closed, np.ones(shortest))
    fade = max(1, round(_FADING * fps))
    ramp = np.minimum(np.arange(1, 2 * fade), np.arange(2 * fade - 1, 0, -1)) / fade
    grip = np.zeros_like(standing, dtype=np.float64)
    for index in range(len(SIDES)):
        for shift, share in zip(range(-fade + 1, fade), ramp, strict=True):
            moved = np.zeros(frames, dtype=bool)
            if shift >= 0:
                moved[shift:] = standing[index, : frames - shift]
            else:
                moved[:shift] = standing[index, -shift:]
            grip[index] = np.maximum(grip[index], share * moved)
    return Contacts(standing, grip)


def _cut_slides(standing: NDArray[np.bool_], place: Array) -> None:
    """End a contact where a foot has come further than :data:`SLIDE` from where the contact began; another begins."""
    for start, stop in periods(standing):
        begin = start
        for frame in range(start + 1, stop):
            if np.hypot(*(place[:, frame] - place[:, begin])) > SLIDE:
                standing[frame] = False
                begin = frame + 1 if frame + 1 < stop else frame


def hold_feet(targets: Targets, turns: Array, body: Body, contacts: Contacts) -> Targets:
    """Targets whose feet stay where they stand, and stand on the floor, during each contact.

    Args:
        turns: ``(L, 3, 3, T)`` of the links, as far as the robot could follow: its ankles may not reach the targets'.
    """
    places = dict(targets.places)
    for index, side in enumerate(SIDES):
        name = f"{side}_foot"
        turn = turns[body.link[name]]
        corners = np.stack([turned(turn, corner - body.point[name]) for corner in body.soles[side]])
        middle = corners.mean(axis=0)
        held = places[name].copy()
        for start, stop in periods(contacts.standing[index]):
            reach = _around(contacts.grip[index], start, stop)
            sole = places[name][:, start:stop] + middle[:, start:stop]
            stays = np.median(sole[:2], axis=1)[:, None]
            held[:2, reach] = stays - middle[:2, reach]
            held[2, reach] = -corners[:, 2, reach].min(axis=0)
        grip = contacts.grip[index]
        places[name] = grip * held + (1.0 - grip) * places[name]
    return replace(targets, places=places)


def periods(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Starts and ends (exclusive) of the stretches in which flags are set."""
    edges = np.diff(np.r_[0, flags.astype(np.int8), 0])
    return list(zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True))


def _around(grip: Array, start: int, stop: int) -> slice:
    """The contact with the frames before and after it in which it fades, no further than to the next one."""
    while start > 0 and 0 < grip[start - 1] < grip[start]:
        start -= 1
    while stop < len(grip) and 0 < grip[stop] < grip[stop - 1]:
        stop += 1
    return slice(start, stop)


def _speed(points: Array, fps: float) -> Array:
    """Horizontal speed ``(T,)`` in m/s of a point ``(3, T)``."""
    if points.shape[1] < 2:
        return np.zeros(points.shape[1])
    return np.sqrt((np.gradient(points[:2], axis=1) ** 2).sum(axis=0)) * fps
