"""How the segments of a human are turned since an ideal T-pose, from the names of joints alone.

The frames that a file's skeleton carries are turned in any way against the segments they move. One constant rotation
per segment mends that. It comes from a T-pose where there is one. Where there is none, the motion shows it: knees and
elbows bend about an axis, and the rotation that brings the joint's frame nearest to the frame of the limb, over all
frames and with more weight on bent ones, is the one that is looked for.

The ideal T-pose stands upright and looks along x, y to its left, z up, arms stretched out sideways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.retarget.human import Human
from pfmhr.retarget.maps import SkeletonMap, require_columns
from pfmhr.retarget.parts import SEGMENTS, SIDES, joint_of
from pfmhr.retarget.rotations import (
    Array,
    apply,
    compose,
    cross,
    exponential,
    frame_from,
    inverse,
    logarithm,
    nearest_rotation,
    shortest_turn,
    turned,
    unit,
)

_FAINT = 0.02
"""Weight of a relaxed limb's frame beside those of a bent one: it decides only where a limb never bends."""
_ROLLED = 1.2
"""rad by which an ankle may be rolled against the shin; beyond it its rotation is wrong, as in some of CMU's files."""
_BACKWARD = -0.2
"""Cosine between a foot's direction and straight ahead, as the shin sees it, below which it is wrong as well."""
_OFF_T_POSE = 0.6
"""rad by which limbs may be away from those of a T-pose in the pose that is said to be one."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What of a human a robot can follow; T frames, lengths in the human's unit."""

    turns: dict[str, Array]
    """Per segment: its turn since an ideal T-pose that looks along x, ``(3, 3, T)``."""
    hips: Array
    """``(3, T)`` the middle between the hips."""
    ankles: Array
    """``(2, 3, T)`` left and right."""
    leg: float
    """Thigh and shin, mean of both sides."""
    fps: float
    rolled: int
    """Frames in which the rotation of an ankle was wrong and the toe's direction was used."""
    notes: tuple[str, ...]


def calibrate(human: Human, skeleton: SkeletonMap, rest: str | int | None = None) -> Calibrated:
    """The turns of all segments.

    Args:
        rest: where a T-pose is, if not where the map says; see :class:`SkeletonMap`.

    Raises:
        InputError: the skeleton lacks joints, or the stated pose is no T-pose.
    """
    columns = require_columns(skeleton, human.names)
    stated = skeleton.rest if rest is None else rest
    moving = human.from_frame(1) if skeleton.rest == "first-frame" and human.num_frames > 1 else human
    joints = _Joints(moving, columns)
    if human.rotations is None:
        stated = "auto"
    notes: list[str] = []
    reference = None
    if stated != "auto":
        try:
            reference = _t_pose(human, columns, stated)
        except InputError as error:
            if rest is not None:
                raise
            notes.append(f"{error.what}: the motion has to show how joints are turned")
    turns = _since(joints, reference, skeleton) if reference else _fitted(joints)
    rolled = _mend_feet(turns, joints)
    if not skeleton.hands or human.rotations is None:
        turns |= {f"{side}_hand": turns[f"{side}_lower_arm"] for side in SIDES}
    if rolled:
        notes.append(f"ankles turned wrongly in {rolled} frames: mended from the toes and the frames around")
    return Calibrated(turns, joints.hips, joints.ankles, joints.leg, human.fps, rolled, (*human.notes, *notes))


class _Joints:
    """The joints of a human by role, frames last."""

    def __init__(self, human: Human, columns: dict[str, int]) -> None:
        self.columns, self.frames = columns, human.num_frames
        self._places = {
            role: np.ascontiguousarray(np.asarray(human.positions)[:, column].T, dtype=np.float64)
            for role, column in columns.items()
        }
        self._turns = None
        if human.rotations is not None:
            self._turns = {
                role: np.ascontiguousarray(np.moveaxis(np.asarray(human.rotations)[:, column], 0, -1), dtype=np.float64)
                for role, column in columns.items()
            }
        for what, values in (("place", self._places), ("turn", self._turns or {})):
            for role, value in values.items():
                if role != "neck" or what == "place":  # its turn moves nothing that is used
                    _require_finite(value, f"the {what} of joint '{human.names[columns[role]]}'", human.source)

    def __contains__(self, role: str) -> bool:
        return role in self._places

    def at(self, role: str) -> Array:
        """``(3, T)``."""
        return self._places[role]

    def turn(self, role: str) -> Array:
        """``(3, 3, T)``."""
        assert self._turns is not None
        return self._turns[role]

    @property
    def turned(self) -> bool:
        return self._turns is not None

    def between(self, start: str, end: str) -> Array:
        """``(3, T)`` from one joint to another."""
        return self._places[end] - self._places[start]

    @property
    def hips(self) -> Array:
        return 0.5 * (self.at("left_hip") + self.at("right_hip"))

    @property
    def ankles(self) -> Array:
        return np.stack([self.at(f"{side}_ankle") for side in SIDES])

    @property
    def leg(self) -> float:
        bones = [(f"{side}_{a}", f"{side}_{b}") for side in SIDES for a, b in (("hip", "knee"), ("knee", "ankle"))]
        # Bones are shorter in frames that were blended from their neighbours: not the median, but what most reach.
        length = 0.5 * sum(float(np.quantile(np.sqrt((self.between(*bone) ** 2).sum(axis=0)), 0.75)) for bone in bones)
        if not length > 0:
            raise InputError("the legs have no length", fix="Is the map right?", code="unknown_skeleton")
        return length


