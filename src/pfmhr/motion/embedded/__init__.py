"""Clips of our own making for the Unitree G1: parametric, seeded, made in milliseconds, without any recording."""

from __future__ import annotations

from collections.abc import Iterator

from pfmhr.errors import InputError
from pfmhr.motion.embedded.clips import MAKERS, sketched
from pfmhr.motion.embedded.legs import LEGS, Legs
from pfmhr.motion.embedded.sketch import UPPER_BODY, realised
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

CLIPS: tuple[str, ...] = tuple(MAKERS)
"""Names of the clips."""

__all__ = ["CLIPS", "embedded_motion", "embedded_motions"]


def embedded_motion(name: str, robot: Robot | None = None, seed: int = 0, fps: float = 50.0) -> Motion:
    """One clip: T frames of the 29 joints and the root, without a fault.

    Args:
        name: one of :data:`CLIPS`.
        robot: a G1; the bundled one unless given.
        seed: 0 for the typical clip; others vary speed, size, stance, timing and side. The same
            name, seed and frame rate give the same clip to the last bit.
        fps: frame rate in Hz.
    """
    return _made(name, *_body(robot), seed, fps)


def embedded_motions(variations: int, robot: Robot | None = None, fps: float = 50.0) -> Iterator[Motion]:
    """All clips, each with seeds 0 to ``variations`` − 1, named like ``walk-003``."""
    robot, legs = _body(robot)
    for name in CLIPS:
        for seed in range(variations):
            yield _made(name, robot, legs, seed, fps)


def _body(robot: Robot | None) -> tuple[Robot, Legs]:
    robot = robot or Robot.load("g1")
    needed = [*LEGS, *UPPER_BODY]
    missing = [name for name in needed if name not in robot.joint_names]
    if missing:
        raise InputError(
            "the embedded motions are made for the Unitree G1",
            where=robot.path,
            expected=f"its {len(needed)} joints",
            got=f"a robot without {len(missing)} of them, such as {missing[0]}",
            code="wrong_robot",
        )
    return robot, Legs.of(robot)


def _made(name: str, robot: Robot, legs: Legs, seed: int, fps: float) -> Motion:
    return realised(sketched(name, seed, fps), robot, legs, f"{name}-{seed:03d}")
