"""Whole clips at once: Gauss–Newton with damping over the root and all joints of all frames.

Minimised is, summed over frames,

    Σ (w_p |p − p*|)² + Σ ρ(w_r |log(R* Rᵀ)|)² + (w_q |q|)² + (λ f² |q₊ − 2 q + q₋|)²
    + Σ (w_g max(0, −z))² + Σ (w_o d)²

with places p and turns R of segments, their targets p* and R*, joint angles q, the frame rate f, Huber's ρ, heights z
of the soles and depths d by which links are within each other. Accelerations couple three frames, so the system is
banded; one banded Cholesky solves it. Joints at a limit are held there while the gradient points outward.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from pfmhr.errors import InputError
from pfmhr.retarget.body import Body
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.overlaps import OverlapFinder, Overlaps
from pfmhr.retarget.parts import SEGMENTS, SIDES
from pfmhr.retarget.rotations import Array, compose, cross, exponential, inverse, logarithm, turned
from pfmhr.retarget.targets import Targets

ROOT = 6
"""Columns of the root: its place, then its turn, both in the world."""
_AT_LIMIT = 1e-6
_LARGEST_STEP = 0.5
"""rad per frame and step."""
_DAMPING, _DAMPING_CLOSE = 1e-2, 5e-2
"""Added to the diagonal. More where feet are held: a knee that is straight would overshoot."""


@dataclass(frozen=True)
class Weights:
    """What matters how much. Places in 1/m, turns in 1/rad."""

    place: dict[str, float] = field(
        default_factory=lambda: {"pelvis": 10.0, "shin": 4.0, "foot": 20.0, "lower_arm": 5.0, "hand": 10.0}
    )
    turn: dict[str, float] = field(
        default_factory=lambda: {
            **{"pelvis": 2.0, "torso": 2.0, "foot": 2.0, "thigh": 0.5, "shin": 0.5},
            **{"upper_arm": 0.5, "lower_arm": 0.5, "hand": 0.5},
        }
    )
    posture: float = 0.05
    """Of joint angles: decides what targets leave open."""
    smoothness: float = 1e-3
    """λ in s²: independent of the frame rate."""
    overlap: float = 30.0
    """Of the depth by which links are within each other."""
    ground: float = 30.0
    """Of soles under the floor."""
    standing: float = 60.0
    """Of the place of a foot that stands."""
    huber: float = 0.35
    """rad beyond which an error of turn counts linearly."""


@dataclass(frozen=True, eq=False)
class Closeness:
    """What matters once a clip is nearly right: its floor, its own links, and feet that stand."""

    standing: Array | None
    """``(2, T)`` between 0 and 1: how far each foot, left and right, has to stay where its target is."""

    def window(self, start: int, stop: int) -> Closeness:
        """Frames ``start`` to ``stop``, exclusive."""
        return Closeness(None if self.standing is None else self.standing[:, start:stop])


@dataclass(frozen=True, eq=False)
class _Limb:
    """Segments that move with the same few joints."""

    segments: list[str]
    joints: list[int]

    def columns(self) -> np.ndarray:
        """Of the root and these joints among all."""
        return np.r_[np.arange(ROOT), ROOT + np.array(self.joints, dtype=np.intp)]


def solve(
    targets: Targets,
    start: Pose,
    body: Body,
    weights: Weights,
    iterations: int,
    closeness: Closeness | None = None,
) -> Pose:
    """Improve ``start`` for all frames together; with ``closeness``, soles stay above the floor as well, standing feet
    where they are, and links out of each other."""
    problem = _Problem(targets, body, weights, closeness)
    pose = start
    for _ in range(iterations):
        pose = problem.improve(pose)
    return pose


class _Problem:
    def __init__(self, targets: Targets, body: Body, weights: Weights, closeness: Closeness | None) -> None:
        self._targets, self._body, self._weights, self._ground = targets, body, weights, closeness is not None
        self._limbs = _limbs(body)
        self._has_turn = set(body.turned_segments())
        self._stand = None if closeness is None else closeness.standing
        self._damping = _DAMPING if closeness is None else _DAMPING_CLOSE
        self._overlaps = OverlapFinder(body.linkage) if closeness is not None and weights.overlap else None
        robot = body.linkage.robot
        self._lower = robot.lower.astype(np.float64)[:, None]
        self._upper = robot.upper.astype(np.float64)[:, None]
        self._smooth = (weights.smoothness * targets.fps**2) ** 2

    def improve(self, pose: Pose) -> Pose:
        """One step."""
        hessian, gradient = self._normal_equations(pose)
        self._add_posture(pose, hessian, gradient)
        coupling = self._add_smoothness(pose, hessian, gradient)
        free = np.ones(gradient.shape)
        push = gradient[:, ROOT:].T
        held = ((pose.joints <= self._lower + _AT_LIMIT) & (push < 0)) | (
            (pose.joints >= self._upper - _AT_LIMIT) & (push > 0)
        )
        free[:, ROOT:] = ~held.T
        change = _solve_banded(hessian, gradient, coupling, free)
        size = np.abs(change[:, 3:]).max(axis=1, keepdims=True)
        change = (change * (_LARGEST_STEP / np.maximum(size, _LARGEST_STEP))).T
        joints = np.clip(pose.joints + change[ROOT:], self._lower, self._upper)
        return Pose(pose.root_pos + change[:3], compose(exponential(change[3:ROOT]), pose.root_rot), joints)

    def _normal_equations(self, pose: Pose) -> tuple[Array, Array]:
        """JᵀJ ``(T, D, D)`` and Jᵀe ``(T, D)`` of targets and ground."""
        linkage = self._body.linkage
        places, turns = linkage.forward(pose)
        axes = np.einsum("jakt,jk->jat", turns[linkage.joint_link], linkage.axes)
        anchors = places[linkage.joint_link]
        frames, size = pose.joints.shape[1], ROOT + linkage.robot.num_joints
        hessian, gradient = np.zeros((frames, size, size)), np.zeros((frames, size))
        for limb in self._limbs:
            rows = _Rows(pose, limb, axes, anchors, linkage.moves)
            for segment in limb.segments:
                self._add_segment(rows, segment, places, turns)
            jacobian, error = rows.stacked()
            columns = limb.columns()
            hessian[:, columns[:, None], columns] += jacobian.transpose(0, 2, 1) @ jacobian
            gradient[:, columns] += (error[:, None] @ jacobian)[:, 0]
        if self._overlaps is not None:
            self._add_overlaps(self._overlaps.find(pose), axes, anchors, hessian, gradient)
        return hessian, gradient

    def _add_segment(self, rows: _Rows, segment: str, places: Array, turns: Array) -> None:
        part, link = _part(segment), self._body.link[segment]
        weight: Array | float = place_weight(self._weights, segment)
        if part == "foot" and self._stand is not None:
            side = SIDES.index(segment.split("_")[0])
            weight = weight + (self._weights.standing - weight) * self._stand[side]
        if np.any(weight):
            point = places[link] + turned(turns[link], self._body.point[segment])
            rows.add_place(link, point, weight * (self._targets.places[segment] - point), weight)
        weight = turn_weight(self._weights, segment)
        if weight and segment in self._has_turn:
            error = logarithm(compose(self._targets.turns[segment], inverse(turns[link])))
            size = np.sqrt((error**2).sum(axis=0))
            robust = weight * np.sqrt(self._weights.huber / np.maximum(size, self._weights.huber))
            rows.add_turn(link, robust * error, robust)
        if part == "foot" and self._ground:
            for corner in self._body.soles[segment.split("_")[0]]:
                point = places[link] + turned(turns[link], corner)
                under = self._weights.ground * (point[2] < 0)
                if under.any():
                    rows.add_height(link, point, -under * point[2], under)

    def _add_overlaps(self, found: Overlaps, axes: Array, anchors: Array, hessian: Array, gradient: Array) -> None:
        """Push links out of each other: ``(J, 3, T)`` axes and anchors of the hinges."""
        moves = self._body.linkage.moves
        apart = (moves[found.second].astype(np.float64) - moves[found.first]).T
        arms = found.points - anchors[:, :, found.frames]
        swept = np.cross(axes[:, :, found.frames], arms, axis=1)
        rows = self._weights.overlap * apart * np.einsum("jam,am->jm", swept, found.way_out)
        error = self._weights.overlap * found.depth
        rank = np.arange(len(found)) - np.searchsorted(found.frames, found.frames)
        for number in range(rank.max(initial=-1) + 1):  # at most one of a frame at a time
            chosen = rank == number
            frames, row = found.frames[chosen], rows[:, chosen].T
            hessian[frames, ROOT:, ROOT:] += row[:, :, None] * row[:, None, :]
            gradient[frames, ROOT:] += row * error[chosen, None]

    def _add_posture(self, pose: Pose, hessian: Array, gradient: Array) -> None:
        size = hessian.shape[1]
        damping = np.full(size, self._damping)
        damping[ROOT:] += self._weights.posture**2
        hessian[:, np.arange(size), np.arange(size)] += damping
        gradient[:, ROOT:] -= self._weights.posture**2 * pose.joints.T

    def _add_smoothness(self, pose: Pose, hessian: Array, gradient: Array) -> list[Array]:
        """Add accelerations; returns what couples frames one and two apart."""
        frames = pose.joints.shape[1]
        if frames < 3:
            return []
        angles = pose.joints.T
        bend = angles[2:] - 2.0 * angles[1:-1] + angles[:-2]
        pull = np.zeros_like(angles)
        own = np.zeros(frames)
        for shift, share in ((0, 1.0), (1, -2.0), (2, 1.0)):
            pull[shift : shift + frames - 2] += share * bend
            own[shift : shift + frames - 2] += share**2
        gradient[:, ROOT:] -= self._smooth * pull
        joints = np.arange(ROOT, hessian.shape[1])
        hessian[:, joints, joints] += self._smooth * own[:, None]
        next_frame = np.zeros(frames - 1)
        next_frame[:-1] -= 2.0
        next_frame[1:] -= 2.0
        return [self._smooth * next_frame, np.full(frames - 2, self._smooth)]


class _Rows:
    """Rows of the Jacobian of one limb, frames last while they are made."""

    def __init__(self, pose: Pose, limb: _Limb, axes: Array, anchors: Array, moves: np.ndarray) -> None:
        self._root, self._moves, self._joints = pose.root_pos, moves, limb.joints
        self._axes = axes[limb.joints].transpose(1, 0, 2)
        self._anchors = anchors[limb.joints].transpose(1, 0, 2)
        self._frames = pose.joints.shape[1]
        self._jacobian: list[Array] = []
        self._error: list[Array] = []

    def _empty(self, rows: int) -> Array:
        return np.zeros((rows, ROOT + len(self._joints), self._frames))

    def add_place(self, link: int, point: Array, error: Array, weight: Array | float) -> None:
        """Rows of a point's place: error ``(3, T)`` is weighted already."""
        rows = self._empty(3)
        for axis in range(3):
            rows[axis, axis] = 1.0
        x, y, z = point - self._root
        for row, column, arm in ((0, 4, z), (0, 5, -y), (1, 3, -z), (1, 5, x), (2, 3, y), (2, 4, -x)):
            rows[row, column] = arm
        moved = np.flatnonzero(self._moves[link, self._joints])
        if len(moved):
            rows[:, ROOT + moved] = cross(self._axes[:, moved], point[:, None] - self._anchors[:, moved])
        self._jacobian.append(rows * weight)
        self._error.append(error)

    def add_turn(self, link: int, error: Array, weight: Array) -> None:
        """Rows of a link's turn."""
        rows = self._empty(3)
        for axis in range(3):
            rows[axis, 3 + axis] = 1.0
        moved = np.flatnonzero(self._moves[link, self._joints])
        rows[:, ROOT + moved] = self._axes[:, moved]
        self._jacobian.append(rows * weight)
        self._error.append(error)

    def add_height(self, link: int, point: Array, error: Array, weight: Array) -> None:
        """The row of a point's height: error ``(T,)``."""
        rows = self._empty(1)
        rows[0, 2] = 1.0
        x, y, _ = point - self._root
        rows[0, 3], rows[0, 4] = y, -x
        moved = np.flatnonzero(self._moves[link, self._joints])
        arm, axes = point[:, None] - self._anchors[:, moved], self._axes[:, moved]
        rows[0, ROOT + moved] = axes[0] * arm[1] - axes[1] * arm[0]
        self._jacobian.append(rows * weight)
        self._error.append(error[None])

    def stacked(self) -> tuple[Array, Array]:
        """Jacobian ``(T, rows, columns)`` and error ``(T, rows)``."""
        jacobian = np.concatenate(self._jacobian)
        return np.ascontiguousarray(jacobian.transpose(2, 0, 1)), np.concatenate(self._error).T


