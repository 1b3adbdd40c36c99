"""How one individual stands: stance, height and the way the arms hang, drawn once per clip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfmhr.motion.embedded.curves import Array
from pfmhr.motion.embedded.sketch import Sketch
from pfmhr.motion.embedded.variation import Clock, Variation

STANDING_HEIGHT = 0.78
"""Pelvis above the floor in m with the knees almost straight."""
HIPS_BEHIND = 0.008
"""The pelvis stands this far in m behind the middle of the soles: there the weight is above them."""
HANGING = np.array([0.15, 0.28, 0.0, 1.25, 0.0, 0.0, 0.15])
"""An arm at rest beside the body: shoulder pitch, roll, yaw, elbow, wrist roll, pitch, yaw."""


@dataclass(frozen=True, eq=False)
class Posture:
    """A way to stand."""

    half_width: float
    """Half the distance between the feet, in m."""
    toe_out: float
    height: float
    """Of the pelvis, in m."""
    lean: float
    """Forward lean of the trunk, in rad."""
    arms: Array
    """(2, 7) both arms at rest, written as left arms."""


def drawn(
    variation: Variation, half_width: tuple[float, float] = (0.1, 0.135), crouch: tuple[float, float] = (0.0, 0.03)
) -> Posture:
    """A posture of this variation; ``crouch`` is how far the pelvis is below standing height, in m."""
    return Posture(
        half_width=variation.between(*half_width),
        toe_out=variation.between(0.0, 0.16),
        height=STANDING_HEIGHT - variation.between(*crouch),
        lean=variation.between(-0.02, 0.1),
        arms=HANGING + variation.around(np.tile([0.12, 0.05, 0.2, 0.25, 0.5, 0.3, 0.15], (2, 1))),
    )


def standing(variation: Variation, clock: Clock, posture: Posture) -> Sketch:
    """Standing at ease on the spot, never quite still; clips add their movement to it."""
    frames = clock.frames
    soles, sole_tilt = np.zeros((2, frames, 3)), np.zeros((2, frames, 3))
    for foot, sign in enumerate((1.0, -1.0)):
        soles[foot, :, 1] = sign * posture.half_width
        sole_tilt[foot, :, 2] = sign * posture.toe_out
    sketch = Sketch(
        clock,
        root=np.tile([-HIPS_BEHIND, 0.0, posture.height], (frames, 1)),
        tilt=np.zeros((frames, 3)),
        soles=soles,
        sole_tilt=sole_tilt,
        waist=np.tile([0.0, 0.0, posture.lean], (frames, 1)),
        arms=np.repeat(posture.arms[:, None], frames, axis=1),
    )
    return alive(sketch, variation)


def alive(sketch: Sketch, variation: Variation) -> Sketch:
    """Adds the small movements of breathing and balance, in place; returns the sketch."""
    clock = sketch.clock
    sketch.root += variation.wander(clock, [0.006, 0.008, 0.003])
    sketch.tilt += variation.wander(clock, [0.008, 0.012, 0.015])
    sketch.waist += variation.wander(clock, [0.05, 0.025, 0.03])
    for arm in range(2):
        sketch.arms[arm] += variation.wander(clock, [0.04, 0.03, 0.06, 0.06, 0.15, 0.08, 0.08])
    return sketch
