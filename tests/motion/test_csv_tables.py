"""Numbers out of csv text: pyarrow, numpy and Python's float agree on every table."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.motion.source import load_bytes
from pfmhr.motion.tables import QUICK_BYTES, parse_table

pytest.importorskip("pyarrow.csv")

SIGN = st.sampled_from(["", "+", "-"])
DIGITS = st.text("0123456789", min_size=1, max_size=25)
EXPONENT = st.builds("{}{}{}".format, st.sampled_from("eE"), SIGN, st.integers(0, 60))
NUMBER = st.one_of(
    st.floats(allow_nan=False, width=32).map(repr),
    st.floats(allow_nan=False, min_value=-1e30, max_value=1e30).map(repr),
    st.floats(-4, 4).map("{:.6f}".format),
    st.integers(-(10**20), 10**20).map(str),
    st.builds("{}{}.{}{}".format, SIGN, DIGITS, DIGITS | st.just(""), EXPONENT | st.just("")),
    st.builds("{}.{}".format, SIGN, DIGITS),
)
SPACE = st.sampled_from(["", "", " ", "\t", "  "])
CELL = st.builds("{}{}{}".format, SPACE, NUMBER, SPACE)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    columns = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(CELL, min_size=columns, max_size=columns), min_size=1, max_size=4))


@pytest.mark.parametrize("quick", [True, False], ids=["pyarrow", "numpy"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@given(cells=tables())
@example(cells=[["1e-05", "-2.5E+3", "+.5", "7."]])
@example(cells=[["0.1234567890123456789012345", "12345678901234567890123", "-0.0", "1e400"]])
@example(cells=[["9007199254740993", "0.30000000000000004", "123456789012345", "1234567890123456"]])
@example(cells=[["1.17549435e-38", "1.4e-45", "3.4028236e38", "-inf"]])
def test_every_number_is_the_nearest_float32_to_pythons_float(
    cells: list[list[str]], newline: str, quick: bool
) -> None:
    text = newline.join(",".join(row) for row in cells).encode()
    with np.errstate(over="ignore"):
        expected = np.array([[float(cell) for cell in row] for row in cells]).astype(np.float32)
        table = parse_table(text, quick=quick)
    assert table.dtype == np.float32
    assert np.array_equal(table, expected)
    assert np.array_equal(np.signbit(table), np.signbit(expected))


@given(st.text(",,,..+-eE \t\n\r\v\f0123456789naif_x", max_size=30))
@example("1,2\n\n3,4")
@example("1,\n2\n3,4")
@example("1,2\n3,\n4\n")
@example("\n1,2")
@example("1\n\n")
@example("0x10,2")
@example("nan(1),2")
@example("1,2\r3,4")
@example("1_0,2")
@example("1,\v2")
def test_pyarrow_and_numpy_accept_the_same_texts(text: str) -> None:
    verdicts = []
    for quick in (True, False):
        try:
            with np.errstate(over="ignore"):
                verdicts.append(parse_table(text.encode(), quick=quick).tolist())
        except InputError as error:
            verdicts.append(error.code)
    assert str(verdicts[0]) == str(verdicts[1])  # as text: NaN is not equal to itself


@pytest.mark.parametrize("quick", [True, False], ids=["pyarrow", "numpy"])
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("1,2\n3,4\n5\n6,7", "ragged_csv", "line 3 has a different number of columns (expected 2, got 1)"),
        ("1,2\n3,4,5\n6,7", "ragged_csv", "line 2 has a different number of columns (expected 2, got 3)"),
        ("1,2\n3,4\n5", "truncated", "line 3 has a different number of columns (the last line: truncated?)"),
        ("1,2\n3,four\n5,6", "not_a_number", "line 2, column 2 is not a number (got 'four')"),
        ("1,2\n3,\n5,6", "not_a_number", "line 2, column 2 is not a number (got '')"),
        ("1,2\n\n5,6", "ragged_csv", "line 2 has a different number of columns (expected 2, got 1)"),
        ("1,2\n3,\n4\n5,6", "not_a_number", "line 2, column 2 is not a number (got '')"),
    ],
)
def test_the_first_line_that_does_not_fit_is_named(text: str, code: str, words: str, quick: bool) -> None:
    with pytest.raises(InputError) as caught:
        parse_table(text.encode(), quick=quick)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_nan_and_infinity_are_numbers() -> None:
    table = parse_table(b"nan,inf\n-inf,1")
    assert np.isnan(table[0, 0])
    assert table[0, 1] == np.inf
    assert table[1].tolist() == [-np.inf, 1]


def test_without_pyarrow_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"0.1,2\n-3e-2,4\n" * (QUICK_BYTES // 8)
    with_pyarrow = parse_table(text)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert np.array_equal(parse_table(text), with_pyarrow)


@pytest.mark.parametrize("at", [-1, -5, 20], ids=["length", "checksum", "content"])
@pytest.mark.parametrize("library", ["isal", "zlib"])
def test_damaged_gzip_is_damaged_for_every_library(
    library: str, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library == "zlib":
        monkeypatch.setattr("pfmhr.motion.source.gzip_zlib", zlib)
    content = bytearray(gzip.compress(b"1,2\n" * 1000))
    (tmp_path / "sound.csv.gz").write_bytes(content)
    assert load_bytes(tmp_path / "sound.csv.gz") == b"1,2\n" * 1000
    content[at] ^= 1
    (tmp_path / "damaged.csv.gz").write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_bytes(tmp_path / "damaged.csv.gz")
    assert caught.value.code == "truncated"
