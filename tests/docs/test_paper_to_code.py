"""The map from the paper to the code names what exists, and leaves nothing of the paper out."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.snippets import DOCS

ROOT = DOCS.parent
TEXT = (DOCS / "paper-to-code.md").read_text()
EQUATIONS, TABLES, FIGURES = 65, 9, 7
"""How many the paper has, its supplement included."""


@dataclass(frozen=True)
class Row:
    """A line of the map."""

    paper: str
    names: tuple[str, ...]
    file: str
    test: str


def rows() -> list[Row]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("|")
    ]
    found = [Row(c[0], tuple(re.findall(r"`([^`]+)`", c[2])), c[3].strip("`"), c[4].strip("`")) for c in cells]
    return [row for row in found if row.names]


def numbers(kind: str) -> set[int]:
    """Equations stand alone in their cell; tables and figures after their word."""
    pattern = r"\d+(?:, \d+)*" if kind == "equation" else rf"{kind}s? (\S+(?:, \d+)*)"
    matches = [re.fullmatch(pattern, row.paper) for row in rows()]
    texts = [match[match.lastindex or 0] for match in matches if match]
    roman = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9}
    return {roman.get(part) or int(part) for text in texts for part in text.split(", ")}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.paper)
def test_a_row_names_what_exists(row: Row) -> None:
    module = importlib.import_module("pfmhr." + row.file.removesuffix(".py").replace("/", "."))
    for name in row.names:
        found: object = module
        for part in name.split("."):
            hints = getattr(found, "__annotations__", {})
            assert hasattr(found, part) or part in hints, f"{name} is not in {row.file}"
            found = getattr(found, part, None)
        own = getattr(module, name.split(".")[0])
        assert getattr(own, "__module__", module.__name__) == module.__name__, (
            f"{name} is only imported into {row.file}"
        )


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.paper)
def test_a_row_names_a_test_that_exists(row: Row) -> None:
    file, _, name = row.test.partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text())
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    assert name in tests if name else tests


def test_nothing_of_the_paper_is_left_out() -> None:
    assert numbers("equation") == set(range(1, EQUATIONS + 1))
    assert numbers("Table") == set(range(1, TABLES + 1))
    assert numbers("Figure") == set(range(1, FIGURES + 1))


def test_files_named_in_the_text_exist() -> None:
    named = re.findall(r"`([\w/]+\.py)`", TEXT)
    assert named and all((ROOT / "src" / "pfmhr" / file).exists() for file in named)


def equations_of(path: Path) -> set[int]:
    """Equation numbers a source file speaks of."""
    return {
        int(number) for text in re.findall(r"Eq\. ([\d–, ]+)", path.read_text()) for number in re.findall(r"\d+", text)
    }


def test_equation_numbers_in_the_source_are_those_of_the_map() -> None:
    """A file that speaks of an equation is in one of its rows, or uses one that is."""
    mapped: dict[int, set[str]] = {}
    for row in rows():
        for number in re.findall(r"\d+", row.paper) if re.fullmatch(r"\d+(?:, \d+)*", row.paper) else ():
            mapped.setdefault(int(number), set()).add(row.file.split("/")[0])
    package = ROOT / "src" / "pfmhr"
    for path in package.rglob("*.py"):
        part = path.relative_to(package).parts[0]
        for number in equations_of(path):
            assert part in mapped[number] | {"studies", "report", "viewer"}, f"{path.name} speaks of Eq. {number}"
