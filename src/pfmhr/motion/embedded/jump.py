"""A jump on the spot or forward: crouch, push, flight, landing."""

from __future__ import annotations

import numpy as np

from pfmhr.motion.embedded.curves import GRAVITY, ballistic, keyed, smooth
from pfmhr.motion.embedded.posture import drawn, standing
from pfmhr.motion.embedded.sketch import SOLE_HALF_LENGTH, Sketch, grounded
from pfmhr.motion.embedded.variation import Clock, Variation

PUSH_PITCH, LAND_PITCH = 0.45, 0.2
"""Pitch of the feet in rad when the toes leave the floor and when they touch it again."""
KNEES_BENT = 0.068
"""How much lower the hips are, in m, at take-off and touch-down than when standing."""


def jump(variation: Variation, fps: float) -> Sketch:
    """Crouch with the arms back, leave the floor stretched with the arms up, land in a crouch."""
    posture = drawn(variation, half_width=(0.1, 0.15))
    speed, wait = variation.between(1.3, 1.9), variation.between(0.2, 0.4)
    low, landing = posture.height - variation.between(0.12, 0.22), posture.height - variation.between(0.1, 0.2)
    # The knees are still bent at take-off: a stretching leg would have to extend infinitely fast.
    leave = posture.height - KNEES_BENT + SOLE_HALF_LENGTH * np.sin(PUSH_PITCH)
    touch = posture.height - KNEES_BENT + SOLE_HALF_LENGTH * np.sin(LAND_PITCH)
    flight = float(speed + np.sqrt(speed**2 + 2.0 * GRAVITY * (leave - touch))) / GRAVITY
    impact = GRAVITY * flight - speed
    crouch, push = variation.between(0.5, 0.9), 1.7 * (leave - low) / speed
    absorb, rise = 1.7 * (touch - landing) / impact, variation.between(0.6, 1.0)
    times = np.cumsum([wait, crouch, push, flight, absorb, rise]).tolist()
    clock = Clock.lasting(times[-1] + 0.25, fps)
    sketch = standing(variation, clock, posture)
    heights, speeds = [posture.height, low, leave, touch, landing, posture.height], [0.0, 0.0, speed, -impact, 0.0, 0.0]
    sketch.root[:, 2] += ballistic(clock.time, times, heights, speeds) - posture.height
    # Hips go back as they go down, or the ankles would have to bend too far.
    sketch.root[:, 0] -= 0.4 * np.maximum(posture.height - sketch.root[:, 2], 0.0)
    distance = variation.between(-0.02, 0.25)
    airborne = np.clip((clock.time - times[2]) / flight, 0.0, 1.0)
    sketch.root[:, 0] += distance * smooth((clock.time - times[2] + 0.15) / (flight + 0.3))
    _fly(sketch, times, leave, touch, speed, impact)
    sketch.soles[:, :, 0] += distance * smooth(airborne)
    return _swing(sketch, variation, times)


def _fly(sketch: Sketch, times: list[float], leave: float, touch: float, speed: float, impact: float) -> None:
    """Feet roll off over the toes, follow the body stretched through the air, and land toes first."""
    time = sketch.clock.time
    start, end = times[2], times[3]
    pitch = keyed(
        time,
        [start - 0.14, start, start + 0.06, end - 0.06, end, end + 0.1],
        [0.0, PUSH_PITCH, PUSH_PITCH + 0.1, LAND_PITCH, LAND_PITCH, 0.0],
    )
    ease = 0.18 * (end - start)
    stretch = ballistic(
        time,
        [start, start + ease, end - ease, end],
        [leave, leave + 0.34 * speed * ease, touch + 0.34 * impact * ease, touch],
        [speed, 0.0, 0.0, -impact],
    )
    airborne = (time > start) & (time < end)
    clearance = np.where(airborne, sketch.root[:, 2] - stretch, 0.0)
    for foot in range(2):
        track, yaw = sketch.soles[foot, :, :2], sketch.sole_tilt[foot, :, 2]
        sketch.soles[foot] = grounded(track, np.maximum(clearance, 0.0), pitch, yaw)
        sketch.sole_tilt[foot, :, 1] = pitch


def _swing(sketch: Sketch, variation: Variation, times: list[float]) -> Sketch:
    """Arms back in the crouch, thrown up at take-off, forward on landing; the trunk folds and stretches."""
    time = sketch.clock.time
    back, up = variation.between(0.4, 0.9), variation.between(1.0, 2.3)
    keys = [times[0], times[1] - 0.12, times[2] + 0.1, times[4], times[5]]
    swing = keyed(time, keys, [0.0, back, -up, -0.5 * variation.between(0.6, 1.0), 0.0])
    for arm in range(2):
        sketch.arms[arm, :, 0] += swing
        sketch.arms[arm, :, 3] += 0.1 * swing
    fold = variation.between(0.25, 0.45)
    lean = keyed(time, keys, [0.0, fold, 0.0, 0.8 * fold, 0.0])
    sketch.tilt[:, 1] += lean
    sketch.waist[:, 2] += 0.5 * lean
    return sketch
