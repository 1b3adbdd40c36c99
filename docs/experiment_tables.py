"""Tables and figures of stored experiments for the results page, made whenever the documentation is built."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfmhr.experiments.figures import draw_curves, draw_dots
from pfmhr.experiments.wording import reached, saved, spread, verdict_in_words
from pfmhr.report import paper
from pfmhr.report.experiments import HORIZONS, SAME, horizon_lines, radars
from pfmhr.report.figures import radar_figure


def write_experiments(results: Path, folder: Path) -> None:
    """Per results/experiment_*.json its tables and figures in ``folder``."""
    for path in sorted(results.glob("experiment_*.json")):
        summary = json.loads(path.read_text())
        verdicts = "".join(f"- {verdict_in_words(each, summary['plain'])}\n" for each in summary["verdicts"])
        cells, hours = summary["cells"], summary["core_hours"]
        made = f"\n{cells['finished']} of {cells['all']} runs, {hours:.1f} core-hours; `{summary['command']}`\n"
        lengths = horizon_lines(summary["rows"])
        tables = [table(summary), *([_markdown(HORIZONS, lengths)] if lengths else [])]
        (folder / f"{path.stem}.md").write_text("\n".join([*tables, verdicts + made]))
        draw_dots(summary, folder / f"{path.stem}.png")
        draw_curves(summary, folder / f"{path.stem}_curves.png")
        for title, scores in radars(summary["rows"]).items():
            radar_figure(folder / f"{path.stem}_{title.lower()}.png", scores, title)


def table(summary: dict[str, Any]) -> str:
    """Markdown: a line per skill, action space and method."""
    head = ["skill", "actions", "method", "seeds", "M samples to 80 %", "less than plain", "paper, M"]
    head += ["success %", "from t = 0", "at 0.5 m", "E_pos mm", "E_rot rad", "body mm", "minutes"]
    return _markdown(head, [_line(row) for row in summary["rows"]])


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))


def said(skill: str, method: str) -> str:
    """What the paper has for it."""
    numbers = paper.SAMPLES.get(skill, {})
    if SAME.get(method) not in numbers:
        return "–"
    found = numbers[SAME[method]]
    return "Failed" if found is None else f"{found[0]:.1f} ± {found[1]:.1f}"


def _line(row: dict[str, Any]) -> list[str]:
    return [
        *(row["skill"], row["actions"], row["method"], str(row["seeds"]), reached(row), saved(row)),
        said(row["skill"], row["method"]),
        *(spread(row, key, 1, 100.0) for key in ("success", "success_beginning", "success_strict")),
        *(spread(row, "position_error", 1, 1000.0), spread(row, "rotation_error", 3)),
        *(spread(row, "body_error", 1, 1000.0), spread(row, "minutes", 0)),
    ]
