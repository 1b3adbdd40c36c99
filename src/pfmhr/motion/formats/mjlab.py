"""BeyondMimic's and mjlab's npz: joint and body trajectories, quaternions wxyz, no joint names.

The loaders of those projects index bodies by position, so a file made in Isaac (breadth-first
order) loads without complaint and trains on the wrong bodies. The body positions in the file let
us notice: they must be where the joint angles put them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.motion.formats.clip import Clip, array, names, rate
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot, body_poses

BODY_TOLERANCE = 0.08
"""Mean distance in m that still counts as the same pose; published G1 models differ by less."""
BROKEN = 1e9
"""rad or m: no body is here, and single precision would end."""


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return {"joint_pos", "fps", "body_pos_w", "body_quat_w"} <= content.keys()


def read(content: dict[str, Any], robot: Robot, check_order: bool = True) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    joints = array(content, "joint_pos", None, None)
    positions = array(content, "body_pos_w", len(joints), None, 3)
    quaternions = array(content, "body_quat_w", len(joints), positions.shape[1], 4)
    root = _root_index(positions, robot)
    clip = Clip(
        format="mjlab",
        joint_pos=joints,
        root_pos=positions[:, root],
        root_quat=quaternions[:, root],
        joint_names=names(content) if "joint_names" in content else None,
        fps=rate(content),
    )
    if check_order and clip.joint_names is None and joints.shape[1] == robot.num_joints and len(joints):
        _refuse_breadth_first(clip, positions[:, root:], robot)
    return [clip]


def _root_index(positions: NDArray[Any], robot: Robot) -> int:
    """0, or 1 where the file counts MuJoCo's world body as well."""
    bodies = len(robot.body_names)
    count = positions.shape[1]
    if count == bodies:
        return 0
    if count == bodies + 1 and not positions[:, 0].any():
        return 1
    raise InputError(
        f"wrong number of bodies for robot '{robot.name}'",
        expected=f"{bodies}, or {bodies + 1} with the world body at the origin first",
        got=count,
        code="bad_width",
    )


def _refuse_breadth_first(clip: Clip, positions: NDArray[Any], robot: Robot) -> None:
    frames = np.unique(np.linspace(0, len(clip.joint_pos) - 1, 5).astype(int))
    given = (clip.joint_pos[frames], positions[frames], clip.root_quat[frames])
    if not all((np.abs(part) < BROKEN).all() for part in given):  # nor NaN: that is for the checks to say
        return
    spread = np.sort(positions[frames], axis=1)  # order of bodies does not matter here

    def distance(joint_pos: NDArray[Any]) -> float:
        placed, _ = body_poses(robot, clip.root_pos[frames], clip.root_quat[frames], joint_pos[frames])
        return float(np.abs(np.sort(placed, axis=1) - spread).mean())

    from_breadth_first = robot.joint_indices(robot.breadth_first_names)
    reordered = np.empty_like(clip.joint_pos)
    reordered[:, from_breadth_first] = clip.joint_pos
    as_given, as_isaac = distance(clip.joint_pos), distance(reordered)
    if as_isaac < min(BODY_TOLERANCE, 0.5 * as_given) and as_given > 0.01:
        raise InputError(
            "the joints are in Isaac's breadth-first order, not MuJoCo's depth-first order",
            expected="bodies where the joint angles put them",
            got=f"{100 * as_given:.1f} cm off as given, {100 * as_isaac:.1f} cm off in breadth-first order",
            fix="Pass joint_order=robot.breadth_first_names (--joint-order breadth_first).",
            code="joint_order",
        )


def write(motion: Motion, path: Path, robot: Robot) -> None:
    """All 30 bodies by MuJoCo kinematics; velocities by central differences at the motion's rate."""
    quaternion = motion.root_rotations().as_quat(scalar_first=True)
    broken = ~(np.isfinite(motion.joint_pos).all(axis=1) & np.isfinite(motion.root_pos).all(axis=1))
    if broken.any():
        what = f"bodies cannot be placed in frame {int(broken.argmax())}"
        raise InputError(what, where=motion.source or motion.name, got="NaN or infinity", code="not_finite")
    positions, quaternions = body_poses(robot, motion.root_pos, quaternion, motion.joint_pos)
    content = {
        "fps": np.array([motion.fps]),
        "joint_pos": motion.joint_pos,
        "joint_vel": _rate_of_change(motion.joint_pos, motion.fps),
        "body_pos_w": positions,
        "body_quat_w": quaternions,
        "body_lin_vel_w": _rate_of_change(positions, motion.fps),
        "body_ang_vel_w": _angular_velocity(quaternions, motion.fps),
        "joint_names": np.array(motion.joint_names),
        "body_names": np.array(robot.body_names),
    }
    write_atomically(path, lambda handle: np.savez(handle, **content))


def _rate_of_change(values: NDArray[np.float32], fps: float) -> NDArray[np.float32]:
    if len(values) < 2:
        return np.zeros_like(values)
    return np.gradient(values, 1.0 / fps, axis=0).astype(np.float32)


def _angular_velocity(quaternions: NDArray[np.float32], fps: float) -> NDArray[np.float32]:
    """World-frame angular velocity (T, B, 3) from the turn between the neighbouring frames."""
    frames, bodies, _ = quaternions.shape
    before, after = np.maximum(np.arange(frames) - 1, 0), np.minimum(np.arange(frames) + 1, frames - 1)

    def rotations(index: NDArray[np.intp]) -> Rotation:
        return Rotation.from_quat(quaternions[index].reshape(-1, 4).astype(np.float64), scalar_first=True)

    turn = (rotations(after) * rotations(before).inv()).as_rotvec().reshape(frames, bodies, 3)
    return (turn * (fps / np.maximum(after - before, 1))[:, None, None]).astype(np.float32)
