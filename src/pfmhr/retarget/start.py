"""Where the solver begins: joint angles chain by chain, on one branch throughout the clip.

A hip or shoulder of three hinges can reach an orientation in two ways. If frames chose for themselves, the joints would
jump between them. So each chain is solved from several seeds, and the path through the solutions is chosen that fits
well and changes little (Viterbi).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from pfmhr.retarget.body import Body
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.parts import SIDES
from pfmhr.retarget.rotations import Array, compose, inverse, logarithm
from pfmhr.retarget.targets import Targets

SEED_RATE = 15.0
"""Hz at which all seeds are solved. Frames between them begin from a blend of their neighbours."""
_STEPS, _REFINING_STEPS = 8, 3
_LARGEST_STEP = 0.8
_DAMPING = 1e-3
_EFFORT = 0.01
"""Cost of a squared rad away from the middle posture, beside that of a squared rad of orientation."""

_PAIRS = (
    *(("pelvis", "torso"),),
    *((("pelvis" if part == "thigh" else f"{side}_{above}"), f"{side}_{part}")
      for side in SIDES for above, part in (("", "thigh"), ("thigh", "shin"), ("shin", "foot"))),
    *((("torso" if part == "upper_arm" else f"{side}_{above}"), f"{side}_{part}")
      for side in SIDES for above, part in (("", "upper_arm"), ("upper_arm", "lower_arm"), ("lower_arm", "hand"))),
)  # fmt: skip
"""Segments between which a chain of joints is."""


@dataclass(frozen=True, eq=False)
class _Chain:
    """Hinges one after another. Between them are constant turns: ``R = C0 · A1(q1) · C1 · … · An(qn) · Cn``."""

    joints: list[int]
    axes: Array
    """``(k, 3)``, each in the frame that its hinge turns."""
    constants: Array
    """``(k + 1, 3, 3)``."""
    lower: Array
    upper: Array
    middle: Array
    """``(k,)`` each."""

    def forward(self, angles: Array) -> tuple[Array, Array]:
        """Orientations ``(3, 3, N)`` of the chain's end and axes ``(k, 3, N)``, both in its base, for ``(k, N)``."""
        turn = np.repeat(self.constants[0][..., None], angles.shape[1], axis=2)
        axes = np.empty((len(self.joints), 3, angles.shape[1]))
        for index, axis in enumerate(self.axes):
            axes[index] = np.einsum("ijn,j->in", turn, axis)
            x, y, z = axis
            skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            after = self.constants[index + 1]
            still, sine, versine = after, skew @ after, skew @ skew @ after
            hinge = (
                still[..., None]
                + np.sin(angles[index]) * sine[..., None]
                + (1.0 - np.cos(angles[index])) * versine[..., None]
            )
            turn = compose(turn, hinge)
        return turn, axes

    def solve(self, wanted: Array, angles: Array, steps: int) -> tuple[Array, Array]:
        """Angles ``(k, N)`` within the limits near ``wanted`` ``(3, 3, N)``, and the squared rad that remain."""
        lower, upper = self.lower[:, None], self.upper[:, None]
        for step in range(steps + 1):
            turn, axes = self.forward(angles)
            error = logarithm(compose(wanted, inverse(turn)))
            if step == steps:
                return angles, (error**2).sum(axis=0)
            gradient = np.einsum("kin,in->kn", axes, error)
            free = ~(((angles <= lower + 1e-6) & (gradient < 0)) | ((angles >= upper - 1e-6) & (gradient > 0)))
            hessian = np.einsum("kin,lin->nkl", axes, axes) * (free.T[:, :, None] & free.T[:, None, :])
            hessian += np.eye(len(angles)) * (_DAMPING + ~free.T)[:, None, :]
            change = np.linalg.solve(hessian, (gradient * free).T[..., None])[..., 0].T
            change *= _LARGEST_STEP / np.maximum(np.abs(change).max(axis=0), _LARGEST_STEP)
            angles = np.clip(angles + change, lower, upper)
        raise AssertionError


def start_pose(targets: Targets, body: Body) -> Pose:
    """A pose of every frame in which every link is turned about as it should be."""
    # Some robots have their root in the pelvis, others in the torso.
    root = "torso" if body.link["torso"] == 0 else "pelvis"
    turn = np.einsum("ijt,kj->ikt", targets.turns[root], body.turn[root])
    place = targets.places[root] - np.einsum("ijt,j->it", turn, body.place[root])
    return Pose(place, turn, start_joints(targets, body))


