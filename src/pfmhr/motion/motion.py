"""A motion: joint angles and root pose over time, in one robot's joint order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfmhr import spatial
from pfmhr.errors import InputError
from pfmhr.motion.frame_rate import require_rate
from pfmhr.robots import Robot

if TYPE_CHECKING:
    from pfmhr.motion.formats import Format


@dataclass(frozen=True, eq=False)
class Motion:
    """T frames of a robot, J joints. Arrays are float32 and hold what the file says, unrepaired."""

    joint_pos: NDArray[np.float32]
    """(T, J) joint angles in rad, in the robot's joint order."""
    fps: float
    """Frames per second."""
    root_pos: NDArray[np.float32]
    """(T, 3) root position in m, z up."""
    root_quat: NDArray[np.float32]
    """(T, 4) root orientation, wxyz."""
    joint_names: tuple[str, ...]
    robot: str = "g1"
    """Name of the robot."""
    loop: bool = False
    """Whether the last frame leads into the first (a cycle), as MimicKit's wrap mode."""
    name: str = "motion"
    source: str = ""
    """The file this was read from, empty if made in memory."""
    notes: tuple[str, ...] = field(default=())
    """What the reader had to decide: filled joints, an assumed frame rate."""

    def __post_init__(self) -> None:
        frames, joints = _shape_of(self.joint_pos, "joint_pos")
        for name, width in (("root_pos", 3), ("root_quat", 4)):
            shape = np.shape(getattr(self, name))
            if shape != (frames, width):
                raise InputError(f"{name} has the wrong shape", expected=(frames, width), got=shape, code="bad_shape")
        if joints != len(self.joint_names):
            raise InputError(
                "joint_pos and joint_names differ",
                expected=f"{len(self.joint_names)} columns",
                got=joints,
                code="bad_shape",
            )
        require_rate(self.fps)
        with np.errstate(over="ignore"):  # becomes infinite, which checks name
            for name in ("joint_pos", "root_pos", "root_quat"):
                object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float32))

    @staticmethod
    def from_arrays(
        robot: Robot,
        joint_pos: ArrayLike,
        fps: float,
        root_pos: ArrayLike | None = None,
        root_quat: ArrayLike | None = None,
        **about: Any,
    ) -> Motion:
        """A motion from arrays in the robot's joint order; without a root it stands upright in place."""
        poses = np.asarray(joint_pos, dtype=np.float32)
        frames, _ = _shape_of(poses, "joint_pos")
        if root_pos is None:
            root_pos = np.tile([0.0, 0.0, robot.default_root_height], (frames, 1))
        if root_quat is None:
            root_quat = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
        return Motion(
            poses, float(fps), np.asarray(root_pos), np.asarray(root_quat), robot.joint_names, robot.name, **about
        )

    @staticmethod
    def read(
        path: str | Path,
        robot: Robot,
        fps: float | None = None,
        format: Format | None = None,
        clip: str | None = None,
        joint_order: Sequence[str] | None = None,
        fill_missing: bool = False,
        to_origin: bool = False,
    ) -> Motion:
        """Read one motion from a file; the format is recognised from the content, or named.

        Args:
            fps: frame rate, needed for csv files (they hold none); must agree with a file that has one.
            format: one of ours by name, or your own as ``package.module:Class``.
            clip: which clip, for files that hold several.
            joint_order: the file's joint order, if it names none and does not use the format's own.
            fill_missing: set joints the file lacks (23-joint G1 files) to the robot's default pose.
            to_origin: let the clip start above the origin, for files with coordinates of a map.
        """
        from pfmhr.motion.reading import ReadOptions, read_motions

        order = tuple(joint_order) if joint_order else None
        options = ReadOptions(robot, fps, format, order, fill_missing, to_origin=to_origin)
        motions = read_motions(Path(path), options)
        if clip is not None:
            motions = [motion for motion in motions if motion.name == clip] or _no_clip(path, clip, motions)
        if len(motions) != 1:
            raise InputError(
                f"{len(motions)} clips in one file",
                where=path,
                fix=f"Name one with clip=: {', '.join(motion.name for motion in motions[:20])}.",
                code="several_clips",
            )
        return motions[0]

    def write(self, path: str | Path, robot: Robot | None = None, format: Format | None = None) -> None:
        """Write to ``path``: ours (.npz), Unitree csv (.csv) or MimicKit (.pkl); ``format="mjlab"`` by name."""
        from pfmhr.motion.formats import write_motion

        write_motion(self, Path(path), robot, format)

    @property
    def num_frames(self) -> int:
        """T."""
        return len(self.joint_pos)

    @property
    def duration(self) -> float:
        """Time from the first frame to the last, in s."""
        return (self.num_frames - 1) / self.fps

    def root_rotations(self) -> spatial.Rotation:
        """The root's orientation per frame as rotations, normalised."""
        where, what = self.source or self.name or None, "the root has no orientation in frame"
        broken, zero = ~np.isfinite(self.root_quat).all(axis=1), ~self.root_quat.any(axis=1)
        if broken.any():
            raise InputError(f"{what} {broken.argmax()}", where=where, got="NaN or infinity", code="not_finite")
        if zero.any():
            raise InputError(f"{what} {zero.argmax()}", where=where, got="zeros", code="quaternion_norm")
        return spatial.Rotation.from_quat(self.root_quat.astype(np.float64), scalar_first=True)

    def resample(self, fps: float) -> Motion:
        """The same movement at another frame rate: see :func:`pfmhr.motion.resampling.resample`."""
        from pfmhr.motion.resampling import resample

        return resample(self, fps)

    def frames(self, start: int, stop: int) -> Motion:
        """Frames ``start`` to ``stop`` (exclusive); a cut clip is no cycle any more."""
        whole = (start, stop) == (0, self.num_frames)
        return replace(
            self,
            joint_pos=self.joint_pos[start:stop],
            root_pos=self.root_pos[start:stop],
            root_quat=self.root_quat[start:stop],
            loop=self.loop and whole,
        )


def _shape_of(joint_pos: Any, name: str) -> tuple[int, int]:
    shape = np.shape(joint_pos)
    if len(shape) != 2:
        raise InputError(f"{name} has the wrong shape", expected="(frames, joints)", got=shape, code="bad_shape")
    return shape[0], shape[1]


def _no_clip(path: object, clip: str, motions: list[Motion]) -> list[Motion]:
    names = ", ".join(motion.name for motion in motions[:20])
    raise InputError(f"no clip '{clip}'", where=path, fix=f"Available: {names}.", code="unknown_name")
