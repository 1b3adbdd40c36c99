"""Snippets of documentation pages: found, run in order in one namespace and folder, compared with what they show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from pfmhr.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]

_FENCE = re.compile(r"^```(?P<head>\S[^\n]*)\n(?P<body>.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"[-−+]?\d[\d,]*(?:\.\d+)?")
_NOT_RUN = ":class: not-run"


@dataclass(frozen=True)
class Snippet:
    """One fenced block of a page."""

    kind: str
    """python, console or text (what the block before it prints)."""
    body: str
    runs: bool
    line: int


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS))


def snippets(page: Path) -> Iterator[Snippet]:
    """All fenced blocks of a page; ``{code-block} KIND`` with ``:class: not-run`` is one that cannot run here."""
    text = page.read_text()
    for found in _FENCE.finditer(text):
        head, body = found["head"].removeprefix("{code-block} ").split()[0], found["body"]
        runs = not body.startswith(f"{_NOT_RUN}\n")
        yield Snippet(
            head, body.removeprefix(f"{_NOT_RUN}\n").lstrip("\n"), runs, text[: found.start()].count("\n") + 1
        )


def run_page(page: Path) -> None:
    """Run a page's blocks from top to bottom in the current folder; fail where one does or shows something else."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for snippet in snippets(page):
        where = f"{name_of(page)}:{snippet.line}"
        if not snippet.runs:
            continue
        if snippet.kind == "python":
            printed = run_python(snippet.body, names, where)
        elif snippet.kind == "console":
            run_console(snippet.body, where)
        elif snippet.kind == "text":
            assert_shown(snippet.body, printed, where)


def run_python(body: str, names: dict[str, Any], where: str) -> str:
    """Run a block; returns what it printed."""
    output = StringIO()
    with redirect_stdout(output):
        exec(compile(body, where, "exec"), names)
    return output.getvalue()


def run_console(body: str, where: str) -> None:
    """Run the ``$ pfmhr`` lines of a block, each followed by lines of its output."""
    commands = re.split(r"^\$ ", body, flags=re.MULTILINE)
    assert not commands[0].strip(), f"{where}: output before a command"
    for command in commands[1:]:
        line, _, shown = command.replace("\\\n", " ").partition("\n")
        words = shlex.split(line, comments=True)
        assert words[0] == "pfmhr", f"{where}: {words[0]} is no command of the project"
        output = StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            code = main(words[1:])
        # A check that finds faults says so with 1; that is what it is shown for.
        assert code in ((0, 1) if words[1] == "check" else (0,)), f"{where}: {line}\n{output.getvalue()}"
        assert_shown(shown, output.getvalue(), where)


def assert_shown(shown: str, printed: str, where: str) -> None:
    """Every shown line is among the printed ones, in order."""
    left = iter(printed.splitlines())
    for line in filter(str.strip, shown.splitlines()):
        assert any(alike(line, real) for real in left), f"{where}: shows\n{line}\nbut this was printed:\n{printed}"


def alike(shown: str, real: str) -> bool:
    """Equal words, and numbers equal within a twentieth or two of the last digit; ``…`` stands for the rest."""
    words, others = shown.split(), real.split()
    if "…" in words:
        words = words[: words.index("…")]
        others = others[: len(words)]
    return len(words) == len(others) and all(map(_same, words, others))


def _same(word: str, other: str) -> bool:
    if _NUMBER.sub("#", word) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(word), _NUMBER.findall(other), strict=True)
    return all(abs(_value(one) - _value(two)) <= max(0.05 * abs(_value(one)), 2 * _digit(one)) for one, two in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _digit(number: str) -> float:
    """The worth of the last digit of a number with a point; whole numbers are exact but for the twentieth."""
    return 10.0 ** -len(number.partition(".")[2]) if "." in number else 0.0
