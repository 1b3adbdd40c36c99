"""The npz of BeyondMimic, mjlab and holosoma: joint and body trajectories, names or none.

mjlab and BeyondMimic write no names. holosoma names joints and bodies, lists every body of its scene, the world, fixed
links and an object among them, and puts the root's seven numbers before the joints: MuJoCo's qpos. Joints and bodies
are taken by name where there are names, and by the documented order and number where there are none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr import spatial
from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.motion.formats.bodies import find_bodies
from pfmhr.motion.formats.breadth_first import in_known_order
from pfmhr.motion.formats.clip import Clip, array, known_frames, names, rate
from pfmhr.motion.formats.scalar_last import root_in_wxyz
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot, body_poses

ROOT_COLUMNS = 7
ROOT_VELOCITIES = 6
SMALLEST_NORM = 1e-12
"""A quaternion shorter than this turns nothing."""
ROOT_TOLERANCE = 0.005
"""The root may differ by so many m and rad where a file holds it twice: rounding, not another pose."""


def matches(content: dict[str, Any]) -> bool:
    """Is the content in this format?"""
    return {"joint_pos", "body_pos_w", "body_quat_w"} <= content.keys()


def read(content: dict[str, Any], robot: Robot, check_order: bool = True) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    table = array(content, "joint_pos", None, None)
    positions = array(content, "body_pos_w", len(table), None, 3)
    quaternions = array(content, "body_quat_w", len(table), positions.shape[1], 4)
    bodies = find_bodies(content, positions, robot)
    named = names(content) if "joint_names" in content else None
    root, joints = _split(content, table, _count(table, named, robot))
    root_quat, turned = root_in_wxyz(positions, quaternions, bodies, robot)
    clip = Clip(
        format="mjlab",
        joint_pos=joints,
        root_pos=positions[:, bodies.root],
        root_quat=root_quat,
        joint_names=named,
        fps=rate(content) if "fps" in content else None,
        notes=(*bodies.notes, *turned, *_ignored_object(content)),
    )
    _require_same_root(root, clip)
    if check_order and named is None and joints.shape[1] == robot.num_joints and len(joints):
        clip = in_known_order(clip, positions, bodies, robot)
    return [clip]


def _count(table: NDArray[Any], named: tuple[str, ...] | None, robot: Robot) -> int:
    """How many joints the file has."""
    if named is not None:
        return len(named)
    width = table.shape[1]
    return robot.num_joints if width == ROOT_COLUMNS + robot.num_joints else width


def _split(content: dict[str, Any], table: NDArray[Any], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The root's columns (T, 7), or (T, 0) where there are none, and the joints' (T, count)."""
    extra = table.shape[1] - count
    if extra not in (0, ROOT_COLUMNS):
        raise InputError(
            "joint_pos has the wrong number of columns",
            expected=f"{count} joints, or {count + ROOT_COLUMNS} columns with the root's before them",
            got=table.shape[1],
            code="bad_width",
        )
    if "joint_vel" in content:
        shape, frames = np.shape(content["joint_vel"]), len(table)
        widths = (count, count + ROOT_VELOCITIES)
        if shape not in [(frames, width) for width in widths]:
            expected = f"({frames}, {widths[0]}), or ({frames}, {widths[1]}) with the root's velocities"
            raise InputError("joint_vel does not fit joint_pos", expected=expected, got=shape, code="bad_shape")
    return table[:, :extra], table[:, extra:]


def _ignored_object(content: dict[str, Any]) -> tuple[str, ...]:
    return ("ignored the motion of an object",) if "object_pos_w" in content else ()


def _require_same_root(root: NDArray[np.float64], clip: Clip) -> None:
    """The root's columns before the joints say what the root among the bodies says.

    Args: root: (T, 7) position and wxyz quaternion, or (T, 0).
    """
    if not root.size:
        return
    known = known_frames(root, clip.root_pos, clip.root_quat)
    known &= root[:, 3:].any(axis=1) & clip.root_quat.any(axis=1)
    away = np.linalg.norm(root[known, :3] - clip.root_pos[known], axis=1)
    norms = np.linalg.norm(root[known, 3:], axis=1) * np.linalg.norm(clip.root_quat[known], axis=1)
    cosine = np.abs((root[known, 3:] * clip.root_quat[known]).sum(axis=1)) / np.maximum(norms, SMALLEST_NORM)
    turned = 2 * np.arccos(np.minimum(cosine, 1.0))
    if max(away.max(initial=0.0), turned.max(initial=0.0)) > ROOT_TOLERANCE:
        raise InputError(
            "the root's columns in joint_pos contradict the root in body_pos_w and body_quat_w",
            expected="position and wxyz quaternion of the root, then the joints",
            got=f"up to {away.max():.3f} m and {np.rad2deg(turned.max()):.1f}° apart",
            fix="Convert the motion again.",
            code="damaged",
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

    def rotations(index: NDArray[np.intp]) -> spatial.Rotation:
        return spatial.Rotation.from_quat(quaternions[index].reshape(-1, 4).astype(np.float64), scalar_first=True)

    turn = (rotations(after) * rotations(before).inv()).as_rotvec().reshape(frames, bodies, 3)
    return (turn * (fps / np.maximum(after - before, 1))[:, None, None]).astype(np.float32)
