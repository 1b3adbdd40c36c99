"""A clip before it has joint angles: where the pelvis and the soles go, and what the upper body does."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pfmhr.motion.embedded.curves import Array
from pfmhr.motion.embedded.legs import SIDES, Legs, solve
from pfmhr.motion.embedded.rotations import matrices, quaternions
from pfmhr.motion.embedded.variation import Clock
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

WAIST = ("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint")
ARM_JOINTS = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")
UPPER_BODY = (*WAIST, *(f"{side}_{joint}_joint" for side in SIDES for joint in ARM_JOINTS))
ARM_MIRROR = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
"""Signs that turn a left arm's angles into the right arm's mirror image."""
SOLE_HALF_LENGTH = 0.095
SHOULDER_TILT = 0.279
"""The shoulder pitch axes rise outward by this angle."""
LEG_REACH = 0.593
"""Hip to ankle in m with the knee still bent by 0.4 rad: where legs are as straight as they may be."""
GIVE = 0.01
"""Width in m of the transition where a pelvis that is too high begins to be lowered."""


@dataclass(eq=False)
class Sketch:
    """All angles in rad, roll-pitch-yaw applied about world x, y, z in this order; left before right."""

    clock: Clock
    root: Array
    """(T, 3) pelvis position in m."""
    tilt: Array
    """(T, 3) pelvis roll, pitch, yaw."""
    soles: Array
    """(2, T, 3) centres of the soles in m."""
    sole_tilt: Array
    """(2, T, 3) roll, pitch, yaw of the soles; positive pitch points the toes down."""
    waist: Array
    """(T, 3) waist yaw, roll, pitch joints."""
    arms: Array
    """(2, T, 7) arm joints; the right arm's are written as if it were a left arm, and the shoulder
    roll as if the pitch axis were level."""


def mirrored(sketch: Sketch) -> Sketch:
    """The same movement seen in a mirror: left and right exchanged."""
    flip_position, flip_tilt = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
    return Sketch(
        sketch.clock,
        root=sketch.root * flip_position,
        tilt=sketch.tilt * flip_tilt,
        soles=sketch.soles[::-1] * flip_position,
        sole_tilt=sketch.sole_tilt[::-1] * flip_tilt,
        waist=sketch.waist * np.array([-1.0, -1.0, 1.0]),
        arms=sketch.arms[::-1],
    )


def realised(sketch: Sketch, robot: Robot, legs: Legs, name: str) -> Motion:
    """The motion of a sketch: legs by inverse kinematics, everything within the joint limits."""
    sketch = _within_reach(sketch, legs)
    poses = np.zeros((sketch.clock.frames, robot.num_joints))
    angles, _ = solve(legs, *_sole_targets(sketch))
    poses[:, robot.joint_indices(WAIST)] = sketch.waist
    for side, sign in enumerate((1.0, ARM_MIRROR)):
        poses[:, legs.columns[side]] = angles[side]
        arm = robot.joint_indices([f"{SIDES[side]}_{joint}_joint" for joint in ARM_JOINTS])
        poses[:, arm] = _straightened(sketch.arms[side]) * sign
    poses = np.clip(poses, robot.lower, robot.upper)
    about = {"loop": sketch.clock.loop, "name": name}
    return Motion.from_arrays(robot, poses, sketch.clock.fps, sketch.root, quaternions(sketch.tilt), **about)


def _straightened(arm: Array) -> Array:
    """Arm angles ``(T, 7)`` with the roll that keeps a swung arm in its vertical plane on the tilted pitch axis."""
    level = arm.copy()
    level[:, 1] += SHOULDER_TILT * (1.0 - np.cos(arm[:, 0]))
    return level


def _within_reach(sketch: Sketch, legs: Legs) -> Sketch:
    """The sketch with its pelvis lowered smoothly wherever a foot would be out of reach."""
    pelvis, turn = matrices(sketch.tilt), matrices(sketch.sole_tilt)
    hips = sketch.root + np.einsum("tij,sj->sti", pelvis, legs.hip)
    ankles = sketch.soles - np.einsum("stij,sj->sti", turn, legs.sole + legs.offset[:, 5])
    x, y, height = np.moveaxis(hips - ankles, 2, 0)
    limit = np.sqrt(np.maximum(LEG_REACH**2 - x * x - y * y, 0.0))
    excess = np.maximum((height - limit) / GIVE, -30.0)
    lowered = sketch.root.copy()
    lowered[:, 2] -= GIVE * np.log1p(np.exp(excess).sum(axis=0))
    return replace(sketch, root=lowered)


def _sole_targets(sketch: Sketch) -> tuple[Array, Array]:
    """Sole positions ``(2, T, 3)`` and orientations ``(2, T, 3, 3)`` in the pelvis frame."""
    back = np.swapaxes(matrices(sketch.tilt), 1, 2)
    position = np.einsum("tij,stj->sti", back, sketch.soles - sketch.root)
    return position, back @ matrices(sketch.sole_tilt)


def grounded(track: Array, clearance: Array, pitch: Array, yaw: Array) -> Array:
    """Sole centres ``(..., 3)`` of feet that roll over toe or heel without slipping or sinking.

    Args:
        track: ``(..., 2)`` where the centre would be were the sole flat.
        clearance: ``(...)`` height of the lowest corner above the floor.
        pitch: ``(...)`` positive stands on the toe edge, negative on the heel edge.
        yaw: ``(...)`` heading of the foot.
    """
    # The edge on the floor stays where it is in the flat foot, so the centre moves towards it.
    shift = np.sign(pitch) * SOLE_HALF_LENGTH * (1.0 - np.cos(pitch))
    height = clearance + SOLE_HALF_LENGTH * np.abs(np.sin(pitch))
    return np.stack([track[..., 0] + shift * np.cos(yaw), track[..., 1] + shift * np.sin(yaw), height], axis=-1)
