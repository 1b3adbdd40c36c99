"""Writing files so that a crash, a kill or a full disk never leaves one half done."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from filelock import lock_descriptor

from pfmhr.errors import InputError

TEMPORARY_SUFFIX = ".tmp"
_NOT_WRITABLE = (
    *(errno.EACCES, errno.EROFS, errno.EPERM, errno.EEXIST),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ENAMETOOLONG),
)


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file through ``write(handle)`` under a temporary name, fsync it, then rename it.

    Readers see either the old file or the whole new one. On any failure the temporary file is
    removed and the old file stays. Through a link the file it leads to is written; what is no file, such as
    a pipe or ``/dev/stdout``, is written to as it is.
    """
    path = Path(os.path.realpath(path))
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    with disk_errors(path):
        if path.exists() and not (path.is_file() or path.is_dir()):
            with open(path, "wb") as handle:
                write(handle)
            return
        with _alone(temporary) as handle:
            try:
                write(handle)
                handle.flush()
                os.fsync(handle.fileno())
                if os.name == "nt":
                    handle.close()  # Windows renames no file that is open
                os.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        sync_directory(path.parent)


@contextmanager
def _alone(temporary: Path) -> Iterator[IO[bytes]]:
    """An empty file to write to. A second writer waits until the first has finished; their words never mix."""
    while True:
        descriptor = os.open(temporary, os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "w+b") as handle:
            lock_descriptor(descriptor)
            if temporary.exists() and os.path.samestat(os.stat(temporary), os.fstat(handle.fileno())):
                handle.truncate()  # left by a writer that was killed
                yield handle
                return
        # Another writer finished in the meantime and renamed the file that we had opened.


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as JSON, atomically."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda handle: handle.write(text.encode()))


def save_figure(figure: Any, path: Path, **options: Any) -> None:
    """Write a matplotlib figure, atomically; the kind of file is the ending of its name."""
    kinds = sorted(figure.canvas.get_supported_filetypes())
    if path.suffix[1:] not in kinds:
        raise InputError("unknown kind of figure", where=path, expected=", ".join(kinds), code="bad_input")
    make_folder(path.parent)
    write_atomically(path, lambda handle: figure.savefig(handle, format=path.suffix[1:], **options))


def make_folder(directory: Path) -> None:
    """Make a folder and those above it, or say why it cannot be."""
    with disk_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)


def sync_directory(directory: Path) -> None:
    """Make renames inside ``directory`` durable; Windows opens no folders and needs none of this."""
    if os.name == "nt":
        return
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
    make_folder(directory)
    with disk_errors(directory):
        descriptor = os.open(directory / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        if not lock_descriptor(descriptor, blocking=False):
            raise InputError("another process is writing here", where=directory, code="locked")
        yield
    finally:
        os.close(descriptor)


def _existing_parent(path: Path) -> Path:
    path = Path(path).absolute()
    while not path.exists():
        path = path.parent
    return path
