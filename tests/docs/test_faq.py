"""The page of bad inputs lists every error code there is, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pfmhr
from tests.docs.snippets import DOCS

INTERNAL: set[str] = set()
"""Codes that no user meets; each with its reason."""
MADE_UP = {"f\"bad_{kind.replace(' ', '_')}\"": {"bad_prior", "bad_distance_field"}}
"""Codes that are put together: expressions in the source, and what comes out."""


def codes_in(tree: ast.AST) -> Iterator[str]:
    """Codes of the errors a file raises: ``code=`` of InputError, also where it is one of two, and the default."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InputError"):
            continue
        given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        choices = [branch for value in given for branch in _branches(value)] or [ast.Constant("bad_input")]
        yield from (choice.value for choice in choices if isinstance(choice, ast.Constant))


def _branches(value: ast.expr) -> list[ast.expr]:
    return [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]


def source_codes() -> set[str]:
    found: set[str] = set()
    for file in Path(pfmhr.__file__).parent.rglob("*.py"):
        text = file.read_text()
        found |= set(codes_in(ast.parse(text)))
        for expression, codes in MADE_UP.items():
            found |= codes if expression in text else set()
    return found


def listed_codes() -> list[str]:
    rows = re.findall(r"^\| (`[^|]*`) \|", (DOCS / "faq.md").read_text(), flags=re.MULTILINE)
    return [code for row in rows for code in re.findall(r"`(\w+)`", row)]


def test_every_code_of_the_source_is_listed_and_every_listed_one_exists() -> None:
    listed = set(listed_codes())
    assert listed - source_codes() == set()
    assert source_codes() - listed - INTERNAL == set()
    assert not listed & INTERNAL and len(INTERNAL) <= 5


def test_no_code_is_listed_twice() -> None:
    listed = listed_codes()
    assert len(listed) == len(set(listed)) > 60


def test_codes_are_found_wherever_they_stand() -> None:
    text = """
raise InputError("a", code="one")
raise InputError("b", code="two" if late else "three")
raise InputError("c")
raise ValueError("d", code="four")
raise InputError("e", code=code)
"""
    assert sorted(codes_in(ast.parse(text))) == ["bad_input", "one", "three", "two"]
