"""Writing files so that a crash, a kill or a full disk never leaves half of one."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pfmhr.errors import InputError

TEMPORARY_SUFFIX = ".tmp"
_NOT_WRITABLE = (
    *(errno.EACCES, errno.EROFS, errno.EPERM, errno.EEXIST),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ENAMETOOLONG),
)


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file through ``write(handle)`` under a temporary name, fsync it, then rename it.

    Readers see either the old file or the whole new one. On any failure the temporary file is
    removed and the old file stays.
    """
    path = Path(path)
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    with disk_errors(path):
        try:
            with open(temporary, "wb") as handle:
                write(handle)
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as JSON, atomically."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda handle: handle.write(text.encode()))


def sync_directory(directory: Path) -> None:
    """Make renames inside ``directory`` durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn "disk full", "read-only" and the like into one clear error that names the place."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            free = shutil.disk_usage(_existing_parent(path)).free / 1e6
            raise InputError(
                f"cannot write: {os.strerror(error.errno)}",
                where=path,
                got=f"{free:.0f} MB free",
                fix="Free some space or choose another place, then run the same command again.",
                code="disk_full",
            ) from error
        if error.errno in _NOT_WRITABLE:
            raise InputError(f"cannot write: {os.strerror(error.errno)}", where=path, code="not_writable") from error
        raise


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """One writer at a time; the lock vanishes with its process, however it ends."""
    with disk_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another process is writing here", where=directory, code="locked") from None
        yield
    finally:
        os.close(descriptor)


def _existing_parent(path: Path) -> Path:
    path = Path(path).absolute()
    while not path.exists():
        path = path.parent
    return path
