"""The judge finds what it is there to find: each fault is planted once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pfmhr.errors import InputError
from tests.fuzz.judging import LONGEST_MESSAGE, judge


def refuses(_: Path) -> str | None:
    raise InputError("no clip", where="a.npz", expected="frames", got="nothing", code="empty")


def raises(_: Path) -> str | None:
    return str({}["frames"])


def never_ends(_: Path) -> str | None:
    while True:
        pass


def swallows_the_end_of_memory(_: Path) -> str | None:
    try:
        raise MemoryError
    except Exception as error:
        raise InputError(f"damaged: {error}", code="damaged") from error


def swallows_a_warning(_: Path) -> str | None:
    try:
        np.array([1e300]).astype(np.float32)
    except Exception as error:
        raise InputError("damaged", code="damaged") from error
    return None


def warns(_: Path) -> str | None:
    warnings.warn("odd", RuntimeWarning, stacklevel=1)
    return None


def prints(_: Path) -> str | None:
    print("reading")
    return None


def obeys_the_file(_: Path) -> str | None:
    error = InputError("no clip", code="empty")
    error.args = ("no clip '\x1b[2J'",)
    raise error


def talks_without_end(_: Path) -> str | None:
    error = InputError("no clip", code="empty")
    error.args = ("x" * (LONGEST_MESSAGE + 1),)
    raise error


def names_no_code(_: Path) -> str | None:
    raise InputError("no clip", code="No Clip")


def loads_too_much(_: Path) -> str | None:
    return "fps nan"


PLANTED: dict[Callable[[Path], str | None], str] = {
    raises: "KeyError",
    never_ends: "too slow",
    swallows_the_end_of_memory: "MemoryError",
    swallows_a_warning: "RuntimeWarning",
    warns: "RuntimeWarning",
    prints: "stdout",
    obeys_the_file: "cannot be printed",
    talks_without_end: "characters",
    names_no_code: "no code",
    loads_too_much: "fps nan",
}


@pytest.mark.parametrize("read", PLANTED, ids=lambda read: read.__name__)
def test_a_planted_fault_is_found(read: Callable[[Path], str | None], tmp_path: Path) -> None:
    verdict = judge(read, tmp_path, seconds=0.2)
    assert verdict.outcome == "found"
    assert PLANTED[read] in verdict.detail


def test_a_clear_refusal_and_a_plain_load_are_none(tmp_path: Path) -> None:
    assert judge(refuses, tmp_path).outcome == "refused"
    assert judge(lambda _: None, tmp_path).outcome == "loaded"
