"""BVH: a skeleton with its channels, then one line of numbers per frame.

Channels are applied in the order in which the file lists them: ``R = R_first · R_second · R_third``, and a joint's
offset comes before its rotation. A position channel replaces the offset; files with such channels for every joint
exist.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.source import load_bytes
from pfmhr.retarget.human import Human
from pfmhr.retarget.rotations import Array, compose

UP = {
    "y": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
}
"""From a file's axes to ours, by the axis that points up there."""
_AXES = "XYZ"
_CHANNEL = re.compile(r"([XYZ])(position|rotation)", re.IGNORECASE)
_HEADER = re.compile(rb"\s*Frames:\s*(\d+)\s*Frame Time:\s*([0-9.eE+-]+)[ \t]*\r?(?:\n|$)")
MOST_JOINTS = 1000
"""More joints than this are in no skeleton."""
_COMMON_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 90.0, 100.0, 120.0, 240.0)
_ROUNDING = 0.005


@dataclass(frozen=True)
class Channel:
    """One number of a joint per frame."""

    axis: int
    turns: bool
    """Whether it is a rotation, in degrees, or a position."""


@dataclass(frozen=True)
class Joint:
    """One joint of a skeleton."""

    name: str
    parent: int
    """−1 for the root."""
    offset: tuple[float, float, float]
    channels: tuple[Channel, ...]


@dataclass(frozen=True, eq=False)
class Bvh:
    """The content of a BVH file."""

    joints: tuple[Joint, ...]
    """Parents before their children."""
    values: NDArray[np.float64]
    """``(T, C)`` the channels of all joints, in that order."""
    fps: float

    def forward(self, values: NDArray[np.float64]) -> tuple[Array, Array]:
        """Places ``(J, 3, T)`` and orientations ``(J, 3, 3, T)`` in the file's axes, for channels ``(T, C)``."""
        columns, frames = np.ascontiguousarray(values.T), len(values)
        places, turns = np.empty((len(self.joints), 3, frames)), np.empty((len(self.joints), 3, 3, frames))
        first = 0
        for index, joint in enumerate(self.joints):
            offset = np.repeat(np.array(joint.offset)[:, None], frames, axis=1)
            turn = np.repeat(np.eye(3)[..., None], frames, axis=2)
            for channel, column in zip(joint.channels, columns[first : first + len(joint.channels)], strict=True):
                if channel.turns:
                    turn = _turn_about(turn, channel.axis, np.radians(column))
                else:
                    offset[channel.axis] = column
            first += len(joint.channels)
            if joint.parent < 0:
                places[index], turns[index] = offset, turn
            else:
                places[index] = places[joint.parent] + np.einsum("ijt,jt->it", turns[joint.parent], offset)
                turns[index] = compose(turns[joint.parent], turn)
        return places, turns

    def human(self, up: str = "y", name: str = "motion", source: str = "") -> Human:
        """The motion with z up; ``up`` is the file's own axis that points there."""
        ours = UP[up]
        places, turns = self.forward(self.values)
        still, _ = self.forward(np.zeros((1, self.values.shape[1])))
        for index, joint in enumerate(
            self.joints
        ):  # at rest a joint is where its offset says, position channels or not
            above = np.zeros(3) if joint.parent < 0 else still[joint.parent, :, 0]
            still[index, :, 0] = above + np.array(joint.offset)
        return Human(
            names=tuple(joint.name for joint in self.joints),
            positions=np.einsum("ik,jkt->tji", ours, places),
            # The frames that joints carry are turned back as well, so that those of the zero pose stay unit matrices.
            rotations=np.einsum("ik,jklt,ml->tjim", ours, turns, ours),
            fps=self.fps,
            zero_positions=still[..., 0] @ ours.T,
            name=name,
            source=source,
        )


def read_bvh(path: Path, fps: float | None = None, keep_first: bool = False) -> Bvh:
    """Read a BVH file.

    Args:
        fps: if given and a whole share of the file's rate, only the frames of this rate are read.
        keep_first: then take frame 0 apart, and every n-th from frame 1 on: it may be a T-pose that was added.

    Raises:
        InputError: naming the file and the line that does not fit.
    """
    path = Path(path)
    try:
        return parse_bvh(load_bytes(path), fps, keep_first)
    except InputError as error:
        raise error.at(path) from error


def parse_bvh(data: bytes, fps: float | None = None, keep_first: bool = False) -> Bvh:
    """The content of a BVH file; arguments as for :func:`read_bvh`."""
    head, found, motion = data.partition(b"MOTION")
    if not head.lstrip()[:9].upper() == b"HIERARCHY":
        raise InputError("not a BVH file", expected="HIERARCHY at its beginning", code="unknown_format")
    if not found:
        raise InputError("there is no MOTION in this BVH file", fix="Download it again.", code="truncated")
    joints = _read_hierarchy(head.decode("utf-8", errors="replace"))
    header = _HEADER.match(motion)
    if header is None:
        what = "the BVH file's motion has no header"
        raise InputError(what, expected="'Frames: N' and 'Frame Time: seconds'", code="damaged")
    frames, rate = int(header[1]), _rate(header[2])
    line = head.count(b"\n") + motion[: header.end()].count(b"\n") + 1
    width = sum(len(joint.channels) for joint in joints)
    stride = _stride(rate, fps)
    values = _read_frames(motion[header.end() :], frames, width, stride, keep_first, line)
    return Bvh(joints, values, rate / stride)


