"""What commands print: tables and lines to stdout, progress to stderr, nothing coloured unless a terminal reads it."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from pfmhr.files import make_folder, write_json
from pfmhr.text import json_text, printable


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would leave the program here; how it ends is decided in one place


def _console(to_stderr: bool) -> Console:
    stream = sys.stderr if to_stderr else sys.stdout
    return _Console(
        file=stream,
        # A pipe has no width; rich would fold everything at 80 columns there.
        width=None if stream.isatty() else 160,
        soft_wrap=not stream.isatty(),
        highlight=False,
        # Rich alone would keep bold and dim.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )


def say(message: str) -> None:
    """One line of result; what a terminal could obey in it is escaped."""
    _console(to_stderr=False).print(printable(message), markup=False)


def remark(message: str) -> None:
    """One line beside the result."""
    _console(to_stderr=True).print(printable(message), markup=False, style="dim")


def teller(json: bool) -> Callable[[str], None]:
    """The function that takes a command's remarks: they go to stdout, with ``--json`` to stderr."""
    return remark if json else say


def write_result(output: Path | None, content: Mapping[str, object]) -> None:
    """What ``--output`` asks for: the result as JSON, in a folder that need not be there."""
    if output is not None:
        make_folder(output.parent)
        write_json(output, content)


def print_json(content: Any) -> None:
    """One JSON object on stdout; what is not a finite number is null there."""
    print(json_text(_finite(content)))


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    return [_finite(value) for value in content] if isinstance(content, list | tuple) else content


def print_table(title: str, columns: Sequence[str], rows: list[list[str]]) -> None:
    """A table of text."""
    shown = Text(title) if title else None
    table = Table(title=shown, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # names of files and their content are no markup
    _console(to_stderr=False).print(table)


def measured(value: float | None, unit: float, digits: int) -> str:
    """A number in its unit; a dash for one that could not be measured."""
    return "–" if value is None else f"{unit * value:.{digits}f}"


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal, fed with (done, total)."""
    console = _console(to_stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def training_bar(what: str, remaining: bool = True) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar fed with (steps done, steps in all, a remark); without a terminal, a line now and then.

    Without ``remaining`` the bar does not estimate the time that is left.
    """
    console = _console(to_stderr=True)
    if not console.is_terminal:
        yield _lines(what, remaining)
        return
    columns = [TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[remark]}")]
    columns += [TimeElapsedColumn(), TimeRemainingColumn()] if remaining else [TimeElapsedColumn()]
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None, remark="")
        yield lambda done, total, text: progress.update(task, completed=done, total=total, remark=printable(text))


def _lines(what: str, remaining: bool) -> Callable[[int, int, str], None]:
    from pfmhr.text import duration

    last, first, before = -1, (0, 0.0), -1

    def line(done: int, total: int, text: str) -> None:
        nonlocal last, first, before
        now = time.monotonic()
        if last < 0 or done < before:
            first = done, now  # steps of an earlier run took none of our time
        before = done
        if 20 * done // total != last:
            last = 20 * done // total
            speed = (done - first[0]) / max(now - first[1], 1e-9)
            left = f", {duration((total - done) / speed)} left" if remaining and speed > 0 and done < total else ""
            remark(f"{what} {done:,}/{total:,}: {text}{left}")

    return line
