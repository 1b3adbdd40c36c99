"""Tables and figures of stored experiments for the results page, for the pages that show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pfmhr.experiments.figures import draw_curves, draw_dots
from pfmhr.experiments.wording import reached, saved, spread, verdicts_in_words
from pfmhr.report import paper
from pfmhr.report.experiments import HORIZONS, SAME, horizon_lines, radars
from pfmhr.report.figures import radar_figure

NAMES = ("skill", "actions", "method", "seeds")
LEARNING = (*NAMES, "M samples to 80 %", "less than plain", "paper, M", "success % at ¼ / ½ / ¾ / all", "minutes")
END = (
    *(*NAMES, "success %", "from t = 0", "at 0.5 m"),
    *("E_pos mm", "paper, mm", "E_rot rad", "paper, rad", "body mm"),
)


def experiment_table(summary: dict[str, Any]) -> str:
    """How it was learned, what came of it, episodes of several lengths if there were, verdicts, and what it took."""
    rows, lengths = summary["rows"], horizon_lines(summary["rows"])
    tables = [markdown(LEARNING, [_learning(row) for row in rows]), markdown(END, [_end(row) for row in rows])]
    tables += [markdown(HORIZONS, lengths)] if lengths else []
    said = verdicts_in_words(summary)
    said += [f"`{name}` failed: {why}" for name, why in summary.get("failed", {}).items()]
    cells, hours = summary["cells"], summary["core_hours"]
    made = f"{cells['finished']} of {cells['all']} runs, {hours:.1f} core-hours; `{summary['command']}`\n"
    return "\n".join([*tables, "".join(f"- {each}\n" for each in said), made])


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


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of its cells."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))


def said(numbers: dict[str, dict[str, paper.Number]], row: dict[str, Any], digits: int = 1, unit: float = 1.0) -> str:
    """What a table of the paper has for a row's skill and method."""
    known = numbers.get(row["skill"], {})
    if SAME.get(row["method"]) not in known:
        return "–"
    found = known[SAME[row["method"]]]
    return "Failed" if found is None else f"{unit * found[0]:.{digits}f} ± {unit * found[1]:.{digits}f}"


def _learning(row: dict[str, Any]) -> list[str]:
    success = " / ".join(f"{100 * each['success']:.0f}" for each in row["success_at"])
    return [*_names(row), reached(row), saved(row), said(paper.SAMPLES, row), success, spread(row, "minutes", 0)]


def _end(row: dict[str, Any]) -> list[str]:
    """Errors are of what was tracked; of a policy that never tracked 80 % the paper gives none, and nor do we."""
    success = [spread(row, key, 1, 100.0) for key in ("success", "success_beginning", "success_strict")]
    errors = [("position_error", 1, 1000.0), ("rotation_error", 3, 1.0), ("body_error", 1, 1000.0)]
    position, rotation, body = (spread(row, *each) if row["converged"] else "–" for each in errors)
    theirs = said(paper.POSITION, row, 0, 1000.0), said(paper.ROTATION, row, 3)
    return [*_names(row), *success, position, theirs[0], rotation, theirs[1], body]


def _names(row: dict[str, Any]) -> list[str]:
    return [row["skill"], row["actions"], row["method"], str(row["seeds"])]
