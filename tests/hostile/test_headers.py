"""Headers of our own files: another format, another version, or nothing of the kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.foreign import require_header


def test_a_header_that_fits_is_passed_on() -> None:
    content = {"format": "ours", "version": 2, "more": 1}
    assert require_header(content, "a thing", "ours", (1, 2), where="x", code="bad_thing") is content
    assert require_header({"format": "ours"}, "a thing", "ours", where="x", code="bad_thing") == {"format": "ours"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([1], "x: not a thing (expected ours, got list)"),
        ({}, "x: not a thing (expected ours)"),
        ({"format": "theirs"}, "x: not a thing (expected ours, got theirs)"),
        ({"format": "ours"}, "x: unknown version of a thing (expected 1 or 2)"),
        ({"format": "ours", "version": 0}, "x: unknown version of a thing (expected 1 or 2, got 0)"),
        (
            {"format": "ours", "version": 3},
            "x: unknown version of a thing (expected 1 or 2, got 3). A newer pfmhr wrote this; update yours.",
        ),
    ],
)
def test_another_header_is_told_with_what_was_expected(content: Any, told: str) -> None:
    with pytest.raises(InputError) as refused:
        require_header(content, "a thing", "ours", (1, 2), where=Path("x"), code="bad_thing")
    assert (str(refused.value), refused.value.code) == (told, "bad_thing")
