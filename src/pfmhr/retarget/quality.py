"""How well a clip went over: what is left between robot and targets, the floor, the feet, and what to leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.motion import Motion
from pfmhr.retarget.body import Body
from pfmhr.retarget.ground import Contacts, periods, sole_points
from pfmhr.retarget.linkage import Linkage, Pose
from pfmhr.retarget.overlaps import OverlapFinder
from pfmhr.retarget.parts import SIDES
from pfmhr.retarget.rotations import Array, compose, inverse, logarithm, turned
from pfmhr.retarget.targets import Targets

LARGEST_TURN_ERROR = 1.0
"""rad by which a link may be turned away from its target; a frame beyond it is left out."""
FASTEST = 37.0
"""rad/s of a joint, the fastest of the G1's motors; frames before and after a faster step are left out."""
KEY_SEGMENTS = ("pelvis", *(f"{side}_{part}" for side in SIDES for part in ("shin", "foot", "lower_arm", "hand")))
"""Segments whose places count."""
OVERLAP_RATE = 10.0
"""Hz at which a clip is looked at for links that are within each other."""
DEEP = 0.01
"""m by which links are within each other that count as such."""


@dataclass(frozen=True)
class Figures:
    """What is measured on one clip. Lengths in m, angles in rad."""

    frames: int
    """Made, before any are left out."""
    seconds: float
    dropped_turn: int
    """Frames left out because a link is turned too far away from its target."""
    dropped_speed: int
    """Frames left out because a joint is too fast there."""
    dropped: int
    """Frames left out for either reason."""
    turned_away: dict[str, int]
    """In how many frames each segment is turned too far away; those that never are stand not here."""
    place_error: float
    """Mean distance of key segments from their targets."""
    place_error_worst: float
    """The 99 % quantile over frames of the largest such distance."""
    turn_error: float
    """Mean angle of links from their targets."""
    floor_depth: float
    """How far the lowest sole is under the floor in the frames that are kept; 0 if it never is."""
    contacts: int
    """Times a foot stands."""
    slip: float
    """The furthest that a standing foot moves away from its mean place."""
    slipping: int
    """Contacts in which that is more than 1 cm."""
    fastest: float
    """rad/s of the fastest joint."""
    overlaps: float
    """Share of frames in which two links are within each other."""
    deepest: str
    """The pair of links most deeply within each other."""
    deepest_depth: float
    scale: float
    """The robot's leg as a share of the human's, in m per unit of its lengths."""
    rolled_ankles: int
    """Frames in which the file had an ankle's rotation wrong."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Which frames are good, and the figures."""

    usable: NDArray[np.bool_]
    """``(T,)``."""
    figures: Figures


def judge(pose: Pose, targets: Targets, body: Body, contacts: Contacts, rolled: int) -> Verdict:
    """Compare a solved clip with its targets."""
    places, turns = body.linkage.forward(pose)
    errors = {
        name: np.sqrt((logarithm(compose(targets.turns[name], inverse(turns[body.link[name]]))) ** 2).sum(axis=0))
        for name in body.turned_segments()
    }
    away = np.array(list(errors.values()))
    distances = np.array([_distance(places, turns, targets, body, name) for name in KEY_SEGMENTS])
    twisted = away.max(axis=0) > LARGEST_TURN_ERROR
    speeds = np.abs(np.diff(pose.joints, axis=1)).max(axis=0, initial=0.0) * targets.fps
    fast = np.zeros(len(twisted), dtype=bool)
    fast[:-1] |= speeds > FASTEST
    fast[1:] |= speeds > FASTEST
    usable = ~(twisted | fast)
    counts = {name: int((error > LARGEST_TURN_ERROR).sum()) for name, error in errors.items()}
    soles = {side: sole_points(places, turns, body, side) for side in SIDES}
    lowest = np.minimum(*(points[:, 2].min(axis=0) for points in soles.values()))
    slips = _slips(soles, contacts)
    share, pair, depth = _overlap(pose, body.linkage, max(1, round(targets.fps / OVERLAP_RATE)))
    figures = Figures(
        frames=len(usable),
        seconds=round((len(usable) - 1) / targets.fps, 4),
        dropped_turn=int(twisted.sum()),
        dropped_speed=int(fast.sum()),
        dropped=int((~usable).sum()),
        turned_away={name: count for name, count in counts.items() if count},
        place_error=_rounded(distances.mean()),
        place_error_worst=_rounded(np.quantile(distances.max(axis=0), 0.99)),
        turn_error=_rounded(away.mean()),
        floor_depth=_rounded(max(0.0, -lowest[usable].min(initial=0.0))),
        contacts=len(slips),
        slip=_rounded(max(slips, default=0.0)),
        slipping=sum(slip > 0.01 for slip in slips),
        fastest=_rounded(speeds.max(initial=0.0)),
        overlaps=_rounded(share),
        deepest=pair,
        deepest_depth=_rounded(depth),
        scale=_rounded(targets.scale),
        rolled_ankles=rolled,
    )
    return Verdict(usable, figures)


