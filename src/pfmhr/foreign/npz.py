"""npz and npy: numpy's archives, each array's size known before anything is unpacked."""

from __future__ import annotations

import ast
import io
import math
import re
import struct
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.foreign.opening import MAX_FILE_BYTES, require_file, too_large

MAX_MEMBERS = 1_000_000
"""More arrays than this are in no archive of ours; their names alone would take gigabytes."""
_ENTRY = b"PK\x01\x02"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What numpy writes; others can ask for gigabytes to unpack a byte."""
_PIECE = 2**20
MAX_HEADER_BYTES, MAX_DIMENSIONS = 10_000, 32
"""Of an array: numpy reads none that goes beyond."""
_MAGIC = b"\x93NUMPY"
_LONG = re.compile(r"(?<=[0-9])L\b")
"""What Python 2 put behind a whole number."""
_AGAIN = "Download it again."


@dataclass(frozen=True)
class _Layout:
    """What an array's header promises."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """Bytes behind the header."""
        return math.prod(self.shape) * self.dtype.itemsize


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


def map_npy(path: Path, code: str, growing: bool = False) -> NDArray:
    """A read-only memory map of a npy file; its header is checked, its content not read.

    A ``growing`` file may be longer than its header says.

    Raises:
        FileNotFoundError: it is not there.
        InputError: of this ``code``: no npy file, or one that was cut or holds objects.
    """
    try:
        size = require_file(path)
        with open(path, "rb") as handle:
            layout, start = _checked_layout(handle, size, "the array"), handle.tell()
    except InputError as error:
        raise error.at(path, code=code) from None
    if size - start != layout.nbytes and not (growing and size - start > layout.nbytes):
        raise _cut("the array", f"{size - start} of its {layout.nbytes} bytes").at(path, code=code)
    if layout.fortran_order:
        expected = "rows one after another"
        raise InputError("the array lies by columns", where=path, expected=expected, code=code)
    return np.memmap(path, layout.dtype, "r", start, layout.shape)


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
    layout = _checked_layout(stream, size, what)
    promised = layout.nbytes
    flat = np.empty(math.prod(layout.shape), layout.dtype)
    filled, room = 0, flat.view(np.uint8)
    while part := stream.read(_PIECE):
        if filled + len(part) > promised:
            raise _cut(what, f"more than the {promised} bytes of {layout.shape} {layout.dtype}")
        room[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        filled += len(part)
    if filled < promised:
        raise _cut(what, f"{filled} of the {promised} bytes of {layout.shape} {layout.dtype}")
    return flat.reshape(layout.shape, order="F" if layout.fortran_order else "C")


def _checked_layout(stream: IO[bytes], size: int, what: str) -> _Layout:
    """The header of an array of numbers or text that fits into ``size`` bytes."""
    layout = _layout(stream, what)
    if layout.dtype.hasobject:
        raise InputError(
            f"{what} holds pickled objects, which could run code; refused",
            fix="Save it again with plain arrays only, names as np.array(names, dtype=str).",
            code="unsafe_pickle",
        )
    if layout.dtype.itemsize == 0 or layout.dtype.fields is not None or layout.dtype.subdtype is not None:
        raise InputError(f"{what} is no array of numbers or text", got=str(layout.dtype), code="damaged")
    # Even without any number in it, numpy makes no array whose other sides are beyond all bounds.
    sides = math.prod(each for each in layout.shape if each) * layout.dtype.itemsize
    if min(layout.shape, default=0) < 0 or layout.nbytes > size or sides > sys.maxsize:
        raise _cut(what, f"{layout.shape} {layout.dtype} within {size} bytes")
    return layout


def _cut(what: str, got: str) -> InputError:
    return InputError(f"{what} is truncated or damaged", got=got, fix=_AGAIN, code="truncated")


def _layout(stream: IO[bytes], what: str) -> _Layout:
    """The header, read as numpy writes it: numpy's own reader warns of some, and makes room for gigabytes."""
    start = stream.read(len(_MAGIC) + 2)
    layout = {_MAGIC + b"\1\0": "<H", _MAGIC + b"\2\0": "<I"}.get(start)
    try:
        if layout is None:
            raise ValueError("no npy of version 1 or 2")
        (length,) = struct.unpack(layout, stream.read(struct.calcsize(layout)))
        text = stream.read(length).decode("latin-1") if length <= MAX_HEADER_BYTES else ""
        header = ast.literal_eval(_LONG.sub("", text).strip())
        shape, order, descr = (header[name] for name in ("shape", "fortran_order", "descr"))
        if len(text) < length or not isinstance(order, bool) or not isinstance(shape, tuple):
            raise ValueError("entries of other kinds")
        if not all(type(size) is int for size in shape) or len(shape) > MAX_DIMENSIONS:
            raise ValueError("no shape")
        return _Layout(shape, order, np.lib.format.descr_to_dtype(descr))
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError, AttributeError, struct.error):
        raise InputError(f"damaged npz: {what} has no header that numpy writes", fix=_AGAIN, code="damaged") from None
