"""MimicKit's humanoid: a skeleton of spherical joints and hinges, posed by its pickles.

A joint of three numbers in such a file is spherical: the numbers are its rotation vector. Taken for the angles of three
hinges one after another, as the model's own file has them, they put hands up to 0.6 m away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.retarget.human import Human
from pfmhr.retarget.rotations import Array, compose, exponential, turned


class Bone(NamedTuple):
    """One body: its parent, where it hangs there in m, and the axis of its hinge if it is not spherical."""

    name: str
    parent: int
    offset: tuple[float, float, float]
    size: int
    """Numbers of its joint in a frame: 3 spherical, 1 hinge, 0 fixed."""
    axis: tuple[float, float, float] = (0.0, 0.0, 0.0)


def _side(side: str, sign: float, torso: int, first: int, leg: bool) -> list[Bone]:
    if leg:
        return [
            Bone(f"{side}_thigh", 0, (0.0, 0.084887 * sign, 0.0), 3),
            Bone(f"{side}_shin", first, (0.0, 0.0, -0.421546), 1, (0.0, 1.0, 0.0)),
            Bone(f"{side}_foot", first + 1, (0.0, 0.0, -0.40987), 3),
        ]
    return [
        Bone(f"{side}_upper_arm", torso, (-0.02405, 0.18311 * sign, 0.2435), 3),
        Bone(f"{side}_lower_arm", first, (0.0, 0.274788 * sign, 0.0), 1, (0.0, 0.0, 1.0)),
        Bone(f"{side}_hand", first + 1, (0.0, 0.258947 * sign, 0.0), 0),
    ]


BONES = (
    Bone("pelvis", -1, (0.0, 0.0, 0.0), 0),
    Bone("torso", 0, (0.0, 0.0, 0.236151), 3),
    Bone("head", 1, (0.0, 0.0, 0.223894), 3),
    *_side("right", -1.0, 1, 3, leg=False),
    *_side("left", 1.0, 1, 6, leg=False),
    *_side("right", -1.0, 1, 9, leg=True),
    *_side("left", 1.0, 1, 12, leg=True),
)
"""The skeleton, depth first. It stands in a T-pose, looking along x, when all joints are 0."""
JOINT_VALUES = sum(bone.size for bone in BONES)
"""28."""


def humanoid(
    root_pos: NDArray[np.floating],
    root_rotvec: NDArray[np.floating],
    joints: NDArray[np.floating],
    fps: float,
    name: str = "motion",
    source: str = "",
    loop: bool = False,
) -> Human:
    """The humanoid's motion: root ``(T, 3)`` in m, its rotation vectors ``(T, 3)`` and joint values ``(T, 28)``."""
    if np.ndim(joints) != 2 or np.shape(joints)[1] != JOINT_VALUES:
        got = f"{np.shape(joints)[-1]} values"
        what = "these are not the joints of MimicKit's humanoid"
        raise InputError(what, expected=f"{JOINT_VALUES} values", got=got, code="bad_width")
    places, turns = forward(
        np.asarray(root_pos, dtype=np.float64).T,
        exponential(np.asarray(root_rotvec, dtype=np.float64).T),
        np.asarray(joints, dtype=np.float64).T,
    )
    still, _ = forward(np.zeros((3, 1)), np.eye(3)[..., None], np.zeros((JOINT_VALUES, 1)))
    return Human(
        names=tuple(bone.name for bone in BONES),
        positions=np.moveaxis(places, -1, 0),
        rotations=np.moveaxis(turns, -1, 0),
        fps=fps,
        zero_positions=still[..., 0],
        name=name,
        source=source,
        loop=loop,
    )


def forward(root_pos: Array, root_rot: Array, joints: Array) -> tuple[Array, Array]:
    """Places ``(B, 3, T)`` and turns ``(B, 3, 3, T)`` of all bodies, for joint values ``(28, T)``."""
    frames = joints.shape[1]
    places, turns = np.empty((len(BONES), 3, frames)), np.empty((len(BONES), 3, 3, frames))
    places[0], turns[0], column = root_pos, root_rot, 0
    for index, bone in enumerate(BONES[1:], start=1):
        values = joints[column : column + bone.size]
        column += bone.size
        places[index] = places[bone.parent] + turned(turns[bone.parent], np.array(bone.offset))
        if bone.size == 0:
            turns[index] = turns[bone.parent]
            continue
        vectors = values if bone.size == 3 else np.array(bone.axis)[:, None] * values
        turns[index] = compose(turns[bone.parent], exponential(vectors))
    return places, turns
