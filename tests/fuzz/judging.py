"""What a case may come to: loaded as promised, or refused in one clear sentence. All else is a finding."""

from __future__ import annotations

import faulthandler
import io
import os
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError

LONGEST_MESSAGE = 4 * 4096 + 300 + 100
"""Four parts, what was found, and the words between them: the bounds that errors.py and text.py state."""
CODE = re.compile(r"[a-z][a-z0-9_]*")
UNFORESEEN = "damaged content"
"""Begins what the motion readers say of failures that nobody foresaw."""
QUIET = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, ImportWarning)


class TooSlow(BaseException):
    """Beyond ``Exception``, so that no reader takes it for a fault of the file."""


@dataclass(frozen=True)
class Verdict:
    """How a case ended."""

    outcome: str
    """loaded, refused or found."""
    detail: str = ""
    """The code of the refusal, or what was found."""
    seconds: float = 0.0


@contextmanager
def limits(seconds: float) -> Iterator[None]:
    """Processor time for what computes, eight times as much of the clock for what waits."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {seconds:g} s")

    previous = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
    signal.setitimer(signal.ITIMER_REAL, 8 * seconds, 1.0)
    faulthandler.dump_traceback_later(12 * seconds, exit=True)  # where no signal is heard, within a library
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)


def judge(read: Callable[[Path], str | None], folder: Path, seconds: float = 5.0) -> Verdict:
    """Read a case under the limits."""
    said, start = io.StringIO(), time.perf_counter()
    with warnings.catch_warnings(), redirect_stdout(said):
        warnings.simplefilter("error")
        for quiet in QUIET:
            warnings.simplefilter("ignore", quiet)
        warnings.filterwarnings("ignore", message=".*configs have no checksum")  # said of older priors, and meant
        outcome, detail = _outcome(read, folder, seconds)
    took = time.perf_counter() - start
    if outcome != "found" and (said.getvalue() or _written_to_stdout()):
        outcome, detail = "found", f"writes to stdout: {said.getvalue()!r:.200}"
    return Verdict(outcome, detail, took)


def _outcome(read: Callable[[Path], str | None], folder: Path, seconds: float) -> tuple[str, str]:
    try:
        with limits(seconds):
            complaint = read(folder)
    except TooSlow as error:
        return "found", f"too slow: {error}"
    except InputError as error:
        complaint = complaint_about(error)
        return ("refused", error.code) if complaint is None else ("found", complaint)
    except Exception as error:
        return "found", f"{type(error).__name__} at {_place(error)}: {error!s:.300}"
    return ("loaded", "") if complaint is None else ("found", f"loaded, but: {complaint:.300}")


def complaint_about(error: InputError) -> str | None:
    """What is wrong with an error's text or with what led to it."""
    text = str(error)
    if not text or not text.isprintable():
        return f"a message that cannot be printed: {text!r:.300}"
    if len(text) > LONGEST_MESSAGE:
        return f"a message of {len(text)} characters: {text:.100}"
    if not CODE.fullmatch(error.code):
        return f"no code: {error.code!r}"
    for cause in _causes(error):
        if isinstance(cause, (MemoryError, Warning, SystemError)):
            return f"refused because of a {type(cause).__name__} at {_place(cause)}: {cause!s:.200}"
    return f"unforeseen: {text:.300}" if str(error.what).startswith(UNFORESEEN) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _place(error: BaseException) -> str:
    """The last line of the package on the way to an error."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code: Any = trace.tb_frame.f_code
        if "/pfmhr/" in code.co_filename:
            place = f"{code.co_filename.rpartition('/pfmhr/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _written_to_stdout() -> int:
    """What lies in the file that stdout leads to, as within a batch; 0 where it is no file of ours."""
    if not os.environ.get("PFMHR_FUZZ_BATCH"):
        return 0
    size = os.fstat(1).st_size
    if size:
        os.ftruncate(1, 0)
        os.lseek(1, 0, os.SEEK_SET)
    return size
