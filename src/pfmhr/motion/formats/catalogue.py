"""The motion formats there are, one row each; which one a file is in is told from its content, never from its name.

A new one of ours is a module and a row. One of a user's own is named as ``package.module:Class``; see
:func:`format_row`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfmhr.errors import InputError, unknown_name
from pfmhr.extension import OWN, is_own, resolve
from pfmhr.foreign import MAX_FILE_BYTES, unpack_npz
from pfmhr.motion.formats import asap, bones_seed, gmr, mimickit, mjlab, native, qpos, unitree_csv
from pfmhr.motion.formats.clip import Clip, Format
from pfmhr.motion.safe_pickle import load_plain
from pfmhr.robots import Robot

if TYPE_CHECKING:
    from pfmhr.motion.motion import Motion

Read = Callable[[Any, Robot, bool], Iterable[Clip]]
"""Content, robot, and whether the order of nameless joints is looked for → clips."""


@dataclass(frozen=True)
class MotionFormat:
    """One row."""

    name: str
    text: bool
    """Whether it is read from the file's bytes; from the decoded npz or pickle otherwise."""
    matches: Callable[[Any], bool]
    """Whether the content is in this format; asked in the order of the rows."""
    read: Read
    write: Callable[[Motion, Path, Robot | None], None] | None = None
    suffixes: tuple[str, ...] = ()
    """Of the files it is written to."""
    usual: bool = True
    """Whether it is what a file of the first suffix is written as where no format is named."""


def _written_with_robot(write: Callable[[Motion, Path, Robot], None]) -> Callable[[Motion, Path, Robot | None], None]:
    """A writer that needs the robot: the motion's own unless another is given."""
    return lambda motion, path, robot: write(motion, path, robot or Robot.load(motion.robot))


def _written_by(write: Callable[[Motion, Path], None]) -> Callable[[Motion, Path, Robot | None], None]:
    """A writer that needs no robot."""
    return lambda motion, path, _: write(motion, path)


def _read_by(read: Callable[[Any], Iterable[Clip]]) -> Read:
    """A reader that needs the content alone."""
    return lambda content, robot, check_order: read(content)


def _read_csv(text: bytes, robot: Robot, check_order: bool) -> Iterable[Clip]:
    return unitree_csv.read(text, robot.joint_names)


def _read_qpos(content: dict[str, Any], robot: Robot, check_order: bool) -> Iterable[Clip]:
    return qpos.read(content, robot.num_joints)


def _any(_: Any) -> bool:
    return True


PICKLE = (".pkl", ".pickle")
_ROWS = (
    MotionFormat("pfmhr", False, native.matches, _read_by(native.read), _written_by(native.write), (".npz",)),
    MotionFormat("mjlab", False, mjlab.matches, mjlab.read, _written_with_robot(mjlab.write), (".npz",), usual=False),
    MotionFormat("qpos", False, qpos.matches, _read_qpos),
    MotionFormat("bones_seed", True, bones_seed.matches, _read_by(bones_seed.read)),
    MotionFormat("unitree_csv", True, _any, _read_csv, _written_by(unitree_csv.write), (".csv",)),
    MotionFormat(
        "mimickit",
        False,
        mimickit.matches,
        _read_by(mimickit.read),
        _written_with_robot(mimickit.write),
        (".pkl", ".pickle"),
    ),
    MotionFormat("gmr", False, gmr.matches, _read_by(gmr.read)),
    MotionFormat("asap", False, asap.matches, _read_by(asap.read)),
)
FORMATS = {row.name: row for row in _ROWS}
WRITTEN = tuple(row.name for row in _ROWS if row.write)
"""Names of those that can be written."""
BY_SUFFIX = {row.suffixes[0]: row.name for row in _ROWS if row.suffixes and row.usual}
"""What is written where no format is named."""


