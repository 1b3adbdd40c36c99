"""Tables and figures of stored experiments for the results page, made whenever the documentation is built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pfmhr.experiments.figures import draw_curves, draw_dots
from pfmhr.experiments.wording import reached, saved, spread, verdict_in_words
from pfmhr.report import paper

METHODS = {"add": "none", "pdf": "pdf", "pfm": "pfm"}
"""Ours and the paper's names of the same method."""


def write_experiments(results: Path, folder: Path) -> None:
    """Per results/experiment_*.json a table and two figures in ``folder``."""
    for path in sorted(results.glob("experiment_*.json")):
        summary = json.loads(path.read_text())
        verdicts = "".join(f"- {verdict_in_words(each, summary['plain'])}\n" for each in summary["verdicts"])
        cells, hours = summary["cells"], summary["core_hours"]
        made = f"\n{cells['finished']} of {cells['all']} runs, {hours:.1f} core-hours; `{summary['command']}`\n"
        (folder / f"{path.stem}.md").write_text(f"{table(summary)}\n{verdicts}{made}")
        draw_dots(summary, folder / f"{path.stem}.png")
        draw_curves(summary, folder / f"{path.stem}_curves.png")


def table(summary: dict[str, Any]) -> str:
    """Markdown: a line per skill, action space and method."""
    head = ["skill", "actions", "method", "seeds", "M samples to 80 %", "less than plain", "paper, M"]
    head += ["success %", "from t = 0", "at 0.5 m", "E_pos mm", "E_rot rad", "body mm", "minutes"]
    lines = [head, ["---"] * len(head), *(_line(row) for row in summary["rows"])]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def said(skill: str, method: str) -> str:
    """What the paper has for it."""
    numbers = paper.SAMPLES.get(skill, {})
    if METHODS.get(method) not in numbers:
        return "–"
    found = numbers[METHODS[method]]
    return "Failed" if found is None else f"{found[0]:.1f} ± {found[1]:.1f}"


def _line(row: dict[str, Any]) -> list[str]:
    return [
        *(row["skill"], row["actions"], row["method"], str(row["seeds"]), reached(row), saved(row)),
        said(row["skill"], row["method"]),
        *(spread(row, key, 1, 100.0) for key in ("success", "success_beginning", "success_strict")),
        *(spread(row, "position_error", 1, 1000.0), spread(row, "rotation_error", 3)),
        *(spread(row, "body_error", 1, 1000.0), spread(row, "minutes", 0)),
    ]