def _require_finite(values: Array, what: str, source: str) -> None:
    if not np.isfinite(values.sum()):
        frame = int(np.argmin(np.isfinite(values).reshape(-1, values.shape[-1]).all(axis=0)))
        raise InputError(f"{what} is not finite in frame {frame}", where=source or None, code="not_finite")


@dataclass(frozen=True)
class _Seen:
    """The frames of segments as positions show them, and how far each is to be believed."""

    frames: dict[str, Array]
    weights: dict[str, Array]


def _seen_frames(joints: _Joints) -> _Seen:
    frames: dict[str, Array] = {}
    weights: dict[str, Array] = {}
    sure = np.ones(joints.frames)
    across_hips, across = joints.between("right_hip", "left_hip"), joints.between("right_shoulder", "left_shoulder")
    frames["pelvis"] = frame_from("y", across_hips, "z", joints.at("chest") - joints.hips)
    frames["torso"] = frame_from("z", joints.between("chest", "neck"), "y", across)
    weights["pelvis"] = weights["torso"] = sure
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        upper = unit(joints.between(f"{side}_hip", f"{side}_knee"))
        lower = unit(joints.between(f"{side}_knee", f"{side}_ankle"))
        hinge = cross(upper, lower)
        bend = (hinge**2).sum(axis=0)
        hinge = hinge + _FAINT * frames["pelvis"][:, 1]
        for segment, along in ((f"{side}_thigh", upper), (f"{side}_shin", lower)):
            frames[segment] = frame_from("z", -along, "y", hinge)
            weights[segment] = bend + _FAINT**2
        upper = unit(joints.between(f"{side}_shoulder", f"{side}_elbow"))
        lower = unit(joints.between(f"{side}_elbow", f"{side}_hand"))
        hinge = sign * cross(lower, upper)
        bend = (hinge**2).sum(axis=0)
        hinge = hinge + _FAINT * _relaxed_elbow(frames["torso"], upper, sign)
        for segment, along in ((f"{side}_upper_arm", upper), (f"{side}_lower_arm", lower)):
            frames[segment] = frame_from("y", sign * along, "z", hinge)
            weights[segment] = bend + _FAINT**2
    return _Seen(frames, weights)


def _relaxed_elbow(torso: Array, upper: Array, sign: float) -> Array:
    """Where the hinge of an elbow points ``(3, T)`` if the arm came from the T-pose by the shortest turn."""
    within = apply(inverse(torso), upper)
    lifted = shortest_turn(np.array([0.0, sign, 0.0]), within)
    return apply(torso, turned(lifted, np.array([0.0, 0.0, 1.0])))


def _fitted(joints: _Joints) -> dict[str, Array]:
    """Turns of all segments but the feet, by the rotation nearest to what positions show."""
    seen = _seen_frames(joints)
    if not joints.turned:
        return dict(seen.frames)
    turns: dict[str, Array] = {}
    for segment, frame in seen.frames.items():
        carried = joints.turn(joint_of(segment))
        turns[segment] = _constant(carried, frame, seen.weights[segment])
    for side in SIDES:
        straight = turns[f"{side}_lower_arm"]  # wrists are straight on average
        turns[f"{side}_hand"] = _constant(joints.turn(f"{side}_hand"), straight, np.ones(joints.frames))
    return turns


def _constant(carried: Array, wanted: Array, weights: Array) -> Array:
    """``carried · O`` ``(3, 3, T)`` with the one rotation O that brings it nearest to ``wanted``."""
    total = np.einsum("jit,jkt,t->ik", carried, wanted, weights)
    return np.einsum("ijt,jk->ikt", carried, nearest_rotation(total))


def _t_pose(human: Human, columns: dict[str, int], rest: str | int) -> Human:
    """The pose that is said to be a T-pose, as one frame; refused if it is none."""
    if rest == "zero":
        if human.zero_positions is None:
            raise InputError("the file has no zero pose", where=human.source or None, code="bad_config")
        unturned = np.broadcast_to(np.eye(3), (1, len(human.names), 3, 3))
        pose = replace(human, positions=human.zero_positions[None], rotations=unturned)
        what = "the zero pose"
    else:
        frame = 0 if rest == "first-frame" else int(rest)
        if frame >= human.num_frames:
            raise InputError("there is no such frame", expected=f"at most {human.num_frames - 1}", got=frame)
        assert human.rotations is not None
        pose = replace(
            human, positions=human.positions[frame : frame + 1], rotations=human.rotations[frame : frame + 1]
        )
        what = f"frame {frame}"
    off = _away_from_t(_Joints(pose, columns))
    if off > _OFF_T_POSE:
        fix = "Choose another pose with --rest, or --rest auto."
        got = f"a limb {np.degrees(off):.0f}° away"
        raise InputError(f"{what} is no T-pose", where=human.source or None, got=got, fix=fix, code="no_t_pose")
    return pose