def format_row(name: str) -> MotionFormat:
    """The row of a name; ``package.module:Class`` is imported, and its row made of the class.

    Such a class is called without arguments and has ``read(data: bytes, robot: Robot) -> Iterable[Clip]``, where
    ``data`` is the whole file, or ``write(motion: Motion, path: Path, robot: Robot | None)``, or both.
    """
    if name in FORMATS:
        return FORMATS[name]
    own = resolve(name, "motion format", FORMATS)()
    read: Any = getattr(own, "read", None)
    write: Any = getattr(own, "write", None)
    if read is None and write is None:
        raise InputError("a format has a method read or write", where=name, code="bad_extension")

    def read_bytes(data: bytes, robot: Robot, check_order: bool) -> Iterable[Clip]:
        if read is None:
            raise InputError(f"'{name}' can be written but not read", code="unknown_format")
        return read(data, robot)

    return MotionFormat(name, True, _any, read_bytes, write)


def read_clips(
    data: bytes, format: Format | None, robot: Robot, check_order: bool = True, max_bytes: int = MAX_FILE_BYTES
) -> Iterable[Clip]:
    """All clips in a file's bytes, of the named format or of the one the content shows."""
    if format is not None and format not in FORMATS:
        if not is_own(format):
            raise unknown_name("motion format", format, [*FORMATS, f"or your own as {OWN}"])
        return format_row(format).read(data, robot, check_order)
    content = _decode(data, max_bytes)
    found = _recognise(content, data)
    if format is not None and (found is None or format != found.name):
        got = found.name if found else "unknown"
        raise InputError("the file is not in the named format", expected=format, got=got, code="bad_format")
    if found is None:
        raise _unrecognised(content)
    return found.read(data if found.text else content, robot, check_order)


def _decode(data: bytes, max_bytes: int) -> Any:
    """The decoded container (a dict for npz and pickle), or None for text."""
    if data[:4] == b"PK\x03\x04" or data[:4] == b"PK\x05\x06":
        return unpack_npz(data, max_bytes)
    if data[:1] == b"\x80" or data[:2] in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"):
        return load_plain(data, max_bytes=max_bytes)
    if b"\0" in data[:4096]:
        raise InputError(
            "not a motion file: binary content of an unknown kind",
            fix="Known: csv, csv.gz, npz, MimicKit/GMR/ASAP pkl.",
            code="unknown_format",
        )
    return None


def _recognise(content: Any, data: bytes) -> MotionFormat | None:
    """The first row that the content matches."""
    if content is not None and not isinstance(content, dict):
        return None
    shown = data if content is None else {str(key): value for key, value in content.items()}
    return next((row for row in _ROWS if row.text is (content is None) and row.matches(shown)), None)


def _unrecognised(content: Any) -> InputError:
    found = (
        ", ".join(str(key)[:40] for key in list(content)[:12]) if isinstance(content, dict) else type(content).__name__
    )
    return InputError(
        "no known motion format",
        expected="the keys of a pfmhr, mjlab, qpos, MimicKit, GMR or ASAP file",
        got=found or "nothing",
        code="unknown_format",
    )


def _refuse_other_suffix(path: Path, row: MotionFormat) -> None:
    """A name that promises one kind of file must not hold another; names that promise nothing may hold any."""
    promising = {suffix for each in _ROWS for suffix in each.suffixes} | {".gz"}
    if row.suffixes and path.suffix.lower() in promising - set(row.suffixes):
        raise InputError(
            f"'{row.name}' is not what this file's name says",
            where=path,
            expected=" or ".join(row.suffixes),
            got=path.suffix,
            code="bad_format",
        )


def write_motion(motion: Motion, path: Path, robot: Robot | None, format: Format | None) -> None:
    """Write in the named format, or in the one usual for the suffix: .npz ours, .csv Unitree, .pkl MimicKit."""
    name = format or BY_SUFFIX.get(path.suffix)
    if name is None:
        raise InputError(
            "no format known for this file name",
            where=path,
            expected=", ".join(BY_SUFFIX),
            got=path.suffix or "none",
            code="unknown_format",
        )
    row = format_row(name)
    _refuse_other_suffix(path, row)
    if row.write is None:
        expected = " or ".join([", ".join(WRITTEN[:-1]), WRITTEN[-1]])
        raise InputError(f"'{name}' can be read but not written", expected=expected, code="unknown_format")
    row.write(motion, path, robot)
