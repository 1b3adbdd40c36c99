"""Checks on the root: quaternion norm and order, units, jumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pfmhr.motion.checks.report import Fault, Severity
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

FAR = 1000.0
"""m from the origin: float32 rounds to less than a tenth of a millimetre up to here, and no clip leads further."""
SUNK = -0.05
"""m: a root lower than this lies in the floor. Robots that lie on it have theirs above 0."""


def check_root(motion: Motion, robot: Robot, quaternion_tolerance: float, jump_speed: float) -> list[Fault]:
    """Faults of the root trajectory of a finite motion of at least 2 frames."""
    faults = _quaternion(motion.root_quat, quaternion_tolerance) + check_place(motion, robot)
    if any(fault.code == "centimetres" for fault in faults):
        return faults
    step = _lengths(np.diff(motion.root_pos, axis=0))
    fastest = float(step.max()) * motion.fps
    if fastest > jump_speed:
        frame = int(step.argmax())
        message = f"the root jumps {step[frame]:.2f} m after frame {frame} ({fastest:.0f} m/s)"
        faults.append(Fault("root_jump", message, detail={"frame": frame, "speed": round(fastest, 1)}))
    return faults


def check_place(motion: Motion, robot: Robot) -> list[Fault]:
    """Is the root where a robot can be: near the origin, above the floor, and not in the air throughout?"""
    heights = motion.root_pos[:, 2]
    middle, lowest = float(np.median(heights)), float(heights.min())
    away = float(np.abs(motion.root_pos[:, :2]).max())
    faults = []
    if away > FAR:
        message = f"the root is {away:,.0f} m from the origin: `pfmhr convert --to-origin` moves its start there"
        faults.append(Fault("far_away", message, detail={"distance": round(away, 1)}))
    if not robot.floating_base:
        return faults
    highest = 1.5 * max(robot.default_root_height, 0.0) + 0.1
    if 10.0 < abs(middle) < FAR:
        message = f"root height {middle:.0f}: these look like centimetres; metres are needed"
        faults.append(Fault("centimetres", message, detail={"height": round(middle, 2)}))
    elif middle < 0.0:
        message = f"the root is under the floor, at {middle:,.2f} m: is the floor at height 0, and z up?"
        faults.append(Fault("under_floor", message, detail={"height": round(middle, 2)}))
    elif lowest < SUNK:
        share = float((heights < SUNK).mean())
        message = f"the root sinks into the floor, to {lowest:.2f} m, in {100 * share:.0f} % of the frames"
        faults.append(Fault("under_floor", message, Severity.WARNING, {"height": round(lowest, 2)}))
    elif lowest > highest:
        message = f"in the air throughout: the root is never lower than {lowest:,.2f} m"
        faults.append(Fault("in_the_air", message, detail={"height": round(lowest, 2), "highest": round(highest, 2)}))
    return faults


def _quaternion(quaternions: NDArray[np.float32], tolerance: float) -> list[Fault]:
    norms = _lengths(quaternions)
    error = float(np.abs(norms - 1.0).max())
    if error > 0.2:
        message = f"root quaternions have norms from {norms.min():.2f} to {norms.max():.2f}: not rotations"
        return [Fault("quaternion_norm", message, detail={"error": round(error, 4)})]
    faults = []
    quaternions = quaternions[:: max(1, len(quaternions) // 400)]
    if error > tolerance:
        message = f"root quaternion norms are off by up to {100 * error:.1f} %"
        faults.append(Fault("quaternion_norm", message, Severity.WARNING, {"error": round(error, 4)}))
    return faults + _quaternion_order(quaternions)


def _quaternion_order(quaternions: NDArray[np.float32]) -> list[Fault]:
    """Robots are upright most of the time. If only another component order says so, suspect it.

    A clip that never turns stays upright in either order; there, an exact half turn at the start
    is the sign: (0, 0, 0, 1) read as wxyz.
    """
    given = _uprightness(quaternions)
    orders = {"xyzw for wxyz": [3, 0, 1, 2], "wxyz for xyzw": [1, 2, 3, 0]}  # what the file has for what was read
    upright = {name: _uprightness(quaternions[:, order]) for name, order in orders.items()}
    mistaken = max(upright, key=lambda name: upright[name])
    other = upright[mistaken]
    half_turn = np.median(np.abs(quaternions[:, 3])) > 0.99 and np.abs(quaternions[0, 3]) > 0.999
    if given < 0.3 and other > given + 0.5:
        message = f"the root lies down (up axis {given:.2f}) but stands in another order ({other:.2f}): {mistaken}?"
        return [
            Fault("quaternion_order", message, detail={"upright": round(given, 3), "upright_other": round(other, 3)})
        ]
    if half_turn and upright["xyzw for wxyz"] > 0.8:
        message = "the root faces exactly backwards throughout: xyzw for wxyz?"
        return [Fault("quaternion_order", message, Severity.WARNING, {"upright": round(given, 3)})]
    return []


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Euclidean norm of each row, column by column: rows are too short for numpy's reductions."""
    return np.sqrt(sum(np.square(vectors[:, column]) for column in range(vectors.shape[1])))


def _uprightness(wxyz: NDArray[np.float32]) -> float:
    """Median z component of the root's up axis: 1 upright, 0 lying."""
    squared = np.square(wxyz.astype(np.float64))
    return float(np.median(1.0 - 2.0 * (squared[:, 1] + squared[:, 2]) / np.maximum(squared.sum(axis=1), 1e-12)))
