"""Numbers out of csv text: one fast scanner, one careful fallback, one clear error."""

from __future__ import annotations

import ctypes
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.native import load_library

_BLANK = (b" ", b"\t", b"\r", b"\n", b"\0")
PRECISE = 1000.0
"""From this number on float32 has steps of more than 0.00006."""
NATIVE_LIBRARY = Path(__file__).with_name("_table.so")


def first_line(text: bytes) -> str:
    """The first line, without its line ending."""
    return text[: 2**16].split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", errors="replace")


def parse_table(text: bytes, native: bool = True, line: int = 1) -> NDArray[np.float32]:
    """A rectangular table of comma-separated numbers, shape ``(rows, columns)`` float32.

    Args:
        native: use the compiled scanner if it was built; the result is the same without it.
        line: number of the text's first line in its file, for messages.

    Raises:
        InputError: naming the first line that does not fit.
    """
    if text[-2:].removesuffix(b"\n")[-1:] in _BLANK:  # more than one plain newline at the end
        text = text.rstrip(b" \t\r\n\0")
    if not text.rstrip(b"\n"):
        raise InputError("no rows of numbers", code="too_short")
    columns = first_line(text).count(",") + 1
    table = _parse_native(text, columns) if native else None
    if table is None:
        try:
            precise = np.loadtxt(io.BytesIO(text), delimiter=",", dtype=np.float64, ndmin=2, comments=None)
            with np.errstate(over="ignore"):  # becomes infinite, as in the compiled scanner
                table = precise.astype(np.float32)
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


def native_parser() -> ctypes.CDLL | None:
    """The compiled scanner, or None where the package was built without a C compiler."""
    library = load_library(NATIVE_LIBRARY)
    if library is not None:
        library.pfmhr_parse_table.restype = ctypes.c_long
        library.pfmhr_parse_table.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_long,
            ctypes.c_void_p,
            ctypes.c_long,
        ]
    return library


def _parse_native(text: bytes, columns: int) -> NDArray[np.float32] | None:
    library = native_parser()
    if library is None:
        return None
    # A cell takes at least two characters, so this is room enough; pages never written cost nothing.
    most = len(text) // (2 * columns) + 1
    table = np.empty((most, columns), dtype=np.float32)
    rows = library.pfmhr_parse_table(text, len(text), columns, table.ctypes.data, most)
    return table[:rows] if rows > 0 else None


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
