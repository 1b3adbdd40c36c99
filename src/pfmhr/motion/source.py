"""From a path to the bytes of a motion file, with the faults of downloads met first."""

from __future__ import annotations

import zlib
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.foreign import MAX_FILE_BYTES, read_file, too_large

try:  # twice as fast, and otherwise the same
    from isal import isal_zlib as gzip_zlib
except ImportError:
    gzip_zlib = zlib
_DAMAGED: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip_zlib.error)  # type: ignore[assignment]

_PIECE = 2**16
MAX_PARTS = 100_000
"""Members and pieces of a gzip file; blocks of 64 kB, as some packers write, stay far below."""

MOTION_SUFFIXES = (".csv", ".csv.gz", ".pkl", ".pickle", ".npz")
"""What a folder is searched for."""


def load_bytes(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The content of a motion file, unzipped if it is gzipped, without a byte order mark.

    Raises:
        InputError: missing, empty, too large, truncated, an LFS pointer or a web page.
    """
    path = Path(path)
    try:
        data = read_file(path, max_bytes)
    except FileNotFoundError:
        raise InputError("no such file", where=path, code="not_found") from None
    if data[:2] == b"\x1f\x8b":
        data = _unzip(data, path, max_bytes)
    return _without_mark(_refuse_non_motions(data, path))


def _unzip(data: bytes, path: Path, max_bytes: int) -> bytes:
    try:
        parts: list[bytes] = []
        size = place = 0
        while place < len(data):  # several gzip members one after another are legal, and so is padding with zeros
            if len(parts) > MAX_PARTS:
                raise InputError("too many parts in this gzip file", where=path, fix="Pack it anew.", code="too_large")
            unpacker = gzip_zlib.decompressobj(wbits=31)
            while not unpacker.eof and place < len(data):
                # Piece by piece: what is left over behind each member is copied.
                piece = data[place : place + _PIECE]
                parts.append(unpacker.decompress(piece, max_bytes + 1 - size))
                place += len(piece) - len(unpacker.unused_data)
                size += len(parts[-1])
                if size > max_bytes:
                    raise too_large(path, size, max_bytes)
            if not unpacker.eof:
                raise EOFError
            place = _behind_zeros(data, place)
        return b"".join(parts)
    except _DAMAGED as error:
        raise InputError(
            "truncated or damaged gzip file", where=path, fix="Download it again.", code="truncated"
        ) from error


def _behind_zeros(data: bytes, place: int) -> int:
    while place < len(data) and data[place] == 0:
        rest = data[place : place + _PIECE].lstrip(b"\0")
        if rest:
            return min(place + _PIECE, len(data)) - len(rest)
        place += _PIECE
    return place


def _refuse_non_motions(data: bytes, path: Path) -> bytes:
    if not data[:4096].strip(b" \t\r\n\0") and not data.strip(b" \t\r\n\0"):
        raise InputError("empty file", where=path, got=f"{len(data)} bytes", code="empty")
    if data.startswith(b"version https://git-lfs"):
        raise InputError(
            "this is a Git-LFS pointer, not the data",
            where=path,
            fix="Run `git lfs pull` in the repository it came from.",
            code="lfs_pointer",
        )
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        raise InputError(
            "this is a web page, not a motion file",
            where=path,
            fix="The download link needed a login or a confirmation: download it again.",
            code="html_page",
        )
    return data


def _without_mark(data: bytes) -> bytes:
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16").encode()
        except UnicodeDecodeError:
            return data
    return data


def clip_name(path: Path) -> str:
    """What a clip is called that has no name of its own: its file, without endings."""
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]
