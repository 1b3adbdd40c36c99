"""Isaac's breadth-first order of nameless joints, known from the bodies: they are where the joint angles put them.

The loaders of BeyondMimic and mjlab index joints and bodies by position, so a file made in Isaac loads in mjlab
without complaint and trains on the wrong bodies. Where all bodies of a file fit one order, that order is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.formats.bodies import Bodies, some_frames
from pfmhr.motion.formats.clip import Clip
from pfmhr.robots import Robot, body_poses

BODY_TOLERANCE = 0.08
"""Mean distance in m that still counts as the same pose; published G1 models differ by less."""
SAME_POSE = 0.01
"""Nearer than this in m, the bodies say nothing against the order as given."""


def in_known_order(clip: Clip, positions: NDArray[np.float64], bodies: Bodies, robot: Robot) -> Clip:
    """The clip, its joints named where the bodies show that they are in breadth-first order.

    Args:
        clip: nameless joints, as many as the robot's.
        positions: the file's ``body_pos_w`` (T, B, 3).

    Raises:
        InputError: the joints are breadth-first, but the bodies are not: ``joint_order``.
    """
    frames = some_frames(len(clip.joint_pos))
    parts = (clip.joint_pos, clip.root_pos, clip.root_quat, positions)
    if not all(np.isfinite(part[frames]).all() for part in parts):
        return clip
    given, breadth = _placed_in_both_orders(clip, frames, robot)
    there = positions[frames]
    if bodies.columns:
        own = [robot.body_names.index(name) for name, _ in bodies.columns]
        there = there[:, [column for _, column in bodies.columns]]
        fits = _fits_better(_distance(breadth[:, own], there), _distance(given[:, own], there))
    else:
        there = there[:, bodies.root :]
        levels = [robot.body_names.index(name) for name in robot.breadth_first_bodies]
        fits = _fits_better(_distance(breadth[:, levels], there), _distance(given, there))
        if not fits:
            _refuse_mixed_order(given, breadth, there)
    if not fits:
        return clip
    note = "took the joints in Isaac's breadth-first order, which puts the bodies where the file has them"
    return replace(clip, joint_names=robot.breadth_first_names, notes=(*clip.notes, note))


def _placed_in_both_orders(
    clip: Clip, frames: NDArray[np.intp], robot: Robot
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where the joints put the bodies (F, B, 3), in the robot's order if they are as given or breadth-first."""
    reordered = np.empty_like(clip.joint_pos[frames])
    reordered[:, robot.joint_indices(robot.breadth_first_names)] = clip.joint_pos[frames]
    twice = np.tile(frames, 2)
    joints = np.concatenate([clip.joint_pos[frames], reordered])
    placed, _ = body_poses(robot, clip.root_pos[twice], clip.root_quat[twice], joints)
    return placed[: len(frames)], placed[len(frames) :]


def _distance(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    return float(np.abs(first - second).mean())


def _fits_better(breadth: float, given: float) -> bool:
    return breadth < min(BODY_TOLERANCE, 0.5 * given) and given > SAME_POSE


def _refuse_mixed_order(
    given: NDArray[np.floating], breadth: NDArray[np.floating], there: NDArray[np.floating]
) -> None:
    """Breadth-first joints beside bodies in an order of their own: nobody can tell what else is mixed up."""
    spread = np.sort(there, axis=1)  # the order of the bodies does not matter here
    as_given, as_isaac = (_distance(np.sort(each, axis=1), spread) for each in (given, breadth))
    if _fits_better(as_isaac, as_given):
        raise InputError(
            "the joints are in Isaac's breadth-first order, the bodies are not",
            expected="joints and bodies both breadth-first or both in MuJoCo's depth-first order",
            got=f"{100 * as_given:.1f} cm off as given, {100 * as_isaac:.1f} cm off in breadth-first order",
            fix="Pass joint_order=robot.breadth_first_names (--joint-order breadth_first).",
            code="joint_order",
        )
