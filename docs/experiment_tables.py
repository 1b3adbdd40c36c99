"""Tables and figures of stored experiments for the results page, for the pages that show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pfmhr.experiments.figures import draw_curves, draw_dots
from pfmhr.experiments.wording import reached, saved, spread, verdict_in_words
from pfmhr.report import paper
from pfmhr.report.experiments import HORIZONS, SAME, horizon_lines, radars
from pfmhr.report.figures import radar_figure


def experiment_table(summary: dict[str, Any]) -> str:
    """Rows, episodes of several lengths if there were, verdicts, and what it took."""
    verdicts = "".join(f"- {verdict_in_words(each, summary['plain'])}\n" for each in summary["verdicts"])
    cells, hours = summary["cells"], summary["core_hours"]
    made = f"\n{cells['finished']} of {cells['all']} runs, {hours:.1f} core-hours; `{summary['command']}`\n"
    lengths = horizon_lines(summary["rows"])
    tables = [table(summary), *([_markdown(HORIZONS, lengths)] if lengths else [])]
    return "\n".join([*tables, verdicts + made])


def draw_experiment(summary: dict[str, Any], stem: Path, wanted: Callable[[Path], bool]) -> None:
    """Those of its figures that are wanted: dots, curves, and radar charts if there are methods and skills enough."""
    drawings: dict[str, Callable[[Path], None]] = {
        "": lambda path: draw_dots(summary, path),
        "_curves": lambda path: draw_curves(summary, path),
    }
    for title, scores in radars(summary["rows"]).items():
        drawings[f"_{title.lower()}"] = partial(radar_figure, scores=scores, title=title)
    for ending, draw in drawings.items():
        path = stem.with_name(f"{stem.name}{ending}.png")
        if wanted(path):
            draw(path)


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
