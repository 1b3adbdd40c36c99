"""What the tutorial and the guides show works as shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.docs.snippets import PAGES, alike, assert_shown, name_of, run_console, run_page, snippets

NOT_RUN: dict[str, list[str]] = {
    # BONES-SEED is 60 million poses that are not ours to ship, and torchrun starts processes on GPUs.
    "howto/sixty-million-poses.md": [
        "$ pfmhr corpus build corpora/seed bones-seed/ --category-from metadata --unmirrored",
        "$ torchrun --nproc-per-node 8 -m pfmhr prior train corpora/seed -o runs/prior --preset paper \\",
    ],
}
"""First lines of the blocks that cannot run here, and why."""


@pytest.fixture(autouse=True)
def few_threads() -> Iterator[None]:
    """Commands choose torch's threads; what they leave behind is no business of other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_has_something_to_run_in_a_language_that_is_run(page: Path) -> None:
    found = list(snippets(page))
    assert {snippet.kind for snippet in found} <= {"python", "console", "text", "{include}"}
    assert any(snippet.runs and snippet.kind in ("python", "console") for snippet in found)


def test_blocks_that_are_not_run_are_few_and_named() -> None:
    marked = {name_of(page): [s.body.splitlines()[0] for s in snippets(page) if not s.runs] for page in PAGES}
    assert {page: lines for page, lines in marked.items() if lines} == NOT_RUN


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        ("walk 0.93", "walk   0.93", True),
        ("walk 0.93", "walk 0.95", True),
        ("walk 0.93", "walk 0.80", False),
        ("walk 0.93", "run 0.93", False),
        ("walk 0.93", "walk 0.93 m", False),
        ("walk 0.93 …", "walk 0.93 m and more", True),
        ("2,016 poses", "2,016 poses", True),
        ("2,016 poses", "2,500 poses", False),
        ("(29,) −0.70", "(29,) -0.70", True),
        ("9 of 10", "9 of 11", False),
    ],
)
def test_shown_numbers_are_the_printed_ones(shown: str, real: str, same: bool) -> None:
    assert alike(shown, real) is same


def test_shown_lines_come_in_order() -> None:
    assert_shown("one\nthree\n", "one\ntwo\nthree\n", "here")
    with pytest.raises(AssertionError, match="here: shows\none"):
        assert_shown("three\none\n", "one\ntwo\nthree\n", "here")


def test_a_command_that_fails_or_says_something_else_is_found() -> None:
    with pytest.raises(AssertionError, match="not a tracking run"):
        run_console("$ pfmhr track eval nowhere\n", "here")
    with pytest.raises(AssertionError, match="but this was printed"):
        run_console("$ pfmhr --version\nsomething else\n", "here")
