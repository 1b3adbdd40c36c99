"""What README and documentation say was measured is what lies in results/."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    sys.modules.pop("readme_table", None)


def test_the_readmes_table_is_what_the_stored_results_say() -> None:
    from readme_table import readme_with_results  # type: ignore[import-not-found]

    assert (ROOT / "README.md").read_text() == readme_with_results(), "run `make results`"


def test_pictures_and_pages_the_readme_links_to_exist() -> None:
    import re

    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    assert len(targets) > 5
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert not missing
