"""Numbers out of csv text: pyarrow where it is installed, numpy otherwise, one clear error."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError

_BLANK = (b" ", b"\t", b"\r", b"\n", b"\0")
PRECISE = 1000.0
"""From this number on float32 has steps of more than 0.00006."""
QUICK_BYTES = 2**20
"""From this length on a text is read with pyarrow, whose import takes as long as np.loadtxt with a megabyte."""


def first_line(text: bytes) -> str:
    """The first line, without its line ending."""
    return text[: 2**16].split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", errors="replace")


def parse_table(text: bytes, line: int = 1, quick: bool | None = None) -> NDArray[np.float32]:
    """A rectangular table of comma-separated numbers, shape ``(rows, columns)`` float32.

    Args:
        line: number of the text's first line in its file, for messages.
        quick: read with pyarrow; default: where it is installed and the text is long. The result is the same.

    Raises:
        InputError: naming the first line that does not fit.
    """
    if text[-2:].removesuffix(b"\n")[-1:] in _BLANK:  # more than one plain newline at the end
        text = text.rstrip(b" \t\r\n\0")
    if not text.rstrip(b"\n"):
        raise InputError("no rows of numbers", code="too_short")
    columns = first_line(text).count(",") + 1
    wanted = len(text) >= QUICK_BYTES if quick is None else quick
    table = _parse_quickly(text, columns) if wanted else None
    if table is None:
        try:
            with np.errstate(over="ignore"):
                table = np.loadtxt(io.BytesIO(text), delimiter=",", dtype=np.float32, ndmin=2, comments=None)
        except (ValueError, UnicodeDecodeError) as error:
            raise _locate(text, columns, error, line) from None
        if table.shape[1] != columns or len(table) != _lines(text):
            raise _locate(text, columns, None, line)
    return table


def precise_columns(text: bytes, table: NDArray[np.float32], columns: slice) -> NDArray[np.floating]:
    """Columns of a table parsed from ``text``; in double precision where single would lose millimetres."""
    rounded = table[:, columns]
    if not len(rounded) or not np.abs(rounded).max() > PRECISE:  # NaN stays as it is
        return rounded
    names = range(*columns.indices(table.shape[1]))
    return np.loadtxt(io.BytesIO(text), delimiter=",", ndmin=2, comments=None, usecols=tuple(names))


def _parse_quickly(text: bytes, columns: int) -> NDArray[np.float32] | None:
    """The table by pyarrow; None where it is not installed, or the text is anything but plain finite numbers."""
    try:
        import pyarrow
        from pyarrow import csv
    except ImportError:
        return None
    names = [str(column) for column in range(columns)]
    try:
        cells = csv.read_csv(
            pyarrow.BufferReader(text),
            csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            csv.ParseOptions(quote_char=False, double_quote=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.float64()), null_values=[]),
        )
    except pyarrow.ArrowInvalid:
        return None
    # What it reads otherwise than Python does (a lone carriage return, nan(1)) shows in the count or is not finite.
    if b"\r" in text and cells.num_rows != _lines(text):
        return None
    table = np.empty((columns, cells.num_rows), np.float32)
    with np.errstate(over="ignore"):
        for row, numbers in zip(table, cells.columns, strict=True):
            row[:] = numbers.to_numpy()
    return np.ascontiguousarray(table.T) if np.isfinite(table).all() else None


def _lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _locate(text: bytes, columns: int, error: Exception | None, first: int) -> InputError:
    """Name the first line of ``text`` that is not ``columns`` numbers."""
    begin = text[:4096].lstrip()
    if begin.startswith((b"(dp", b"(lp")):
        return InputError("a pickle written as text", fix="Save it with protocol 2 or later.", code="bad_pickle")
    other = next((sign for sign in (b";", b"\t") if sign in begin.split(b"\n", 1)[0]), None)
    if other is not None:
        what = "columns are separated by semicolons" if other == b";" else "columns are separated by tabs"
        fix = "Save it with commas between columns and decimal points."
        return InputError(what, expected="commas", fix=fix, code="not_a_number")
    lines = text.removesuffix(b"\n").split(b"\n")
    for number, line in enumerate(lines, start=first):
        cells = line.rstrip(b"\r").split(b",")
        last = number - first + 1 == len(lines)
        if len(cells) != columns:
            return InputError(
                f"line {number} has a different number of columns" + (" (the last line: truncated?)" if last else ""),
                expected=columns,
                got=len(cells),
                fix="Download it again." if last else None,
                code="truncated" if last and number > first else "ragged_csv",
            )
        for column, cell in enumerate(cells, start=1):
            try:
                float(cell)
            except ValueError:
                shown = cell.strip().decode("utf-8", errors="replace")[:30]
                return InputError(
                    f"line {number}, column {column} is not a number", got=f"'{shown}'", code="not_a_number"
                )
    return InputError(f"not a table of numbers: {error}", code="not_a_number")