def _away_from_t(pose: _Joints) -> float:
    """rad by which the limbs of one frame are away from a T-pose's, the largest."""
    facing = _facing(pose)
    limbs = [(f"{side}_hip", f"{side}_ankle", np.array([0.0, 0.0, -1.0])) for side in SIDES]
    limbs += [
        (f"{side}_shoulder", f"{side}_hand", facing @ np.array([0.0, sign, 0.0]))
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True)
    ]
    cosines = [float(unit(pose.between(start, end))[:, 0] @ wanted) for start, end, wanted in limbs]
    return float(np.arccos(np.clip(min(cosines), -1.0, 1.0)))


def _facing(pose: _Joints) -> NDArray[np.float64]:
    """The turn about z ``(3, 3)`` by which one frame's hips look away from x."""
    across = pose.between("right_hip", "left_hip")[:, 0]
    angle = np.arctan2(-across[0], across[1])
    return exponential(np.array([[0.0], [0.0], [angle]]))[..., 0]


def _since(joints: _Joints, pose: Human, skeleton: SkeletonMap) -> dict[str, Array]:
    """Turns of all segments since a T-pose."""
    still = _Joints(pose, joints.columns)
    facing = _facing(still)
    turns: dict[str, Array] = {}
    for segment in SEGMENTS:
        role = joint_of(segment)
        constant = still.turn(role)[..., 0].T @ facing
        if segment in skeleton.turns:
            vector = np.radians(np.array(skeleton.turns[segment]))[:, None]
            constant = constant @ exponential(vector)[..., 0]
        turns[segment] = np.einsum("ijt,jk->ikt", joints.turn(role), constant)
    return turns


def _mend_feet(turns: dict[str, Array], joints: _Joints) -> int:
    """Put in feet that no T-pose has given, and those whose ankle is turned wrongly; returns in how many frames."""
    wrong_in_any = np.zeros(joints.frames, dtype=bool)
    for side in SIDES:
        foot, shin = f"{side}_foot", turns[f"{side}_shin"]
        if f"{side}_toe" not in joints:
            turns.setdefault(foot, shin)
            continue
        pointed = frame_from("x", joints.between(f"{side}_ankle", f"{side}_toe"), "y", shin[:, 1])
        if foot not in turns:
            turns[foot] = compose(pointed, _levelling(pointed, joints, side))
            continue
        aside = (turns[foot][:, 1] * pointed[:, 1]).sum(axis=0)
        wrong = aside < np.cos(_ROLLED)
        if wrong.any() and not wrong.all():
            level = nearest_rotation(np.einsum("jit,jkt,t->ik", pointed, turns[foot], (~wrong).astype(np.float64)))
            turns[foot] = np.where(wrong, np.einsum("ijt,jk->ikt", pointed, level), turns[foot])
        lost = _turned_back(shin, pointed)
        if lost.any():
            turns[foot] = _bridged(turns[foot], shin, lost)
        wrong_in_any |= wrong | lost
    return int(wrong_in_any.sum())


def _turned_back(shin: Array, pointed: Array) -> NDArray[np.bool_]:
    """Frames ``(T,)`` in which a foot points backward from its shin, as none can."""
    return (shin[:, 0] * pointed[:, 0]).sum(axis=0) < _BACKWARD


def _bridged(foot: Array, shin: Array, lost: NDArray[np.bool_]) -> Array:
    """The foot's turns, where they are lost with its angles to the shin taken from the frames around."""
    if lost.all():
        return shin
    frames = np.arange(len(lost))
    angles = logarithm(compose(inverse(shin), foot))
    bridge = np.stack([np.interp(frames, frames[~lost], row[~lost]) for row in angles])
    return np.where(lost, compose(shin, exponential(bridge)), foot)


def _levelling(pointed: Array, joints: _Joints, side: str) -> Array:
    """The pitch ``(3, 3, 1)`` that makes a foot flat while it stands still and low."""
    ankle = joints.at(f"{side}_ankle")
    speed = np.sqrt((np.gradient(ankle, axis=1) ** 2).sum(axis=0)) if joints.frames > 1 else np.zeros(1)
    still = (speed <= np.quantile(speed, 0.3)) & (ankle[2] <= np.quantile(ankle[2], 0.5))
    slope = np.arcsin(np.clip(-pointed[2, 0], -1.0, 1.0))
    pitch = float(np.median(slope[still] if still.any() else slope))
    return exponential(np.array([[0.0], [-pitch], [0.0]]))
