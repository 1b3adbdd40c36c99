"""Punches out of a guard, and the front kick. They start and end standing."""

from __future__ import annotations

import numpy as np

from pfmhr.motion.embedded.curves import Array, balanced, keyed, smooth
from pfmhr.motion.embedded.footsteps import Step, Stride, feet, support
from pfmhr.motion.embedded.posture import drawn, standing
from pfmhr.motion.embedded.sketch import Sketch
from pfmhr.motion.embedded.variation import Clock, Variation

GUARD = np.array([-0.45, 0.12, 0.05, -0.65, 0.0, 0.1, 0.0])
"""An arm held up before the chin: shoulder pitch, roll, yaw, elbow, wrist roll, pitch, yaw."""
STRUCK = np.array([-1.45, 0.0, 0.0, 1.35, 0.6, 0.0, 0.0])
"""An arm stretched out in a straight punch."""


def punch(variation: Variation, fps: float) -> Sketch:
    """A step into a fighting stance, straight punches left and right, and back out of it."""
    posture = drawn(variation, half_width=(0.09, 0.12))
    count, pace = variation.whole(2, 4), variation.between(0.64, 0.86)
    wait, step = variation.between(0.35, 0.5), variation.between(0.4, 0.55)
    first = wait + step + 0.25
    last = first + count * pace
    clock = Clock.lasting(last + 0.15 + step + 0.45, fps)
    time, stagger = clock.time, variation.between(0.13, 0.2)
    home = ((0.0, posture.half_width, 0.0), (0.0, -posture.half_width, 0.0))
    turned = -variation.between(0.1, 0.35)
    stride = Stride(variation.between(0.03, 0.06), 0.1, 0.1)
    back = (-stagger, -posture.half_width - variation.between(0.0, 0.02), turned)
    steps = [Step(1, wait, wait + step, back, stride), Step(1, last + 0.15, last + 0.15 + step, home[1], stride)]
    ready = keyed(time, [wait - 0.1, first - 0.1, last, last + 0.15 + step], [0.0, 1.0, 1.0, 0.0])
    sketch = standing(variation, clock, posture)
    path = balanced(time, fps, lambda instants: support(instants, home, steps))
    # Not all the way onto the standing foot: the other ankle could not follow the leaning leg.
    sketch.root[:, :2] += path[:, :2] * np.array([1.0, 0.7])
    sketch.root[:, 2] -= variation.between(0.03, 0.065) * ready
    sketch.tilt[:, 2] += 0.6 * turned * ready
    sketch.tilt[:, 1] += 0.08 * ready
    sketch.soles, sketch.sole_tilt = feet(time, home, steps, posture.toe_out)
    _strike(sketch, variation, ready, [first + pace * index for index in range(count)], pace, 0.6 * turned)
    return sketch


def _strike(
    sketch: Sketch, variation: Variation, ready: Array, starts: list[float], pace: float, facing: float
) -> None:
    """Both arms come up to the guard; at each start one arm shoots out, the trunk turning behind it."""
    time = sketch.clock.time
    guard = GUARD + variation.around(np.tile([0.15, 0.08, 0.12, 0.2, 0.4, 0.15, 0.1], (2, 1)))
    struck = STRUCK + variation.around([0.15, 0.06, 0.15, 0.12, 0.6, 0.1, 0.1])
    out, hold = variation.between(0.24, 0.3), 0.05
    rest, twist = sketch.arms.mean(axis=1), variation.between(0.3, 0.6)
    sketch.arms += ready[:, None] * (guard - rest)[:, None]
    for index, start in enumerate(starts):
        arm = index % 2
        keys = [start, start + out, start + out + hold, start + min(pace - 0.02, 2.2 * out + hold)]
        share = keyed(time, keys, [0.0, 1.0, 1.0, 0.0])
        turn = twist if arm == 1 else -0.7 * twist
        # The fist goes straight ahead although the shoulders turn: the arm opens against the turn.
        ahead = np.zeros(7)
        ahead[1] = 0.8 * (turn + facing) * (1.0 if arm == 1 else -1.0)
        sketch.arms[arm] += share[:, None] * (struck + ahead - guard[arm])
        sketch.waist[:, 0] += share * turn
        sketch.waist[:, 2] += 0.08 * share
        sketch.root[:, 0] += 0.03 * share


def front_kick(variation: Variation, fps: float) -> Sketch:
    """Weight onto the left leg; the right knee comes up, the foot snaps forward, back, and down."""
    posture = drawn(variation, crouch=(0.02, 0.045))
    shift, chamber = variation.between(0.6, 0.8), variation.between(0.4, 0.6)
    snap, hold, back = variation.between(0.26, 0.36), variation.between(0.05, 0.15), variation.between(0.3, 0.4)
    down = variation.between(0.45, 0.65)
    lift = 0.1 + shift
    times = np.cumsum([lift, chamber, snap, hold, back, down]).tolist()
    clock = Clock.lasting(times[-1] + 0.5, fps)
    time, half = clock.time, posture.half_width
    home = ((0.0, half, 0.0), (0.0, -half, 0.0))
    sketch = standing(variation, clock, posture)
    swing = [Step(1, lift - 0.1, times[-1], home[1], Stride())]
    path = balanced(time, fps, lambda instants: support(instants, home, swing))
    sketch.root[:, :2] += path[:, :2]
    _kick(sketch, variation, times, posture.height)
    share = keyed(time, [lift - 0.4, *times[:5], times[5] + 0.2], [0.0, 0.3, 0.7, 1.0, 1.0, 0.7, 0.0])
    sketch.tilt[:, 1] -= variation.between(0.1, 0.25) * share
    sketch.waist[:, 2] += variation.between(0.1, 0.2) * share
    sketch.root[:, 0] -= 0.02 * share
    guard = GUARD + variation.around(np.tile([0.2, 0.1, 0.12, 0.3, 0.4, 0.2, 0.1], (2, 1)))
    raised = smooth(share / 0.7)
    sketch.arms += raised[:, None] * (guard - posture.arms)[:, None]
    return sketch


def _kick(sketch: Sketch, variation: Variation, times: list[float], height: float) -> None:
    """Moves the right foot around its hip: distance and angle from hip to ankle, and pitch of the sole."""
    length = height - 0.19
    folded, swung = variation.between(0.3, 0.36), variation.between(0.95, 1.2)
    reach, high = variation.between(0.572, 0.588), variation.between(1.3, 1.6)
    inward, toes = variation.between(0.06, 0.1), -0.85 * high
    stand, knee_up = [length, 0.0, 0.0, 0.0], [folded, swung, 0.1, inward]
    stretched = [reach, high, toes, inward]
    path = keyed(sketch.clock.time, times, [stand, knee_up, stretched, stretched, knee_up, stand])
    distance, angle, pitch, aside = path.T
    sketch.soles[1, :, 0] += distance * np.sin(angle)
    sketch.soles[1, :, 1] += aside
    sketch.soles[1, :, 2] += length - distance * np.cos(angle)
    sketch.sole_tilt[1, :, 1] += pitch
