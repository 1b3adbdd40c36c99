"""Run directories: the same command resumes an unfinished run, accepts a finished one, refuses another's."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.files import disk_errors, make_folder, write_json
from pfmhr.foreign import read_json
from pfmhr.learning.checkpoint import CHECKPOINTS, steps_done
from pfmhr.learning.kinds import RUN, kind_here, kind_of
from pfmhr.learning.logging import METRICS
from pfmhr.resuming import require_own, require_same

GIVEN_UP = "given_up.json"
"""Settings of a run that failed before its first checkpoint: :data:`RUN` by another name."""
LEFT = {GIVEN_UP, "pairs", "cell.json", "spec.json", "console.log", "failed.json"}
"""What may lie in a directory before a run is begun there: the settings of one that was given up, the pairs of a
distance field, and what an experiment writes about a cell before it starts it."""
LOGS = {METRICS, "tensorboard"}
"""What a run writes as it goes. They may lie there too where they are of one that was given up: its figures are for
whoever wants to know why, and make room for the next run's."""
_ANOTHER = "Name another directory with -o."


def refuse_others(directory: Path, kind: str) -> None:
    """Refuse a directory in which something else lies than a run of this kind: training there would mix them."""
    if not directory.is_dir():
        return  # not there yet, or a file, which is told when the folder is made
    here = kind_here(directory)
    if here not in (None, kind):
        what = f"this directory holds {here}, not {kind}"
        raise InputError(what, where=directory, fix=_ANOTHER, code="exists")
    if here is None:
        allowed = LEFT | LOGS if (directory / GIVEN_UP).exists() else LEFT
        require_own(directory, {RUN}, "a new or empty one, or a run to go on with", allowed=allowed, fix=_ANOTHER)


def is_done(
    directory: Path, about: dict[str, Any], finished: str, modern: Callable[[Any], Any] = lambda about: about
) -> bool:
    """Whether this run is there and the file named ``finished`` says that it is done; reads only.

    ``about`` is everything that decides the outcome; a directory in which it differs is somebody else's. ``modern``
    makes of what an earlier version wrote what this one writes.
    """
    refuse_others(directory, kind_of(about))
    path = directory / RUN
    if not path.exists():
        if (directory / finished).exists():
            raise InputError("something from elsewhere is already here", where=directory, fix=_ANOTHER, code="exists")
        return False
    fix = "Use the same settings to go on with it, or another directory."
    require_same(modern(read_json(path, "bad_run")), about, "another run is", where=directory, fix=fix)
    return (directory / finished).exists()


def claim(
    directory: Path, about: dict[str, Any], finished: str, modern: Callable[[Any], Any] = lambda about: about
) -> bool:
    """Make the directory this run's; True if it is already done, as :func:`is_done` says."""
    done = is_done(directory, about, finished, modern)
    if not (directory / RUN).exists():
        make_folder(directory)
        _sweep(directory)
        write_json(directory / RUN, about)
        (directory / GIVEN_UP).unlink(missing_ok=True)
    return done


def _sweep(directory: Path) -> None:
    """Delete the logs of a run that was given up: lines of two runs in one file would be neither's."""
    if (directory / GIVEN_UP).exists():
        with disk_errors(directory):
            (directory / METRICS).unlink(missing_ok=True)
            if (directory / "tensorboard").exists():
                shutil.rmtree(directory / "tensorboard")


@contextmanager
def given_up(directory: Path) -> Iterator[None]:
    """A run that fails before its first checkpoint leaves the directory to other settings; its logs stay till then."""
    try:
        yield
    except Exception:
        if not steps_done(directory / CHECKPOINTS):
            with suppress(OSError):  # not there, as in other processes of the run
                (directory / RUN).replace(directory / GIVEN_UP)
            with suppress(OSError):  # not there, or there is something in it
                (directory / CHECKPOINTS).rmdir()
        raise
