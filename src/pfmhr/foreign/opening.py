"""From a path to bytes: only regular files, only up to a stated size."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from pfmhr.errors import InputError

MAX_FILE_BYTES = 512 * 2**20
"""Default limit of a file, packed or unpacked: larger ones would not fit the memory bound of a build."""

_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_file(path: Path, max_bytes: int = MAX_FILE_BYTES, growing: bool = False) -> bytes:
    """The content of a regular file of at most ``max_bytes``; of a ``growing`` one, such as a log, what was there.

    Raises:
        FileNotFoundError: it is not there; the caller knows what was expected.
        InputError: a folder, a pipe or a device; too large; empty; not readable.
    """
    require_file(path, max_bytes)
    try:
        # A pipe may have taken the file's place since: it is opened without waiting for a writer, and looked at again.
        descriptor = os.open(path, os.O_RDONLY | _NO_WAITING)
        with os.fdopen(descriptor, "rb") as handle:
            size = _regular_size(os.fstat(descriptor), path, max_bytes)
            data = handle.read(size + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(path, error) from error
    if growing:
        return data[:size]
    if len(data) > size:
        raise InputError("the file grew while it was read", where=path, fix="Try again.", code="unreadable")
    return data


def require_file(path: Path, max_bytes: int | None = None) -> int:
    """The size of a regular file with something in it; raises as :func:`read_file` does."""
    try:
        about = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(*error.args) from None
    except ValueError as error:  # a NUL within a name
        raise InputError("no such file", where=path, code="not_found") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    return _regular_size(about, path, max_bytes)


def read_text(path: Path, max_bytes: int = MAX_FILE_BYTES) -> str:
    """A text file as UTF-8; raises as :func:`read_file` does, and where the bytes are no text."""
    try:
        return read_file(path, max_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not a text file (UTF-8)", where=path, code="damaged") from error


def _regular_size(about: os.stat_result, path: Path, max_bytes: int | None) -> int:
    if S_ISDIR(about.st_mode):
        raise InputError("this is a folder, not a file", where=path, code="not_a_file")
    if not S_ISREG(about.st_mode):
        # Such a thing may never end, and has no size to tell by.
        raise InputError("this is a device, a pipe or a socket, not a file", where=path, code="not_a_file")
    if about.st_size == 0:  # the files of /proc say so too, and some of them never end
        raise InputError("empty file", where=path, got="0 bytes", code="empty")
    if max_bytes is not None and about.st_size > max_bytes:
        raise too_large(path, about.st_size, max_bytes)
    return about.st_size


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot read: {error.strerror}", where=path, code="unreadable")


def too_large(path: object, size: int, max_bytes: int, fix: str = "Split it into several files.") -> InputError:
    """The error for content beyond a limit."""
    return InputError(
        "file too large",
        where=path,
        expected=f"at most {max_bytes / 2**20:.0f} MB",
        got=f"{size / 2**20:.0f} MB or more",
        fix=fix,
        code="too_large",
    )
