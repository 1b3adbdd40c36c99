"""The last layers of every kind: bytes, and what lies where a file should be."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from random import Random

from tests.fuzz.drafts import Change

Content = bytes | str
"""What lies under a name: bytes, or one of the odd things below."""
Files = dict[str, Content]
ODD_THINGS = ("pipe", "folder", "endless device", "link to itself", "nothing")


def truncated(random: Random, data: bytes) -> bytes:
    return data[: random.randint(0, max(len(data) - 1, 0))]


def extended(random: Random, data: bytes) -> bytes:
    return data + random.choice([b"\0", b"\n", b"x", b"\0" * 5000, data[:100], data])


def flipped_bytes(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def lost_piece(random: Random, data: bytes) -> bytes:
    start = random.randint(0, len(data))
    return data[:start] + data[start + random.choice([1, 8, 100]) :]


def another_kind(random: Random, data: bytes) -> bytes:
    return random.choice(
        [
            b"\0",
            b"PK\x05\x06" + b"\0" * 18,
            b"\x80\x04.",
            b"\x1f\x8b",
            b"null",
            b"[]",
            b"{}",
            b"version https://git-lfs",
        ]
    )


BYTES: tuple[Change, ...] = (truncated, extended, flipped_bytes, lost_piece, another_kind)


def odd_thing(random: Random, files: Files) -> Files:
    return {**files, random.choice(list(files)): random.choice(ODD_THINGS)}


def empty_file(random: Random, files: Files) -> Files:
    return {**files, random.choice(list(files)): b""}


PLACES: tuple[Change, ...] = (odd_thing, empty_file)


def lay(files: Files, folder: Path) -> None:
    """Make the files of a case; whatever lay under their names before goes away."""
    for name, content in files.items():
        path = folder / name
        if isinstance(content, bytes) and path.is_file() and not path.is_symlink():
            path.write_bytes(content)
            continue
        _clear(path)
        if isinstance(content, bytes):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        elif content == "pipe":
            os.mkfifo(path)
        elif content == "folder":
            path.mkdir()
        elif content == "endless device":
            path.symlink_to("/dev/zero")
        elif content == "link to itself":
            path.symlink_to(path.name)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
