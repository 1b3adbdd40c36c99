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
        size = 0
        while data:  # several gzip members one after another are legal, and so is padding with zeros
            unpacker = gzip_zlib.decompressobj(wbits=31)
            parts.append(unpacker.decompress(data, max_bytes + 1 - size))
            size += len(parts[-1])
            if size > max_bytes:
                raise too_large(path, size, max_bytes)
            if not unpacker.eof:
                raise EOFError
            data = unpacker.unused_data.lstrip(b"\0")
        return parts[0] if len(parts) == 1 else b"".join(parts)
    except _DAMAGED as error:
        raise InputError(
            "truncated or damaged gzip file", where=path, fix="Download it again.", code="truncated"
        ) from error


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
