"""Checks on joint angles: limits, units, and whether the columns are where they should be."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pfmhr.motion.checks.report import Fault
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot


def check_poses(motion: Motion, robot: Robot, tolerance: float) -> list[Fault]:
    """At most one verdict: degrees, wrong order, or joints outside their limits."""
    poses = motion.joint_pos
    low, high = _extremes(poses)
    outside = np.maximum(robot.lower - low, high - robot.upper)
    fault = _degrees(low, high, robot) or _wrong_order(poses, robot)
    if fault is not None:
        return [fault]
    if outside.max() <= tolerance:
        return []
    return [_limits(poses, robot, outside, tolerance)]


def _extremes(poses: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Smallest and largest value per column. Taken 32 frames at a time: long rows reduce fast, short ones do not."""
    frames, joints = poses.shape
    whole = frames - frames % 32
    if not whole:
        return poses.min(axis=0), poses.max(axis=0)
    wide, rest = poses[:whole].reshape(-1, 32 * joints), poses[whole:]
    low = np.concatenate([wide.min(axis=0).reshape(32, joints), rest]).min(axis=0)
    high = np.concatenate([wide.max(axis=0).reshape(32, joints), rest]).max(axis=0)
    return low, high


def _limits(poses: NDArray[np.float32], robot: Robot, outside: NDArray[np.float32], tolerance: float) -> Fault:
    beyond = (poses < robot.lower - tolerance) | (poses > robot.upper + tolerance)
    worst = int(outside.argmax())
    frames = int(beyond.any(axis=1).sum())
    joints = [robot.joint_names[joint] for joint in np.flatnonzero(beyond.any(axis=0))]
    message = (
        f"{len(joints)} joint(s) leave their limits in {frames} of {len(poses)} frames; "
        f"worst {robot.joint_names[worst]} by {outside[worst]:.2f} rad"
    )
    return Fault(
        "joint_limits",
        message,
        detail={
            "frames": frames,
            "joints": joints,
            "worst_joint": robot.joint_names[worst],
            "worst_excess": round(float(outside[worst]), 4),
        },
    )


def _degrees(low: NDArray[np.float32], high: NDArray[np.float32], robot: Robot) -> Fault | None:
    """Angles far beyond any hinge that fit the limits once divided by 57.3."""
    largest = float(max(high.max(), -low.min()))
    reach = float(max(robot.upper.max(), -robot.lower.min()))
    fits = np.all(np.deg2rad(low) >= robot.lower - 0.1) and np.all(np.deg2rad(high) <= robot.upper + 0.1)
    if largest < 2.0 * reach or not fits:
        return None
    return Fault(
        "degrees",
        f"joint angles up to {largest:.0f}: these look like degrees; radians are needed",
        detail={"largest": round(largest, 2)},
    )


@lru_cache(maxsize=8)
def known_orders(robot: Robot) -> dict[str, NDArray[np.intp]]:
    """Orders other tools write: name → for each robot joint, the column of such a file that holds it."""
    other = {
        "breadth-first (Isaac Gym, Isaac Lab)": robot.breadth_first_names,
        "right side before left": tuple(robot.joint_names[index] for index in robot.mirror[0]),
    }
    return {
        label: np.array([names.index(name) for name in robot.joint_names], dtype=np.intp)
        for label, names in other.items()
    }


def _wrong_order(poses: NDArray[np.float32], robot: Robot) -> Fault | None:
    """Would the columns make far more sense in another known order?

    Two signs of sense: joints stay inside their limits, and left and right sides look alike over a
    clip. Over all public G1 clips the right order scores at least 2 times better than a wrong one.
    """
    sample = poses[:: max(1, len(poses) // 200)]
    ranked, edge = np.sort(sample, axis=0), len(sample) // 100
    low, high = ranked[edge], ranked[len(sample) - 1 - edge]
    mean, spread = sample.mean(axis=0), sample.std(axis=0)
    partner, sign = robot.mirror

    def nonsense(order: NDArray[np.intp]) -> float:
        beyond = np.maximum(robot.lower - low[order], 0.0) + np.maximum(high[order] - robot.upper, 0.0)
        ordered_mean, ordered_spread = mean[order], spread[order]
        uneven = np.abs(ordered_mean - sign * ordered_mean[partner]) + np.abs(ordered_spread - ordered_spread[partner])
        return float(beyond.sum() + 3.0 * uneven.mean())

    given = nonsense(np.arange(robot.num_joints))
    best, score = min(
        ((label, nonsense(order)) for label, order in known_orders(robot).items()), key=lambda pair: pair[1]
    )
    if given < 0.5 or score > 0.5 * given:
        return None
    return Fault(
        "joint_order",
        f"the joint columns look out of order; the order that fits: {best}",
        detail={"fits": best, "misfit_as_given": round(given, 2), "misfit_in_that_order": round(score, 2)},
    )
