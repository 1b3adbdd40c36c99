"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from pfmhr.results.columns import Line, as_cells, heads


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of its cells."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))


def markdown_of(table: Sequence[Line]) -> str:
    """A table of rows by column."""
    return markdown(heads(table), as_cells(table))
