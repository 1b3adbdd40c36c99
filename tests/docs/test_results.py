"""What README and documentation say was measured is what lies in results/."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    sys.modules.pop("tables", None)


def test_tables_are_what_the_stored_results_say() -> None:
    from tables import MARKED, all_tables, filled, pages  # type: ignore[import-not-found]

    tables, texts = all_tables(), {page: page.read_text() for page in pages()}
    assert [page.name for page, text in texts.items() if text != filled(text, tables)] == [], "run `make results`"
    shown = {mark[1] for text in texts.values() for mark in MARKED.findall(text)}
    assert set(tables) <= shown, "results that no page shows"


def test_a_mark_takes_the_table_it_names_and_nothing_else() -> None:
    from tables import filled

    text = "a\n<!-- table: x -->\nold\n<!-- end of table -->\nb <!-- table: y -->\n<!-- end of table -->"
    made = filled(text, {"x": "| 1 |\n", "y": "| 2 |\n"})
    assert made == text.replace("old", "\n| 1 |\n").replace("y -->\n", "y -->\n\n| 2 |\n\n")
    with pytest.raises(KeyError):
        filled(text, {"x": ""})


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]), ids=lambda page: page.name)
def test_pictures_and_pages_that_are_linked_exist(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert [target for target in missing if not target.startswith("reference/")] == []