def _limbs(body: Body) -> list[_Limb]:
    """Trunk, legs and arms, each with the joints that move it."""
    groups: dict[str, list[str]] = {}
    for segment in SEGMENTS:
        limb = "arm" if _part(segment) in ("upper_arm", "lower_arm", "hand") else "leg"
        name = "trunk" if segment in ("pelvis", "torso") else f"{segment.split('_')[0]} {limb}"
        groups.setdefault(name, []).append(segment)
    moves = body.linkage.moves
    return [
        _Limb(segments, [int(joint) for joint in np.flatnonzero(moves[[body.link[s] for s in segments]].any(axis=0))])
        for segments in groups.values()
    ]


def place_weight(weights: Weights, segment: str) -> float:
    """What a segment's place matters, in 1/m."""
    return weights.place.get(_part(segment), 0.0)


def turn_weight(weights: Weights, segment: str) -> float:
    """What a segment's turn matters, in 1/rad."""
    return weights.turn.get(_part(segment), 0.0)


def _part(segment: str) -> str:
    return segment.removeprefix("left_").removeprefix("right_")


def _solve_banded(hessian: Array, gradient: Array, coupling: list[Array], free: Array) -> Array:
    """The step ``(T, D)``; what is not free stays. Blocks ``(T, D, D)`` on the diagonal, joints coupled across."""
    frames, size = gradient.shape
    hessian *= free[:, :, None] * free[:, None, :]
    everything = np.arange(size)
    hessian[:, everything, everything] += 1.0 - free
    width = max(len(coupling) * size, size - 1)
    band = np.zeros((frames, size, width + 1))  # [t, j, o] is the entry in row t·D + j + o and column t·D + j
    for column in range(size):
        band[:, column, : size - column] = hessian[:, column:, column]
    for apart, values in enumerate(coupling, start=1):
        both = free[apart:, ROOT:] * free[:-apart, ROOT:]
        band[: frames - apart, ROOT:, apart * size] = values[:, None] * both
    transposed = band.reshape(frames * size, width + 1).T
    try:
        factor = cholesky_banded(transposed, overwrite_ab=True, lower=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        fix = "Are the positions finite and of a body?"
        raise InputError("the targets lead to no pose", fix=fix, code="no_pose") from error
    step = cho_solve_banded((factor, True), (gradient * free).reshape(-1), overwrite_b=True, check_finite=False)
    return step.reshape(frames, size)