def _distance(places: Array, turns: Array, targets: Targets, body: Body, name: str) -> Array:
    link = body.link[name]
    point = places[link] + turned(turns[link], body.point[name])
    return np.sqrt(((point - targets.places[name]) ** 2).sum(axis=0))


def _slips(soles: dict[str, Array], contacts: Contacts) -> list[float]:
    """Per contact the furthest distance of the sole from its mean place, in the plane."""
    slips = []
    for index, side in enumerate(SIDES):
        middle = soles[side].mean(axis=0)[:2]
        for start, stop in periods(contacts.standing[index]):
            during = middle[:, start:stop]
            slips.append(float(np.sqrt(((during - during.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)).max()))
    return slips


def _overlap(pose: Pose, linkage: Linkage, stride: int) -> tuple[float, str, float]:
    """The share of frames in which links are within each other; the deepest pair, and how deep in m."""
    found = OverlapFinder(linkage).find(pose, stride)
    deep = found.depth > DEEP
    if not deep.any():
        return 0.0, "", 0.0
    worst = int(found.depth.argmax())
    names = {link: body for body, link in linkage.body_link.items()}
    pair = sorted(names[int(links[worst])] for links in (found.first, found.second))
    frames = -(-pose.joints.shape[1] // stride)
    return len(np.unique(found.frames[deep])) / frames, " and ".join(pair), float(found.depth[worst])


def pieces(motion: Motion, usable: NDArray[np.bool_], shortest: float) -> list[Motion]:
    """The stretches of a motion whose frames are all usable and that last at least so many s."""
    fewest = max(2, round(shortest * motion.fps) + 1)
    if usable.all():
        return [motion]
    return [motion.frames(start, stop) for start, stop in periods(usable) if stop - start >= fewest]


def total(figures: Sequence[Figures]) -> dict[str, Any]:
    """Figures of many clips: sums, means over frames, and the worst."""
    frames = sum(each.frames for each in figures)
    if not frames:
        return {}

    def mean(name: str) -> float:
        return _rounded(sum(getattr(each, name) * each.frames for each in figures) / frames)

    contacts = sum(each.contacts for each in figures)
    turned_away = Counter[str]()
    for each in figures:
        turned_away.update(each.turned_away)
    return {
        "frames": frames,
        "hours": round(sum(each.seconds for each in figures) / 3600, 3),
        "dropped": sum(each.dropped for each in figures),
        "dropped_share": _rounded(sum(each.dropped for each in figures) / frames),
        "dropped_turn": sum(each.dropped_turn for each in figures),
        "dropped_speed": sum(each.dropped_speed for each in figures),
        "turned_away": dict(turned_away.most_common()),
        "place_error": mean("place_error"),
        "turn_error": mean("turn_error"),
        "floor_depth_95": _rounded(np.quantile([each.floor_depth for each in figures], 0.95)),
        "floor_depth_worst": max(each.floor_depth for each in figures),
        "contacts": contacts,
        "slipping_share": _rounded(sum(each.slipping for each in figures) / max(contacts, 1)),
        "overlaps": mean("overlaps"),
        "rolled_ankles": sum(each.rolled_ankles for each in figures),
    }


def _rounded(value: float) -> float:
    return round(float(value), 5)
