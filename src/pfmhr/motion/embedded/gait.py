"""Clips on alternating feet: walking, running, turning and marching on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pfmhr.motion.embedded.curves import BALANCE_HORIZON, GRAVITY, Array, balanced, ballistic
from pfmhr.motion.embedded.footsteps import Place, Step, Stride, ahead, beside, feet, support
from pfmhr.motion.embedded.posture import HIPS_BEHIND, Posture, alive, drawn
from pfmhr.motion.embedded.sketch import Sketch
from pfmhr.motion.embedded.variation import Clock, Variation


@dataclass(frozen=True)
class Plan:
    """Footsteps of a cycle that repeats; enough of them before and after to keep the balance."""

    stance: tuple[Place, Place]
    steps: tuple[Step, ...]
    step_time: float


def cycle(clock: Clock, moves: Sequence[Place], both: float, half_width: float, strides: Sequence[Stride]) -> Plan:
    """Alternating steps, left foot first, one move of the body each, over and over.

    Args:
        moves: an even number of moves (forward, left, turn), together one period of the clock.
        both: share of a step during which both feet stand; below 0 both are in the air.
        strides: shape of each step.
    """
    count, step_time = len(moves), clock.duration / len(moves)
    margin = 2 * int(np.ceil((BALANCE_HORIZON + 1.0) / step_time))
    bodies: list[Place] = [(0.0, 0.0, 0.0)]
    for index in range(-margin, count + margin):
        bodies.append(ahead(bodies[-1], moves[index % count]))
    # Seen from where the body is at time 0, so that the clip starts at the origin.
    x, y, heading = bodies[margin]
    c, s = float(np.cos(heading)), float(np.sin(heading))
    bodies = [ahead((-c * x - s * y, s * x - c * y, -heading), body) for body in bodies]
    steps = [
        Step(
            foot=index % 2,
            lift=(index + both) * step_time,
            land=(index + 1) * step_time,
            place=beside(bodies[index + margin + 1], index % 2, half_width),
            stride=strides[index % count],
        )
        for index in range(-margin, count + margin)
    ]
    stance = (beside(bodies[0], 0, half_width), beside(bodies[0], 1, half_width))
    return Plan(stance, tuple(steps), step_time)


@dataclass(frozen=True)
class Manner:
    """How the upper body goes along; gains in rad per m between the feet."""

    arm_swing: float
    elbow_swing: float
    hip_turn: float
    chest_turn: float
    lean: float
    """Forward lean of the whole trunk, in rad."""
    arms: Array
    """(2, 7) arms at mid-swing, written as left arms."""
    roll: float = 0.25
    """Pelvis roll towards the standing leg, in rad per m of sideways shift."""


def carried(variation: Variation, clock: Clock, plan: Plan, posture: Posture, manner: Manner) -> Sketch:
    """The body on the feet of a plan: balanced, arms and trunk swinging against the legs."""
    time = clock.time
    path = balanced(time, clock.fps, lambda instants: support(instants, plan.stance, plan.steps))
    soles, sole_tilt = feet(time, plan.stance, plan.steps, posture.toe_out)
    heading = path[:, 2]
    forward = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    split = np.einsum("ti,ti->t", soles[1, :, :2] - soles[0, :, :2], forward)
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    middle = 0.5 * (soles[0, :, :2] + soles[1, :, :2])
    shift = np.einsum("ti,ti->t", path[:, :2] - middle, left)
    zeros = np.zeros(clock.frames)
    root = np.column_stack([path[:, :2] - HIPS_BEHIND * forward, np.full(clock.frames, posture.height)])
    tilt = np.column_stack([manner.roll * shift, zeros + 0.5 * manner.lean, heading + manner.hip_turn * split])
    waist = np.column_stack([-manner.chest_turn * split, -manner.roll * shift, zeros + 0.5 * manner.lean])
    arms = np.repeat(manner.arms[:, None], clock.frames, axis=1)
    for arm, sign in enumerate((1.0, -1.0)):
        arms[arm, :, 0] -= sign * manner.arm_swing * split
        arms[arm, :, 3] -= sign * manner.elbow_swing * split
    return alive(Sketch(clock, root, tilt, soles, sole_tilt, waist, arms), variation)


def walk(variation: Variation, fps: float) -> Sketch:
    """Walking from a stroll to a brisk pace, straight or along a wide curve."""
    posture = drawn(variation, half_width=(0.08, 0.12), crouch=(0.0, 0.025))
    count, length = 2 * variation.whole(2, 3), variation.between(0.16, 0.48)
    # Who takes longer steps also takes them faster.
    step_time = variation.between(0.46, 0.6) - 0.15 * (length - 0.32)
    clock = Clock.lasting(count * step_time, fps, loop=True)
    curve = variation.between(-0.12, 0.12)
    height, roll = variation.between(0.045, 0.09), variation.between(0.15, 0.5) * (0.6 + length)
    uneven = 1.0 + variation.around(np.full((count, 2), 0.08))
    moves = [(length * uneven[k, 0], 0.0, curve) for k in range(count)]
    strides = [Stride(height * uneven[k, 1], roll, 0.9 * roll, 0.4 * roll) for k in range(count)]
    both = variation.between(0.14, 0.26)
    plan = cycle(clock, moves, both, posture.half_width, strides)
    manner = Manner(
        arm_swing=variation.between(0.5, 1.3),
        elbow_swing=variation.between(0.1, 0.6),
        hip_turn=variation.between(0.05, 0.2),
        chest_turn=variation.between(0.15, 0.45),
        lean=posture.lean + 0.1 * length,
        arms=posture.arms,
    )
    sketch = carried(variation, clock, plan, posture, manner)
    # Highest over the standing leg, lowest between the feet; and lower altogether with longer steps,
    # or the body would drop at every one of them for want of leg.
    bob = np.cos(2.0 * np.pi * (clock.time / plan.step_time - 0.5 * (1.0 + both)))
    sketch.root[:, 2] += variation.between(0.01, 0.04) * length * bob - 0.27 * length**2
    return sketch


def turn(variation: Variation, fps: float) -> Sketch:
    """Turning on the spot in small steps, the chest looking ahead into the turn."""
    posture = drawn(variation, half_width=(0.1, 0.135), crouch=(0.01, 0.05))
    count = 2 * variation.whole(2, 3)
    clock = Clock.lasting(count * variation.between(0.42, 0.65), fps, loop=True)
    angle, height = variation.between(0.22, 0.5), variation.between(0.04, 0.09)
    uneven = 1.0 + variation.around(np.full((count, 2), 0.12))
    moves = [(0.0, 0.0, angle * uneven[k, 0]) for k in range(count)]
    strides = [Stride(height * uneven[k, 1], toe_off=0.12, fold=0.15) for k in range(count)]
    plan = cycle(clock, moves, variation.between(0.18, 0.32), posture.half_width, strides)
    # The chest turns ahead of the hips; the arms keep clear of the thighs that follow.
    apart = posture.arms + np.array([0.0, 0.08, 0.0, 0.0, 0.0, 0.0, 0.0])
    manner = Manner(arm_swing=0.8, elbow_swing=0.3, hip_turn=0.0, chest_turn=0.0, lean=posture.lean, arms=apart)
    sketch = carried(variation, clock, plan, posture, manner)
    sketch.waist[:, 0] += variation.between(0.1, 0.3)
    return sketch


def march(variation: Variation, fps: float) -> Sketch:
    """Marching on the spot: knees high, opposite arms swinging with bent elbows."""
    posture = drawn(variation, half_width=(0.095, 0.125), crouch=(0.005, 0.03))
    count = 2 * variation.whole(2, 3)
    clock = Clock.lasting(count * variation.between(0.42, 0.62), fps, loop=True)
    height, reach = variation.between(0.17, 0.32), variation.between(0.1, 0.18)
    uneven = 1.0 + variation.around(np.full((count, 2), 0.1))
    strides = [Stride(height * k, 0.2, variation.between(0.2, 0.5), 0.0, reach * r) for k, r in uneven]
    plan = cycle(clock, [(0.0, 0.0, 0.0)] * count, variation.between(0.12, 0.25), posture.half_width, strides)
    bent = posture.arms + np.array([0.0, 0.0, 0.0, -variation.between(0.5, 1.1), 0.0, 0.0, 0.0])
    manner = Manner(
        arm_swing=variation.between(3.5, 6.0),
        elbow_swing=1.5,
        hip_turn=0.3,
        chest_turn=0.6,
        lean=posture.lean,
        arms=bent,
    )
    return carried(variation, clock, plan, posture, manner)


def run(variation: Variation, fps: float) -> Sketch:
    """Running with a flight phase between steps, elbows bent, leaning forward."""
    posture = drawn(variation, half_width=(0.06, 0.09), crouch=(0.072, 0.092))
    count, travel = 2 * variation.whole(2, 4), variation.between(0.28, 0.42)
    clock = Clock.lasting(count * variation.between(0.3, 0.36), fps, loop=True)
    step_time, airborne = clock.duration / count, variation.between(0.2, 0.32)
    height, fold, reach = variation.between(0.14, 0.2), variation.between(0.8, 1.05), variation.between(0.0, 0.08)
    uneven = 1.0 + variation.around(np.full((count, 2), 0.06))
    length = travel / (1.0 - airborne)
    moves = [(length * uneven[k, 0], 0.0, 0.0) for k in range(count)]
    strides = [Stride(height * uneven[k, 1], 0.5, fold, 0.0, reach) for k in range(count)]
    plan = cycle(clock, moves, -airborne, posture.half_width, strides)
    bent = posture.arms + np.array([0.1, 0.12, 0.0, -variation.between(1.15, 1.55), 0.0, 0.0, 0.0])
    manner = Manner(
        arm_swing=variation.between(0.5, 0.9),
        elbow_swing=0.15,
        hip_turn=0.12,
        chest_turn=variation.between(0.2, 0.4),
        lean=variation.between(0.12, 0.3),
        arms=bent,
    )
    sketch = carried(variation, clock, plan, posture, manner)
    sketch.root[:, 2] += bouncing(clock.time, step_time, airborne)
    return sketch


def bouncing(time: Array, step_time: float, airborne: float) -> Array:
    """Height ``(T,)`` of a runner's pelvis against touch-down: free fall in the air, a spring on the ground."""
    contact = (1.0 - airborne) * step_time
    speed = 0.5 * GRAVITY * airborne * step_time
    return ballistic(np.mod(time, step_time), [0.0, contact, step_time], [0.0] * 3, [-speed, speed, -speed])
