"""``pfmhr convert``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from pfmhr.cli.console import print_json, remark, say
from pfmhr.cli.options import refuse_replacing
from pfmhr.cli.values import Flat
from pfmhr.extension import OWN
from pfmhr.motion import Motion
from pfmhr.motion.checks import CheckConfig, check_motion
from pfmhr.motion.formats.catalogue import FORMATS, WRITTEN
from pfmhr.motion.repair import clip_limits as clip_to_limits
from pfmhr.motion.repair import drop_jumps as cut_at_jumps
from pfmhr.motion.repair import trim as trim_to
from pfmhr.motion.resampling import require_kept_duration
from pfmhr.robots import Robot

if TYPE_CHECKING:
    ReadFormat = WrittenFormat = str | None
else:  # the words for completion and help are those of the table
    ReadFormat = Annotated[Literal[tuple(FORMATS)] | str | None, tyro.conf.arg(metavar="|".join((*FORMATS, OWN)))]
    WrittenFormat = Annotated[Literal[WRITTEN] | str | None, tyro.conf.arg(metavar="|".join((*WRITTEN, OWN)))]


@dataclass(frozen=True)
class Reading:
    """How the file is read."""

    format: ReadFormat = None
    """Format to read; default: what the content shows."""
    fps: float | None = None
    """Frame rate of a csv that states none; default: it is refused."""
    clip: str | None = None
    """Which clip, for files that hold several; default: the only one."""
    joint_order: Literal["robot", "breadth_first"] = "robot"
    """Order of a nameless file's joints: the robot's own, or Isaac's breadth-first."""
    fill_missing: bool = False
    """Set joints the file lacks to the default pose."""
    to_origin: bool = False
    """Let the clip start above the origin, for files with coordinates of a map."""

    def read(self, source: Path, robot: Robot) -> Motion:
        """The motion of the file."""
        order = robot.breadth_first_names if self.joint_order == "breadth_first" else None
        return Motion.read(
            source,
            robot,
            fps=self.fps,
            format=self.format,
            clip=self.clip,
            joint_order=order,
            fill_missing=self.fill_missing,
            to_origin=self.to_origin,
        )


@dataclass(frozen=True)
class Repairs:
    """What is changed in the motion."""

    clip_limits: bool = False
    """Move joints outside their limits onto them."""
    drop_jumps: bool = False
    """Keep the longest stretch without a single-frame jump."""
    trim: tuple[float, float] | None = None
    """Keep the time from START to STOP, in s; default: all."""

    def apply(self, motion: Motion, robot: Robot) -> tuple[Motion, list[str]]:
        """The repaired motion, and a sentence per repair."""
        told = []
        if self.trim is not None:
            motion, sentence = trim_to(motion, *self.trim)
            told.append(sentence)
        if self.drop_jumps:
            motion, sentence = cut_at_jumps(motion, CheckConfig().jump_speed)
            told.append(sentence)
        if self.clip_limits:
            motion, sentence = clip_to_limits(motion, robot)
            told.append(sentence)
        return motion, told


def convert(
    source: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="IN")],
    target: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT")],
    /,
    to: WrittenFormat = None,
    to_fps: float | None = None,
    robot: str = "g1",
    reading: Flat[Reading] = Reading(),  # noqa: B008
    repairs: Flat[Repairs] = Repairs(),  # noqa: B008
    json: bool = False,
) -> int:
    """Convert a motion file to another format, truly resampled if asked.

    The format read is recognised from the content; the one written follows from the file name
    (.npz ours, .csv Unitree, .pkl MimicKit) or --to. Repairs happen only when named here.

    Examples:
        pfmhr convert walk.csv walk.npz --fps 30
        pfmhr convert walk.csv walk_50hz.npz --fps 30 --to mjlab --to-fps 50
        pfmhr convert vault.pkl vault.npz --clip-limits

    Args:
        source: the file to read.
        target: the file to write.
        to: format to write; default: what the name of OUT says.
        to_fps: resample to this frame rate: joints and root position linear, orientation slerp; default: no change.
        robot: a robot's name or the path of its MJCF.
        json: print one JSON object.
    """
    refuse_replacing([target], [source, robot])
    machine = Robot.load(robot)
    motion = reading.read(source, machine)
    notes = motion.notes
    motion, told = repairs.apply(motion, machine)
    said = [*notes, *told]
    faults = check_motion(motion, machine)
    for sentence in (*said, *(f"{fault.severity.value}: {fault.message}" for fault in faults)):
        remark(sentence)
    if to_fps is not None:
        require_kept_duration(motion, to_fps)
        motion = motion.resample(to_fps)
    motion.write(target, machine, to)
    if json:
        about = {"path": str(target), "frames": motion.num_frames, "fps": motion.fps, "seconds": motion.duration}
        print_json({**about, "notes": said, "faults": [fault.code for fault in faults]})
        return 0
    say(f"{target}: {motion.num_frames} frames at {motion.fps:g} Hz, {motion.duration:.2f} s")
    return 0
