"""Clips on standing feet: squat, bow and wave. They start and end standing."""

from __future__ import annotations

import numpy as np

from pfmhr.motion.embedded.curves import keyed, smooth
from pfmhr.motion.embedded.posture import drawn, standing
from pfmhr.motion.embedded.sketch import Sketch
from pfmhr.motion.embedded.variation import Clock, Variation


def squat(variation: Variation, fps: float) -> Sketch:
    """Down and up again, hips back, chest forward, arms stretched out in front against the weight."""
    posture = drawn(variation, half_width=(0.12, 0.18))
    down, hold, up = variation.between(0.8, 1.5), variation.between(0.1, 0.5), variation.between(0.7, 1.3)
    wait, pause, count = variation.between(0.2, 0.4), variation.between(0.1, 0.3), variation.whole(1, 2)
    clock = Clock.lasting(wait + count * (down + hold + up + pause) + 0.2, fps)
    depth = variation.between(0.16, 0.32) * (1.0 + variation.around(np.full(count, 0.12)))
    starts = wait + np.arange(count) * (down + hold + up + pause)
    times = [0.0, *np.concatenate([[s, s + down, s + down + hold, s + down + hold + up] for s in starts])]
    low = keyed(clock.time, times, [0.0, *np.concatenate([[0.0, d, d * 1.03, 0.0] for d in depth])])
    share = low / 0.25
    sketch = standing(variation, clock, posture)
    sketch.root[:, 0] -= variation.between(0.08, 0.11) * share
    sketch.root[:, 2] -= low
    sketch.tilt[:, 1] += variation.between(0.25, 0.4) * share
    sketch.waist[:, 2] += variation.between(0.05, 0.2) * share
    reach, spread = variation.between(1.2, 1.9), variation.between(-0.12, 0.15)
    for arm in range(2):
        sketch.arms[arm] += share[:, None] * np.array([-reach, spread, 0.0, 0.15, 0.0, 0.0, 0.0])
    turned_out = variation.between(0.0, 0.3)
    sketch.sole_tilt[0, :, 2] += turned_out
    sketch.sole_tilt[1, :, 2] -= turned_out
    return sketch


def bow(variation: Variation, fps: float) -> Sketch:
    """A bow from hips and waist, the hips moving back to keep the weight over the feet."""
    posture = drawn(variation, half_width=(0.07, 0.125))
    down, hold, up = variation.between(0.8, 1.4), variation.between(0.3, 0.9), variation.between(0.8, 1.4)
    wait = variation.between(0.2, 0.4)
    clock = Clock.lasting(wait + down + hold + up + 0.3, fps)
    times = [0.0, wait, wait + down, wait + down + hold, wait + down + hold + up]
    share = keyed(clock.time, times, [0.0, 0.0, 1.0, 1.02, 0.0])
    sketch = standing(variation, clock, posture)
    hips, waist = variation.between(0.35, 0.75), variation.between(0.25, 0.42)
    sketch.tilt[:, 1] += hips * share
    sketch.waist[:, 2] += (waist - posture.lean) * share
    sketch.root[:, 0] -= 0.13 * np.sin(hips + 0.5 * waist) * share
    sketch.root[:, 2] -= variation.between(0.0, 0.02) * share
    # Either the hands slide along the thighs or the arms stay at the seams; in both cases they follow the trunk.
    follow, fold = variation.between(-0.1, 0.5), variation.between(-0.2, 0.5)
    for arm in range(2):
        sketch.arms[arm] += share[:, None] * np.array([-follow, 0.03, -0.1, -fold, 0.0, 0.0, 0.0])
    return sketch


def wave(variation: Variation, fps: float) -> Sketch:
    """One hand is raised beside the head and waved from side to side out of the elbow."""
    posture = drawn(variation)
    rise, fall = variation.between(0.6, 1.0), variation.between(0.6, 1.0)
    count, beat = variation.whole(3, 5), variation.between(0.42, 0.75)
    wait = variation.between(0.15, 0.35)
    clock = Clock.lasting(wait + rise + count * beat + fall + 0.2, fps)
    time, raised, done = clock.time, wait + rise, wait + rise + count * beat
    share = keyed(time, [wait, raised, done, done + fall], [0.0, 1.0, 1.0, 0.0])
    sketch = standing(variation, clock, posture)
    spread, twist, bend = variation.between(0.9, 1.5), variation.between(1.35, 1.75), variation.between(-0.25, 0.1)
    up = np.array([variation.between(-0.4, 0.1), spread, twist, bend, variation.between(-0.4, 0.4), 0.0, 0.0])
    sketch.arms[1] += share[:, None] * (up - posture.arms[1])
    # The waving fades in and out so that it neither starts nor stops with a jerk.
    fading = smooth((time - raised + 0.3) / 0.5) * smooth((done + 0.15 - time) / 0.5)
    swing = fading * np.sin(2.0 * np.pi * (time - raised) / beat)
    sketch.arms[1, :, 3] += variation.between(0.3, 0.55) * swing
    sketch.arms[1, :, 6] -= variation.between(0.1, 0.35) * swing
    sketch.waist[:, 1] -= variation.between(0.0, 0.12) * share + 0.02 * swing
    sketch.waist[:, 0] += variation.between(-0.25, 0.25) * share
    sketch.root[:, 1] += variation.between(-0.03, 0.03) * share
    return sketch
