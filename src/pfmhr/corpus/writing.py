"""What every writer of a corpus needs: the folder to itself, and no leftovers in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pfmhr.corpus.manifest import Manifest
from pfmhr.errors import InputError
from pfmhr.files import disk_errors


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
            raise InputError("another process is writing this corpus", where=directory, code="locked") from None
        yield
    finally:
        os.close(descriptor)


def remove_unlisted(directory: Path, manifest: Manifest) -> int:
    """Delete shards and temporary files that the manifest does not list; returns how many."""
    listed = {shard.file for shard in manifest.shards}
    extra = [path for path in directory.glob("shard-*.npy*") if path.name not in listed]
    for path in extra:
        path.unlink()
    return len(extra)
