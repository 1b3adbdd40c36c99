"""What several commands share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfmhr.errors import InputError
from pfmhr.files import TEMPORARY_SUFFIX

if TYPE_CHECKING:
    from pfmhr.motion import Motion
    from pfmhr.robots import Robot


def given(changes: dict[str, Any]) -> dict[str, Any]:
    """The options that were named on the command line; the others keep their defaults."""
    return {name: value for name, value in changes.items() if value is not None}


def at_least_one(**numbers: int | None) -> None:
    """Refuse a number of things below one, by the name of its option."""
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise InputError(f"--{name.replace('_', '-')} must be at least 1", got=number, code="bad_config")


def refuse_replacing(outputs: Iterable[Path], inputs: Iterable[str | Path | None]) -> None:
    """Refuse to write over a file that is read, by whatever name.

    Inputs that do not exist are no files and are ignored.
    """
    read = [path for path in inputs if path is not None and os.path.isfile(path)]
    for output in outputs:
        # A file is written under its temporary name first.
        for written in (output, f"{output}{TEMPORARY_SUFFIX}"):
            if os.path.exists(written) and any(os.path.samefile(written, path) for path in read):
                fix = "Write to another place."
                raise InputError("this would replace what is read", where=written, fix=fix, code="replaces_input")


def use_threads(threads: int | None) -> None:
    """Let torch compute with so many threads; default: as many as there are cores for us."""
    at_least_one(threads=threads)
    import torch

    from pfmhr.motion.checks.paths import available_cores

    torch.set_num_threads(threads or available_cores())


@contextmanager
def tracking_extra() -> Iterator[None]:
    """Turn an import that fails into an error that says what to install for tracking."""
    with _extra("tracking"):
        yield


@contextmanager
def viewer_extra() -> Iterator[None]:
    """Turn an import that fails into an error that says what to install for the viewer."""
    with _extra("viewer"):
        yield


@contextmanager
def _extra(name: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        fix = f"`pip install 'pfm-hr[{name}]'`."
        what = {"viewer": "the viewer"}.get(name, name)
        raise InputError(f"{what} needs {error.name}", fix=fix, code="missing_extra") from error


def tell_assumed(notes: Iterable[Sequence[str]]) -> None:
    """Say once how many clips, each with its notes, were read at a frame rate that nobody stated."""
    from pfmhr.cli.console import remark
    from pfmhr.motion.reading import ASSUMED, USUAL_CSV_FPS

    count = sum(ASSUMED in each for each in notes)
    if count:
        what = f"{count} clip(s) state no frame rate; {USUAL_CSV_FPS:g} Hz was assumed"
        remark(f"{what}, and checks of speed are wrong if it is another: --fps says which")


def read_clip(name: str, robot: Robot, fps: float | None = None, clip: str | None = None) -> Motion:
    """A motion by the name of its file, or one of the embedded ones as ``embedded:walk``."""
    from pfmhr.motion.named import read_named

    return read_named(name, robot, fps, clip)
