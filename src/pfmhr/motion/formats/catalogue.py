"""Which format is this? Told from the content, never from the file's name alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import MAX_FILE_BYTES, unpack_npz
from pfmhr.motion.formats import asap, bones_seed, gmr, mimickit, mjlab, native, qpos, unitree_csv
from pfmhr.motion.formats.clip import Clip, Format
from pfmhr.motion.safe_pickle import load_plain
from pfmhr.robots import Robot

if TYPE_CHECKING:
    from pfmhr.motion.motion import Motion


BY_SUFFIX: dict[str, Format] = {".npz": "pfmhr", ".csv": "unitree_csv", ".pkl": "mimickit"}
"""What is written unless a format is named."""
_SUFFIXES = {"pfmhr": (".npz",), "mjlab": (".npz",), "unitree_csv": (".csv",), "mimickit": (".pkl", ".pickle")}


def read_clips(
    data: bytes, format: Format | None, robot: Robot, check_order: bool = True, max_bytes: int = MAX_FILE_BYTES
) -> Iterable[Clip]:
    """All clips in a file's bytes, of the named format or of the one the content shows."""
    if format is not None and format not in get_args(Format):
        raise unknown_name("motion format", format, get_args(Format))
    content = _decode(data, max_bytes)
    found = _recognise(content, data)
    if format is not None and format != found:
        raise InputError(
            "the file is not in the named format", expected=format, got=found or "unknown", code="bad_format"
        )
    if found is None:
        raise _unrecognised(content)
    return _read(found, content if content is not None else {}, data, robot, check_order)


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


def _recognise(content: Any, data: bytes) -> Format | None:
    if content is None:
        return "bones_seed" if bones_seed.matches(data) else "unitree_csv"
    if not isinstance(content, dict):
        return None
    content = {str(key): value for key, value in content.items()}
    candidates: tuple[tuple[Format, Any], ...] = (
        ("pfmhr", native),
        ("mjlab", mjlab),
        ("qpos", qpos),
        ("mimickit", mimickit),
        ("gmr", gmr),
        ("asap", asap),
    )
    return next((name for name, module in candidates if module.matches(content)), None)


def _read(format: Format, content: dict[str, Any], data: bytes, robot: Robot, check_order: bool) -> Iterable[Clip]:
    match format:
        case "pfmhr":
            return native.read(content)
        case "unitree_csv":
            return unitree_csv.read(data, robot.joint_names)
        case "bones_seed":
            return bones_seed.read(data)
        case "mimickit":
            return mimickit.read(content)
        case "gmr":
            return gmr.read(content)
        case "asap":
            return asap.read(content)
        case "mjlab":
            return mjlab.read(content, robot, check_order)
        case "qpos":
            return qpos.read(content, robot.num_joints)


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


def _refuse_other_suffix(path: Path, format: Format | None) -> None:
    """A name that promises one kind of file must not hold another; names that promise nothing may hold any."""
    promising = {suffix for suffixes in _SUFFIXES.values() for suffix in suffixes} | {".gz"}
    if format in _SUFFIXES and path.suffix.lower() in promising - set(_SUFFIXES[format]):
        raise InputError(
            f"'{format}' is not what this file's name says",
            where=path,
            expected=" or ".join(_SUFFIXES[format]),
            got=path.suffix,
            code="bad_format",
        )


def write_motion(motion: Motion, path: Path, robot: Robot | None, format: Format | None) -> None:
    """Write in the named format, or in the one usual for the suffix: .npz ours, .csv Unitree, .pkl MimicKit."""
    format = format or BY_SUFFIX.get(path.suffix)
    _refuse_other_suffix(path, format)
    match format:
        case "pfmhr":
            native.write(motion, path)
        case "unitree_csv":
            unitree_csv.write(motion, path)
        case "mimickit":
            mimickit.write(motion, path, robot or Robot.load(motion.robot))
        case "mjlab":
            mjlab.write(motion, path, robot or Robot.load(motion.robot))
        case None:
            raise InputError(
                "no format known for this file name",
                where=path,
                expected=", ".join(BY_SUFFIX),
                got=path.suffix or "none",
                code="unknown_format",
            )
        case _:
            raise InputError(
                f"'{format}' can be read but not written",
                expected="pfmhr, unitree_csv, mimickit or mjlab",
                code="unknown_format",
            )
