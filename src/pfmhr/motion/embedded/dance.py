"""A step-touch dance: side, touch, back to the other side, touch, with bounce, hips and arms on the beat."""

from __future__ import annotations

import numpy as np

from pfmhr.motion.embedded.curves import BALANCE_HORIZON, Array, balanced, bump
from pfmhr.motion.embedded.footsteps import Place, Step, Stride, feet, support
from pfmhr.motion.embedded.posture import HIPS_BEHIND, Posture, alive, drawn
from pfmhr.motion.embedded.sketch import Sketch
from pfmhr.motion.embedded.variation import Clock, Variation

SWAY = 0.75
"""Share of the full shift onto the standing foot: with more, the ankle of the other leg runs into its limit."""


def step_dance(variation: Variation, fps: float) -> Sketch:
    """Side steps to the beat, the free foot touching beside the standing one."""
    posture = drawn(variation, half_width=(0.09, 0.12), crouch=(0.03, 0.06))
    beat, bars = variation.between(0.4, 0.6), variation.whole(1, 2)
    clock = Clock.lasting(4 * bars * beat, fps, loop=True)
    beat = clock.duration / (4 * bars)
    side, stride = variation.between(0.05, 0.088), Stride(variation.between(0.05, 0.1), 0.15, 0.2)
    stance, steps = _footsteps(posture, clock.duration, beat, side, stride)
    time = clock.time
    path = balanced(time, fps, lambda instants: support(instants, stance, steps))
    soles, sole_tilt = feet(time, stance, steps, posture.toe_out)
    bar = 2.0 * np.pi * time / (4.0 * beat)
    root = np.column_stack([path[:, 0] - HIPS_BEHIND, SWAY * path[:, 1], np.full(clock.frames, posture.height)])
    root[:, 2] -= variation.between(0.02, 0.045) * bump(np.mod(time / beat + 0.25, 1.0))
    # The left foot lands at the end of beat 1 and the right one at the end of beat 3: sway lies between.
    sway = np.sin(bar - 0.25 * np.pi)
    zeros = np.zeros(clock.frames)
    hips, chest = variation.between(0.03, 0.1), variation.between(0.15, 0.4)
    tilt = np.column_stack([hips * sway, zeros + 0.5 * posture.lean, 0.4 * chest * np.sin(bar)])
    waist = np.column_stack([-1.4 * chest * np.sin(bar), -2.0 * hips * sway, zeros + posture.lean])
    arms = np.repeat(posture.arms[:, None], clock.frames, axis=1)
    sketch = Sketch(clock, root, tilt, soles, sole_tilt, waist, arms)
    _swing_arms(sketch, variation, sway, bump(np.mod(time / (2.0 * beat) + 0.25, 1.0)))
    return alive(sketch, variation)


def _footsteps(
    posture: Posture, duration: float, beat: float, side: float, stride: Stride
) -> tuple[tuple[Place, Place], list[Step]]:
    """Left steps left, right touches; right steps right, left touches; over and over."""
    near, far = posture.half_width, posture.half_width + side
    beats_before = 4 * int(np.ceil((BALANCE_HORIZON + 1.0) / (4.0 * beat)))
    pattern = ((0, far), (1, -near + side), (1, -far), (0, near - side))
    count = beats_before + round(duration / beat) + beats_before
    steps = [
        Step(foot, (index + 0.25) * beat, (index + 0.95) * beat, (0.0, place, 0.0), stride)
        for index in range(-beats_before, count - beats_before)
        for foot, place in [pattern[index % 4]]
    ]
    return ((0.0, near - side, 0.0), (0.0, -far, 0.0)), steps


def _swing_arms(sketch: Sketch, variation: Variation, sway: Array, touch: Array) -> None:
    """Elbows bent; both arms swing to the side the body moves to and open on every touch."""
    bend, swing = variation.between(0.5, 1.1), variation.between(0.2, 0.6)
    opening, raising = variation.between(0.2, 0.7), variation.between(0.0, 0.6)
    for arm, sign in enumerate((1.0, -1.0)):
        sketch.arms[arm, :, 0] -= 0.2 + raising * touch - sign * swing * sway
        sketch.arms[arm, :, 1] += 0.1 + opening * touch
        sketch.arms[arm, :, 2] += 0.4 * sign * sway * swing
        sketch.arms[arm, :, 3] -= bend + 0.3 * touch
