"""The way from a file to motions: bytes, container, format, joint columns, frame rate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.foreign import MAX_FILE_BYTES
from pfmhr.motion.formats import Clip, Format, read_clips
from pfmhr.motion.formats.spherical import to_hinges
from pfmhr.motion.frame_rate import FOLDER_FILE, require_rate, stated_nearby
from pfmhr.motion.motion import Motion
from pfmhr.motion.source import clip_name, load_bytes
from pfmhr.robots import Robot

USUAL_CSV_FPS = 30.0
"""What checks assume for a csv whose frame rate nobody stated; LAFAN1's rate."""
ASSUMED = f"frame rate not in the file: {USUAL_CSV_FPS:g} Hz assumed"
"""The note of such a file."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; see :meth:`pfmhr.motion.Motion.read`."""

    robot: Robot
    fps: float | None = None
    format: Format | None = None
    joint_order: tuple[str, ...] | None = None
    fill_missing: bool = False
    csv_fps: float | None = None
    """Frame rate of those files that state none, for reading many at once: others keep their own."""
    assume_fps: bool = False
    """Read a file without any stated frame rate at 30 Hz, with a note, instead of refusing it. For checks
    and corpora, where time does not enter the result."""
    max_bytes: int = MAX_FILE_BYTES
    to_origin: bool = False
    """Let clips start above the origin: their start is subtracted in double precision, before anything is rounded."""


def read_motions(path: Path, options: ReadOptions) -> list[Motion]:
    """All motions of a file, in the robot's joint order.

    Raises:
        InputError: with the path and the reason; no other exception leaves this function.
    """
    path = Path(path)
    try:
        data = load_bytes(path, options.max_bytes)
        clips = read_clips(data, options.format, options.robot, options.joint_order is None, options.max_bytes)
        return [_assemble(clip, path, options) for clip in clips]
    except InputError as error:
        raise error.at(path) from error
    except Exception as error:  # a damaged file can fail in any way at all
        raise InputError(f"damaged content: {error or type(error).__name__}", where=path, code="damaged") from error


def _assemble(clip: Clip, path: Path, options: ReadOptions) -> Motion:
    joints, notes = _in_robot_order(clip, options)
    fps, fps_note = _frame_rate(clip, path, options)
    frames = len(joints)
    for part, what in ((clip.root_pos, "root positions"), (clip.root_quat, "root orientations")):
        if len(part) != frames:
            raise InputError(f"joints and {what} differ in length", expected=frames, got=len(part), code="bad_shape")
    root_pos, moved = _to_origin(clip.root_pos) if options.to_origin else (clip.root_pos, ())
    return Motion(
        joint_pos=joints,
        fps=fps,
        root_pos=root_pos,
        root_quat=clip.root_quat,
        joint_names=options.robot.joint_names,
        robot=options.robot.name,
        loop=clip.loop,
        name=clip.name or clip_name(path),
        source=str(path),
        notes=(*clip.notes, *notes, *fps_note, *moved),
    )


def _to_origin(root_pos: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Root positions (T, 3) from above the origin on, and what was done."""
    start = np.asarray(root_pos[:1, :2], dtype=np.float64)
    if not start.size or not np.isfinite(start).all():
        raise InputError("the clip has no start to move to the origin", got=start.tolist(), code="not_finite")
    x, y = start[0]
    relative = np.asarray(root_pos, dtype=np.float64) - [x, y, 0.0]
    return relative, (f"moved its start from ({x:.10g}, {y:.10g}) m to the origin",)


def _in_robot_order(clip: Clip, options: ReadOptions) -> tuple[NDArray[np.floating], tuple[str, ...]]:
    """Put the columns into the robot's order: by name if there are names, else by the stated order."""
    robot, joints = options.robot, clip.joint_pos
    if clip.format == "mimickit" and joints.shape[1:] == (robot.num_joints,):
        joints = to_hinges(robot, joints)
    if joints.ndim != 2:
        raise InputError(
            "joint angles are not a table", expected="(frames, joints)", got=joints.shape, code="bad_shape"
        )
    names = clip.joint_names or options.joint_order or _documented_order(robot, joints.shape[1], clip.format)
    names = tuple(_plain_name(name, robot) for name in names)
    if len(names) != joints.shape[1]:
        raise InputError("joint names and columns differ", expected=len(names), got=joints.shape[1], code="bad_width")
    if len(set(names)) != len(names):
        raise InputError("a joint name occurs twice", got=", ".join(names), code="bad_names")
    target = robot.joint_indices(names)
    if target == list(range(robot.num_joints)):
        return joints, ()
    if len(names) == robot.num_joints:
        ordered = np.empty_like(joints)
        ordered[:, target] = joints
        return ordered, ()
    missing = [name for name in robot.joint_names if name not in names]
    if not options.fill_missing:
        raise InputError(
            f"{len(missing)} joints of robot '{robot.name}' are missing: {', '.join(missing)}",
            expected=f"{robot.num_joints} joints",
            got=len(names),
            fix="Pass fill_missing=True (--fill-missing) to set them to the default pose.",
            code="missing_joints",
        )
    ordered = np.tile(robot.default_pose.astype(joints.dtype), (len(joints), 1))
    ordered[:, target] = joints
    return ordered, (f"filled {len(missing)} missing joints with the default pose: {', '.join(missing)}",)


def _documented_order(robot: Robot, width: int, format: Format) -> tuple[str, ...]:
    """Nameless files use the robot's own order, with or without the joints that may be left out."""
    if width == robot.num_joints:
        return robot.joint_names
    fewer = tuple(name for name in robot.joint_names if name not in robot.roles.optional_joints)
    if width == len(fewer):
        return fewer
    doubled = format == "unitree_csv" and width + 7 == 2 * (7 + robot.num_joints)
    hint = "Decimal commas? Save it with points." if doubled else "Is this a file for another robot?"
    raise InputError(
        f"wrong number of joint columns for robot '{robot.name}' in a {format} file",
        expected=robot.num_joints,
        got=width,
        fix=hint,
        code="bad_width",
    )


def _plain_name(name: str, robot: Robot) -> str:
    """Accept the common spellings of a joint: with or without the suffixes _joint, _dof, _pos."""
    known = robot.joint_names
    bare = name.removesuffix("_dof").removesuffix("_pos")
    return next((spelling for spelling in (name, bare, f"{bare}_joint") if spelling in known), name)


def _frame_rate(clip: Clip, path: Path, options: ReadOptions) -> tuple[float, tuple[str, ...]]:
    stated = options.csv_fps if options.fps is None else options.fps
    if stated is not None:
        require_rate(stated)
    if clip.fps is not None:
        # Files store rates as integers or with rounding; 1 % tells rounding from a wrong rate.
        if options.fps is not None and abs(options.fps - clip.fps) > 0.01 * clip.fps:
            raise InputError(
                "the file states another frame rate",
                expected=f"{options.fps:g} Hz",
                got=f"{clip.fps:g} Hz in the file",
                fix="Omit fps, or use --to-fps to resample.",
                code="fps_conflict",
            )
        return float(clip.fps), ()
    if stated is not None:
        return float(stated), ()
    if nearby := stated_nearby(path):
        return nearby[0], (f"frame rate {nearby[0]:g} Hz taken from the {nearby[1]}",)
    if options.assume_fps:
        return USUAL_CSV_FPS, (ASSUMED,)
    raise InputError(
        "the file holds no frame rate",
        where=path,
        fix=f"State it with fps= (--fps), or write `fps = 30` into a {FOLDER_FILE} beside it.",
        code="no_fps",
    )