def _rate(text: bytes) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1e-4 < seconds < 10.0:
        got = text.decode(errors="replace")
        raise InputError("impossible frame time", expected="seconds", got=got, code="bad_fps")
    rate = 1.0 / seconds
    near = min(_COMMON_RATES, key=lambda common: abs(common - rate))
    return near if abs(near - rate) < _ROUNDING * near else rate


def _stride(rate: float, fps: float | None) -> int:
    whole = 1 if fps is None else max(1, round(rate / fps))
    return whole if fps is not None and abs(rate / whole - fps) < _ROUNDING * fps else 1


def _read_hierarchy(text: str) -> tuple[Joint, ...]:
    """Joints of the part above MOTION; ends of chains are left out."""
    names: list[str] = []
    parents: list[int] = []
    offsets: list[tuple[float, float, float]] = []
    channels: list[tuple[Channel, ...]] = []
    open_joints: list[int] = []
    """Joints whose brace is open; −1 for the end of a chain."""
    below = -1
    for number, line in enumerate(text.splitlines(), start=1):
        match line.split():
            case ["ROOT" | "JOINT", *words]:
                names.append(" ".join(words) or f"joint {len(names)}")
                parents.append(open_joints[-1] if open_joints else -1)
                offsets.append((0.0, 0.0, 0.0))
                channels.append(())
                below = len(names) - 1
            case ["End", *_]:
                below = -1
            case ["{"]:
                open_joints.append(below)
            case ["}"]:
                if not open_joints:
                    raise InputError(f"line {number}: a brace closes nothing", code="damaged")
                open_joints.pop()
            case ["OFFSET", *words]:
                if open_joints and open_joints[-1] >= 0:
                    offsets[open_joints[-1]] = _offset(words, number)
            case ["CHANNELS", count, *words]:
                if open_joints and open_joints[-1] >= 0:
                    channels[open_joints[-1]] = _channels(count, words, number)
            case ["HIERARCHY"] | []:
                pass
            case words:
                raise InputError(f"line {number} of the skeleton is unknown", got=" ".join(words)[:60], code="damaged")
        if len(names) > MOST_JOINTS:
            raise InputError("too many joints", expected=f"at most {MOST_JOINTS}", code="too_large")
    _require_tree(open_joints, parents)
    return tuple(map(Joint, names, parents, offsets, channels))


def _require_tree(open_joints: list[int], parents: list[int]) -> None:
    if open_joints:
        raise InputError("the skeleton is cut off: braces are open", fix="Download it again.", code="truncated")
    if parents.count(-1) != 1:
        got = f"{parents.count(-1)} roots"
        raise InputError("a BVH file holds one skeleton", expected="one ROOT", got=got, code="several_skeletons")


def _offset(words: list[str], line: int) -> tuple[float, float, float]:
    try:
        x, y, z = map(float, words)
    except ValueError:
        raise InputError(f"line {line}: an offset has 3 numbers", got=" ".join(words)[:60], code="damaged") from None
    return x, y, z


def _channels(count: str, words: list[str], line: int) -> tuple[Channel, ...]:
    found = [_CHANNEL.fullmatch(word) for word in words]
    if not count.isdigit() or len(words) != int(count) or None in found:
        got = " ".join([count, *words])[:80]
        raise InputError(f"line {line}: unknown channels", expected="such as 3 Zrotation …", got=got, code="damaged")
    return tuple(
        Channel(_AXES.index(match[1].upper()), match[2].lower() == "rotation") for match in found if match is not None
    )


def _read_frames(
    text: bytes, frames: int, width: int, stride: int, keep_first: bool, first_line: int
) -> NDArray[np.float64]:
    """Rows of numbers: all, or frame 0 and every ``stride``-th."""
    lines = text.rstrip().split(b"\n")
    there = len(lines) if lines[0].strip() else 0
    if there < frames or not frames:
        fix = "Download it again."
        raise InputError("frames are missing", expected=max(frames, 1), got=there, fix=fix, code="truncated")
    if there > frames:
        raise InputError("more lines than frames", expected=frames, got=there, code="damaged")
    chosen = list(range(0, frames, stride))
    if keep_first and stride > 1:
        chosen = [0, *range(1, frames, stride)]
    text = b"\n".join([lines[index] for index in chosen])
    try:
        values = np.loadtxt(io.BytesIO(text), dtype=np.float64, ndmin=2, comments=None)
    except ValueError as error:
        raise _locate(lines, width, first_line, error) from None
    if values.shape != (len(chosen), width):
        raise _locate(lines, width, first_line, None)
    return values


def _locate(lines: list[bytes], width: int, first_line: int, error: Exception | None) -> InputError:
    """Name the first line that is not ``width`` numbers."""
    for number, line in enumerate(lines, start=first_line):
        count = len(line.split())
        if count != width:
            last = number == first_line + len(lines) - 1
            what = f"line {number} has a different number of channels" + (
                " (the last line: truncated?)" if last else ""
            )
            code, fix = ("truncated", "Download it again.") if last else ("damaged", None)
            return InputError(what, expected=width, got=count, fix=fix, code=code)
    return InputError(f"not a table of numbers: {error}", code="not_a_number")


def _turn_about(turn: Array, axis: int, angle: Array) -> Array:
    """``turn · R(axis, angle)``: two columns of ``turn`` mixed."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    cosine, sine = np.cos(angle), np.sin(angle)
    out = turn.copy()
    out[:, a] = cosine * turn[:, a] + sine * turn[:, b]
    out[:, b] = cosine * turn[:, b] - sine * turn[:, a]
    return out
