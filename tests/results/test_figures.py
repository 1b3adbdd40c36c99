"""What the figures of an experiment show, read off their axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pfmhr.results import figures
from pfmhr.results.summary import Cells, Row, Summary


def row(method: str, needed: dict[int, float | None]) -> Row:
    seeds, samples = tuple(needed), tuple(needed.values())
    about = {"skill": "walk", "actions": "residual", "method": method}
    return Row(**about, seed_numbers=seeds, samples_to_80=samples, budget=3.0)


def summary(*rows: Row) -> Summary:
    return Summary(name="stubs", plain="add", cells=Cells(finished=1, all=1), rows=rows, verdicts=())


def test_runs_of_one_seed_are_joined_and_runs_that_never_got_there_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(figures, "save_figure", lambda figure, path, dpi: drawn.append(figure))
    rows = (row("add", {0: 1.0, 1: 1.2, 2: None}), row("pfm", {1: 1.1, 0: 0.9, 2: 2.0}), row("pdf", {5: 1.5}))
    figures.draw_dots(summary(*rows), Path("dots.png"))
    axis = drawn[0].axes[0]
    joined = {tuple(line.get_ydata()) for line in axis.lines if line.get_color() == "0.8" and len(line.get_xdata()) > 1}
    assert joined == {(1.0, 0.9), (1.2, 1.1)}  # seed 2 got there with one method, seed 5 was run with one
    assert [text.get_text() for text in axis.texts] == ["1 never"]
