"""The same command goes on with what it began in a directory; another command is refused there.

Whoever writes something that takes long keeps beside it what it was asked for, and calls these before writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.files import TEMPORARY_SUFFIX

LOCK = ".lock"
"""What :func:`pfmhr.files.exclusive` leaves in a directory."""


def require_same(
    before: Any, now: Any, what: str, *, where: Path, got: object = None, fix: str = "Name another directory."
) -> None:
    """Refuse a directory in which something else was asked for than now.

    Args:
        before: plain data, as JSON holds it: what was asked for when the directory was begun.
        now: the same of this call.
        what: names what is there in the error, as "another run is".
        where: the directory.
        got: what is there, for the error; default: the settings that differ.
        fix: what to do about it.
    """
    if before != now:
        told = ", ".join(differences(before, now))[:400] if got is None else got
        raise InputError(f"{what} already here", where=where, got=told, fix=fix, code="exists")


def require_own(directory: Path, own: Set[str], expected: str, *, allowed: Set[str] = frozenset(), fix: str) -> None:
    """Refuse a directory that holds files and none of ours: writing there would mix them.

    Args:
        directory: one that need not exist.
        own: names of files of which one at least is there once we have begun.
        expected: what the directory should be, for the error.
        allowed: names of files that may lie there before we begin.
        fix: what to do about it.
    """
    if not directory.is_dir():
        return  # not there yet, or a file, which is told when the folder is made
    names = {entry.name.removesuffix(TEMPORARY_SUFFIX) for entry in directory.iterdir()} - {LOCK}
    others = names - allowed
    if others and not names & own:
        got = ", ".join(sorted(others)[:3])
        what = "the directory holds other files"
        raise InputError(what, where=directory, expected=expected, got=got, fix=fix, code="not_empty")


def differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    """Every setting that is not as it was, as "agent.discount 0.99 → 0.95"."""
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        before, now = ({str(place): value for place, value in enumerate(each)} for each in (before, now))
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*now, *before]):
            yield from differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name} {before} → {now}"
