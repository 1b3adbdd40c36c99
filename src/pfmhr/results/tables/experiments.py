"""Tables and figures of one stored experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pfmhr.results import paper
from pfmhr.results.figures import draw_curves, draw_dots, draw_radar, radars
from pfmhr.results.summary import Row, Summary
from pfmhr.results.tables.markdown import markdown
from pfmhr.results.wording import NONE, figure, reached, saved, theirs, verdicts_in_words

NAMES = ("skill", "actions", "method", "seeds")
LEARNING = (*NAMES, "M samples to 80 %", "less than plain", "paper, M", "success % at ¼ / ½ / ¾ / all", "minutes")
END = (
    *NAMES,
    "success %",
    "from t = 0",
    "at 0.5 m",
    "E_pos mm",
    "paper, mm",
    "E_rot rad",
    "paper, rad",
    "body mm",
)
HORIZONS = (*NAMES, "episode, s", "success %", "E_pos, mm", "E_rot, rad", "paper, 34 clips")
"""Columns of :func:`horizon_lines`."""


def experiment_table(summary: Summary) -> str:
    """How it was learned, what came of it, episodes of several lengths if there were, verdicts, and what it took."""
    lengths = horizon_lines(summary.rows)
    tables = [markdown(LEARNING, list(map(_learning, summary.rows))), markdown(END, list(map(_end, summary.rows)))]
    tables += [markdown(HORIZONS, lengths)] if lengths else []
    remarks = verdicts_in_words(summary)
    remarks += [f"`{name}` failed: {why}" for name, why in summary.failed.items()]
    cells = f"{summary.cells.finished} of {summary.cells.all} runs"
    made = f"{cells}, {summary.core_hours:.1f} core-hours; `{summary.command}`\n"
    return "\n".join([*tables, "".join(f"- {remark}\n" for remark in remarks), made])


def draw_experiment(summary: Summary, stem: Path, wanted: Callable[[Path], bool]) -> None:
    """Those of its figures that are wanted: dots, curves, and radar charts if there are methods and skills enough."""
    drawings: dict[str, Callable[[Path], None]] = {
        "": partial(draw_dots, summary),
        "_curves": partial(draw_curves, summary),
    }
    for title, scores in radars(summary.rows).items():
        drawings[f"_{title.lower()}"] = partial(draw_radar, scores=scores, title=title)
    for ending, draw in drawings.items():
        path = stem.with_name(f"{stem.name}{ending}.png")
        if wanted(path):
            draw(path)


def horizon_lines(rows: Sequence[Row]) -> list[list[str]]:
    """Errors by length of episode beside the paper's, of rows that were evaluated at several."""
    return [
        [
            *_names(row)[:3],
            str(each.seeds),
            f"{each.horizon:g}",
            figure(each, "success", 1, 100.0),
            figure(each, "position_error", 1, 1000.0),
            figure(each, "rotation_error", 3),
            _general(each.horizon, row.method),
        ]
        for row in rows
        for each in row.horizons
    ]


def _general(horizon: float, method: str) -> str:
    """The paper's errors of 34 clips with one policy."""
    errors = paper.GENERAL.get(horizon, {}).get(paper.METHODS.get(method, ""))
    if errors is None:
        return NONE
    (position, _), (rotation, _) = errors
    return f"{1000.0 * position:.0f} mm, {rotation:.3f} rad"


def _learning(row: Row) -> list[str]:
    success = " / ".join(NONE if each.success is None else f"{100 * each.success:.0f}" for each in row.success_at)
    stated = theirs(paper.SAMPLES, row, 1)
    return [*_names(row), reached(row), saved(row), stated, success, figure(row, "minutes", 0)]


def _end(row: Row) -> list[str]:
    """Errors are of what was tracked; of a policy that never tracked 80 % the paper gives none, and nor do we."""
    success = [figure(row, name, 1, 100.0) for name in ("success", "success_beginning", "success_strict")]
    errors = (("position_error", 1, 1000.0), ("rotation_error", 3, 1.0), ("body_error", 1, 1000.0))
    position, rotation, body = (figure(row, *error) if row.converged else NONE for error in errors)
    stated = [
        theirs(paper.POSITION, row, 0, 1000.0),
        theirs(paper.ROTATION, row, 3),
    ]
    return [*_names(row), *success, position, stated[0], rotation, stated[1], body]


def _names(row: Row) -> list[str]:
    return [row.skill, row.actions, row.method, str(row.seeds)]
