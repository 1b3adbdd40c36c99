"""Which kind of human motion a file holds, told from its content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.foreign import unpack_npz
from pfmhr.motion.formats import mimickit
from pfmhr.motion.formats.clip import array
from pfmhr.motion.safe_pickle import load_plain
from pfmhr.motion.source import clip_name, load_bytes
from pfmhr.retarget import points, smpl
from pfmhr.retarget.bvh import parse_bvh
from pfmhr.retarget.human import Human
from pfmhr.retarget.humanoid import JOINT_VALUES, humanoid
from pfmhr.retarget.maps import SkeletonMap, find_map

SUFFIXES = (".bvh", ".pkl", ".pickle", ".npz")
"""What a folder is searched for."""
_ROOT_COLUMNS = 6


@dataclass(frozen=True)
class Source:
    """A human motion and which of its joints is which."""

    human: Human
    skeleton: SkeletonMap


def read_human(
    path: str | Path, skeleton: SkeletonMap | None = None, fps: float | None = None, source_fps: float | None = None
) -> Source:
    """Read a BVH file, MimicKit's humanoid, SMPL poses or named joint positions.

    Args:
        skeleton: which joint is which; found by their names unless given.
        fps: read only frames of this rate, where it is a whole share of the file's.
        source_fps: the file's frame rate, if it states none.

    Raises:
        InputError: with the path and the reason; no other exception leaves this function.
    """
    path = Path(path)
    try:
        return _read(path, load_bytes(path), skeleton, fps, source_fps)
    except InputError as error:
        raise error.at(path) from error
    except Exception as error:  # a damaged file can fail in any way at all
        raise InputError(f"damaged content: {error or type(error).__name__}", where=path, code="damaged") from error


def _read(path: Path, data: bytes, skeleton: SkeletonMap | None, fps: float | None, source_fps: float | None) -> Source:
    name, place = clip_name(path), str(path)
    if data[:64].lstrip()[:9].upper() == b"HIERARCHY":
        bvh = parse_bvh(data, fps, keep_first=True)
        skeleton = skeleton or find_map(tuple(joint.name for joint in bvh.joints))
        return Source(bvh.human(skeleton.up, name, place), skeleton)
    content = _unpack(data)
    if isinstance(content, dict):
        if mimickit.matches(content):
            human = _humanoid(content, name, place)
        elif smpl.matches(content):
            human = smpl.read(content, source_fps, name, place)
        elif points.matches(content):
            human = points.read(content, source_fps, name, place)
        else:
            raise _unknown(content)
        return Source(human, skeleton or find_map(human.names))
    raise _unknown(content)


def _unpack(data: bytes) -> Any:
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return unpack_npz(data)
    if data[:1] in (b"\x80", b"\x78"):
        return load_plain(data)
    return None


def _humanoid(content: dict[str, Any], name: str, source: str) -> Human:
    clip = mimickit.read(content)[0]
    frames = array(content, "frames", None, None)
    if frames.shape[1] != _ROOT_COLUMNS + JOINT_VALUES:
        raise InputError(
            "this MimicKit file is not of its humanoid",
            expected=f"{_ROOT_COLUMNS + JOINT_VALUES} columns",
            got=frames.shape[1],
            fix="A robot's own motion needs no retargeting: `pfmhr convert` reads it.",
            code="bad_width",
        )
    assert clip.fps is not None
    root, turn = frames[:, :3], frames[:, 3:_ROOT_COLUMNS]
    return humanoid(root, turn, frames[:, _ROOT_COLUMNS:], clip.fps, name, source, clip.loop)


def _unknown(content: Any) -> InputError:
    found = ", ".join(map(str, list(content)[:12])) if isinstance(content, dict) else "neither BVH, pickle nor npz"
    return InputError(
        "no known kind of human motion",
        expected="BVH, MimicKit's humanoid, SMPL poses, or an npz of positions, names and fps",
        got=found,
        code="unknown_format",
    )