def start_joints(targets: Targets, body: Body) -> Array:
    """Joint angles ``(J, T)`` within the limits that turn every link about as it should be."""
    robot = body.linkage.robot
    middle = np.clip(0.5 * body.t_pose, robot.lower, robot.upper)
    joints = np.repeat(np.clip(robot.default_pose, robot.lower, robot.upper)[:, None], targets.num_frames, axis=1)
    joints = joints.astype(np.float64)
    for base, end in _PAIRS:
        chain = _chain(body, base, end, middle)
        if chain is None and (chain := _chain(body, end, base, middle)) is not None:
            base, end = end, base  # a robot whose root is its torso: the waist turns the pelvis
        if chain is None:
            continue
        wanted = compose(inverse(targets.turns[base]), targets.turns[end])
        joints[chain.joints] = _one_branch(chain, wanted, targets.fps)
    return joints


def _chain(body: Body, base: str, end: str, middle: Array) -> _Chain | None:
    """The hinges between two segments; None if there is none, or one does not hang on the other."""
    linkage, robot = body.linkage, body.linkage.robot
    try:
        links = linkage.chain(body.link[base], body.link[end])
    except ValueError:
        return None
    joints: list[int] = []
    constants = [np.eye(3)]
    for link in links:
        constants[-1] = constants[-1] @ linkage.turn[link]
        if linkage.joint[link] >= 0:
            joints.append(int(linkage.joint[link]))
            constants.append(np.eye(3))
    if not joints:
        return None
    return _Chain(
        joints,
        linkage.axes[joints],
        np.array(constants),
        robot.lower[joints].astype(np.float64),
        robot.upper[joints].astype(np.float64),
        middle[joints],
    )


def _one_branch(chain: _Chain, wanted: Array, fps: float) -> Array:
    """Angles ``(k, T)`` that follow one branch of solutions."""
    frames = wanted.shape[-1]
    stride = max(1, round(fps / SEED_RATE))
    chosen = np.unique(np.r_[np.arange(0, frames, stride), frames - 1])
    seeds = _seeds(chain)
    count = len(seeds)
    repeated = np.tile(wanted[..., chosen], (1, 1, count))
    begin = np.repeat(seeds.T[:, :, None], len(chosen), axis=2).reshape(len(chain.joints), -1)
    angles, cost = chain.solve(repeated, begin, _STEPS)
    cost = cost + _EFFORT * ((angles - chain.middle[:, None]) ** 2).sum(axis=0)
    found = angles.reshape(len(chain.joints), count, len(chosen))
    path = _smoothest(found, cost.reshape(count, len(chosen)))
    keys = found[:, path, np.arange(len(chosen))]
    if len(chosen) == frames:
        return keys
    blend = np.stack([np.interp(np.arange(frames), chosen, row) for row in keys])
    return chain.solve(wanted, blend, _REFINING_STEPS)[0]


def _seeds(chain: _Chain) -> Array:
    """Angles ``(n, k)``: the middle posture, and a corner in every part of the limits."""
    shares = np.array(list(product((0.25, 0.75), repeat=len(chain.joints))))
    return np.concatenate([chain.middle[None], chain.lower + shares * (chain.upper - chain.lower)])


def _smoothest(found: Array, cost: Array) -> np.ndarray:
    """Which solution to take in each frame: the path of least cost plus squared change. ``(k, n, T)``, ``(n, T)``."""
    _, count, frames = found.shape
    best = cost[:, 0].copy()
    came_from = np.zeros((frames, count), dtype=np.intp)
    # (T − 1, n now, n before): all squared changes at once
    squares = (found**2).sum(axis=0)
    inner = np.einsum("kat,kbt->tab", found[:, :, 1:], found[:, :, :-1])
    change = squares[:, 1:].T[:, :, None] + squares[:, :-1].T[:, None, :] - 2.0 * inner
    everyone = np.arange(count)
    for frame in range(1, frames):
        total = change[frame - 1] + best
        came_from[frame] = total.argmin(axis=1)
        best = total[everyone, came_from[frame]] + cost[:, frame]
    path = np.empty(frames, dtype=np.intp)
    path[-1] = best.argmin()
    for frame in range(frames - 1, 0, -1):
        path[frame - 1] = came_from[frame, path[frame]]
    return path
