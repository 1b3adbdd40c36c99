"""The command line: one file per command, one clear message per error."""

from __future__ import annotations

import os
import select
import sys
import traceback
import warnings
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TextIO

from pfmhr.errors import InputError
from pfmhr.text import json_text, printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``pfmhr``.

    Exit codes: 0 done, 1 a check found faults or a cell of an experiment failed, 2 wrong use, bad input or any other
    error, 130 interrupted, 141 the reader of our output has gone.

    An error is one line on stderr; ``--debug`` anywhere on the command line adds where it came from. With ``--json``
    stdout holds exactly one JSON object: the result or, after an error, ``{"error": {"code", "message", "where",
    "expected", "got", "fix"}}`` with those of the last four that are known. ``NO_COLOR`` is respected.
    """
    if arguments is None:  # as a program, and not within one
        _open_missing_streams()
        warnings.showwarning = _show_warning
    given = list(sys.argv[1:] if arguments is None else arguments)
    words = [word for word in given if word != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be text
    try:
        code = _run(words, debug="--debug" in given)
        sys.stdout.flush()
    except BrokenPipeError:
        _redirect(sys.stdout, sys.stderr)
        code = 141
    except OSError as error:  # a full disk behind stdout
        _redirect(sys.stdout)
        _tell(InputError(f"cannot write the output: {error.strerror}", code="not_writable"), as_json=False)
        code = 2
    if arguments is None:
        sys.exit(code)
    return code


def _run(words: list[str], debug: bool) -> int:
    from pfmhr.cli.commands import run

    as_json = "--json" in words
    try:
        if "" in words:
            raise InputError("an empty word on the command line", fix="Is a variable not set?", code="bad_input")
        return run(words)
    except SystemExit as stop:  # after --help
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        _tell(InputError("interrupted; the same command goes on where it can", code="interrupted"), as_json)
        return 130
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _reader_gone():
            raise
        if debug:
            for line in traceback.format_exc().splitlines():
                print(printable(line), file=sys.stderr)
        _tell(error if isinstance(error, InputError) else _unexpected(error), as_json)
        return 2


def _unexpected(error: Exception) -> InputError:
    kind = type(error).__name__
    what = f"unexpected {kind}: {error}" if str(error) else f"unexpected {kind}"
    return InputError(what, fix="With --debug it shows where it came from.", code="unexpected")


def _tell(error: InputError, as_json: bool) -> None:
    """The message on stderr; with --json the same as one JSON object on stdout, where the result would have been."""
    message = " ".join(str(error).split())
    print(f"pfmhr: {message}", file=sys.stderr)
    if as_json:
        print(json_text({"error": {"code": error.code, "message": message, **error.facts}}))


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"pfmhr: note: {printable(str(message))}", file=sys.stderr)


def _open_missing_streams() -> None:
    """Open streams that were closed before we began, on nothing; else the next file would take their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _reader_gone() -> bool:
    """Whether the broken pipe is our own output, as in ``pfmhr … | head``, and not another one."""
    poll = select.poll()
    for stream in (sys.stdout, sys.stderr):
        poll.register(stream.fileno(), select.POLLERR)
    return bool(poll.poll(0))


def _redirect(*streams: TextIO) -> None:
    """Send what is still to be written nowhere: Python flushes these streams when it ends, and would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
