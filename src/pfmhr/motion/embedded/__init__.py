"""Clips of our own making for the Unitree G1: parametric, seeded, made in milliseconds, free of any licence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pfmhr.errors import InputError, unknown_name
from pfmhr.motion.embedded.dance import step_dance
from pfmhr.motion.embedded.fighting import front_kick, punch
from pfmhr.motion.embedded.gait import march, run, turn, walk
from pfmhr.motion.embedded.gestures import bow, squat, wave
from pfmhr.motion.embedded.jump import jump
from pfmhr.motion.embedded.legs import Legs
from pfmhr.motion.embedded.sketch import Sketch, mirrored, realised
from pfmhr.motion.embedded.variation import Variation
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

_MAKERS: dict[str, Callable[[Variation, float], Sketch]] = {
    "walk": walk,
    "run": run,
    "turn": turn,
    "march": march,
    "step_dance": step_dance,
    "squat": squat,
    "bow": bow,
    "wave": wave,
    "punch": punch,
    "front_kick": front_kick,
    "jump": jump,
}
CLIPS: tuple[str, ...] = tuple(_MAKERS)
"""Names of the clips."""


def embedded_motion(name: str, robot: Robot | None = None, seed: int = 0, fps: float = 50.0) -> Motion:
    """One clip: T frames of the 29 joints and the root, without a fault.

    Args:
        name: one of :data:`CLIPS`.
        robot: a G1; the bundled one unless given.
        seed: 0 for the typical clip; others vary speed, size, stance, timing and side. The same
            name, seed and frame rate give the same clip to the last bit.
        fps: frame rate in Hz.
    """
    robot = robot or Robot.load("g1")
    return _made(name, robot, Legs.of(robot), seed, fps)


def embedded_motions(variations: int, robot: Robot | None = None, fps: float = 50.0) -> Iterator[Motion]:
    """All clips, each with seeds 0 to ``variations`` − 1, named like ``walk-003``."""
    robot = robot or Robot.load("g1")
    legs = Legs.of(robot)
    for name in CLIPS:
        for seed in range(variations):
            yield _made(name, robot, legs, seed, fps)


def _made(name: str, robot: Robot, legs: Legs, seed: int, fps: float) -> Motion:
    return realised(_sketched(name, seed, fps), robot, legs, f"{name}-{seed:03d}")


def _sketched(name: str, seed: int, fps: float) -> Sketch:
    if name not in _MAKERS:
        raise unknown_name("embedded motion", name, CLIPS)
    if not (np.isfinite(fps) and fps > 0):
        raise InputError("impossible frame rate", expected="a positive number of Hz", got=fps, code="bad_fps")
    if seed < 0:
        raise InputError("impossible seed", expected="a whole number from 0", got=seed, code="bad_seed")
    variation = Variation(name, seed)
    swapped = variation.chance()
    sketch = _MAKERS[name](variation, fps)
    return mirrored(sketch) if swapped else sketch
