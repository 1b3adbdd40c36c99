"""npz and npy: numpy's archives, each array's size known before anything is unpacked."""

from __future__ import annotations

import io
import math
import tokenize
import zipfile
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.foreign.opening import MAX_FILE_BYTES, too_large

MAX_MEMBERS = 1_000_000
"""More arrays than this are in no archive of ours; their names alone would take gigabytes."""
_ENTRY = b"PK\x01\x02"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What numpy writes; others can ask for gigabytes to unpack a byte."""
_PIECE = 2**20
_AGAIN = "Download it again."


@dataclass(frozen=True)
class _Layout:
    """What an array's header promises."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype


def unpack_npz(data: bytes, max_bytes: int = MAX_FILE_BYTES) -> dict[str, NDArray]:
    """The arrays of an npz by name; numbers and text only, at most ``max_bytes`` unpacked.

    Raises:
        InputError: damaged, too large, two arrays of one name, objects that would have to be unpickled.
    """
    if data.count(_ENTRY) > MAX_MEMBERS:
        raise InputError("too many arrays in this npz", expected=f"at most {MAX_MEMBERS:,}", code="too_large")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, max_bytes)
            return {_name(member): _read_member(archive, member) for member in members}
    except InputError:
        raise
    except Exception as error:  # each of zip's packings has errors of its own
        raise InputError("truncated or damaged npz", fix=_AGAIN, code="truncated") from error


def load_npy(data: bytes) -> NDArray:
    """One array of a npy file; raises as :func:`unpack_npz` does."""
    return _read_array(io.BytesIO(data), len(data), "the array")


def _check_members(members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    names: set[str] = set()
    for name in map(_name, members):
        if name in names:
            raise InputError(f"'{name}' is twice in this npz", expected="each array once", fix=_AGAIN, code="damaged")
        names.add(name)
    unpacked = sum(member.file_size for member in members)
    if unpacked > max_bytes:
        raise too_large(None, unpacked, max_bytes)
    for member in members:
        if member.compress_type not in _PACKINGS or member.flag_bits & 0x1:
            what = f"'{_name(member)}' is packed in a way that numpy does not write"
            raise InputError(what, fix="Save it again with numpy.savez.", code="damaged")


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.removesuffix(".npy")


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray:
    if not member.filename.endswith(".npy"):
        raise InputError(f"'{member.filename}' in this npz is no array", expected="arrays alone", code="damaged")
    with archive.open(member) as stream:
        return _read_array(stream, member.file_size, f"'{_name(member)}'")


def _read_array(stream: IO[bytes], size: int, what: str) -> NDArray:
    """The array in a stream of ``size`` bytes; room is made for no more than those."""
    layout = _layout(stream, what)
    if layout.dtype.hasobject:
        raise InputError(
            f"{what} holds pickled objects, which could run code; refused",
            fix="Save it again with plain arrays only, names as np.array(names, dtype=str).",
            code="unsafe_pickle",
        )
    if layout.dtype.itemsize == 0 or layout.dtype.fields is not None or layout.dtype.subdtype is not None:
        raise InputError(f"{what} is no array of numbers or text", got=str(layout.dtype), code="damaged")
    count = math.prod(layout.shape)
    promised = count * layout.dtype.itemsize
    if min(layout.shape, default=0) < 0 or promised > size:
        raise _cut(what, f"{layout.shape} {layout.dtype} within {size} bytes")
    flat = np.empty(count, layout.dtype)
    filled, room = 0, flat.view(np.uint8)
    while part := stream.read(_PIECE):
        if filled + len(part) > promised:
            raise _cut(what, f"more than the {promised} bytes of {layout.shape} {layout.dtype}")
        room[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        filled += len(part)
    if filled < promised:
        raise _cut(what, f"{filled} of the {promised} bytes of {layout.shape} {layout.dtype}")
    return flat.reshape(layout.shape, order="F" if layout.fortran_order else "C")


def _cut(what: str, got: str) -> InputError:
    return InputError(f"{what} is truncated or damaged", got=got, fix=_AGAIN, code="truncated")


def _layout(stream: IO[bytes], what: str) -> _Layout:
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        return _Layout(*read(stream))
    except (ValueError, TypeError, KeyError, SyntaxError, EOFError, RecursionError, MemoryError, tokenize.TokenError):
        raise InputError(f"damaged npz: {what} has no header that numpy writes", fix=_AGAIN, code="damaged") from None
