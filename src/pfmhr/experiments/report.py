"""Tables and curves of a matrix, from whatever cells are done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell, Matrix
from pfmhr.experiments.running import RESULT
from pfmhr.experiments.statistics import (
    interquartile_mean,
    paired_difference,
    probability_of_improvement,
    success_at,
)

PLAIN = "add"
"""The method everything is compared with, where the matrix has it; its first method otherwise."""


@dataclass(frozen=True)
class Done:
    """A finished cell."""

    cell: Cell
    result: dict[str, Any]

    @property
    def needed(self) -> float:
        """Samples to 80 %; infinite if it never got there."""
        reached = self.result["samples_to_80"]
        return float("inf") if reached is None else float(reached)

    @property
    def bounded(self) -> float:
        """The same, but at most the run's budget: a lower bound where it never got there."""
        return min(self.needed, float(self.result["samples"]))


def summarise(matrix: Matrix, folder: Path) -> dict[str, Any]:
    """One row per skill, action space and method, and per action space a verdict over all skills."""
    done = _finished(matrix, folder)
    if not done:
        raise InputError("no cell of this experiment is finished", where=folder, code="not_found")
    plain = PLAIN if PLAIN in matrix.methods else matrix.methods[0]
    rows = [
        row
        for skill in matrix.skills
        for space in matrix.actions
        for method in matrix.methods
        if (row := _row(done, skill, space, method, plain)) is not None
    ]
    verdicts = [
        verdict
        for space in matrix.actions
        for method in matrix.methods
        if method != plain and (verdict := _verdict(done, matrix, space, method, plain)) is not None
    ]
    return {
        "name": matrix.name,
        "plain": plain,
        "cells": {"finished": len(done), "all": len(matrix.cells)},
        "rows": rows,
        "verdicts": verdicts,
    }


def _finished(matrix: Matrix, folder: Path) -> list[Done]:
    found = []
    for cell in matrix.cells:
        path = folder / cell.name / RESULT
        if path.exists():
            found.append(Done(cell, json.loads(path.read_bytes())))
    return found


def _of(done: list[Done], skill: str, space: str, method: str) -> dict[int, Done]:
    """Finished runs of one combination, by seed."""
    wanted = (skill, space, method)
    return {each.cell.seed: each for each in done if (each.cell.skill, each.cell.actions, each.cell.method) == wanted}


def _row(done: list[Done], skill: str, space: str, method: str, plain: str) -> dict[str, Any] | None:
    runs = _of(done, skill, space, method)
    if not runs:
        return None
    needed = [run.needed / 1e6 for run in runs.values()]
    reached = [value for value in needed if np.isfinite(value)]
    final = [run.result["final"]["random"] for run in runs.values()]
    budget = min(run.result["samples"] for run in runs.values())
    row: dict[str, Any] = {
        "skill": skill,
        "actions": space,
        "method": method,
        "seeds": len(runs),
        "converged": len(reached),
        "samples_to_80": [value if np.isfinite(value) else None for value in needed],
        "mean": float(np.mean(reached)) if reached else None,
        "deviation": float(np.std(reached)) if reached else None,
        "success_at_half": float(np.mean([success_at(run.result, budget / 2) for run in runs.values()])),
        "success": float(np.mean([each["success"] for each in final])),
        "position_error": _mean(final, "position_error"),
        "rotation_error": _mean(final, "rotation_error"),
        "minutes": float(np.mean([run.result["seconds"] / 60.0 for run in runs.values()])),
        "grid": max(run.result["grid"] for run in runs.values()) / 1e6,
    }
    against = _of(done, skill, space, plain)
    common = sorted(set(runs) & set(against))
    if method != plain and common:
        ours, theirs = ([group[seed].bounded / 1e6 for seed in common] for group in (runs, against))
        row["difference"] = paired_difference(ours, theirs) | {"seeds": len(common)}
    return row


def _mean(final: list[dict[str, Any]], key: str) -> float | None:
    """Over the runs that tracked anything at all."""
    values = [each[key] for each in final if each[key] is not None]
    return float(np.mean(values)) if values else None


def _verdict(done: list[Done], matrix: Matrix, space: str, method: str, plain: str) -> dict[str, Any] | None:
    """Over all skills that both methods have runs of."""
    pairs = [(_of(done, skill, space, method), _of(done, skill, space, plain)) for skill in matrix.skills]
    pairs = [(ours, theirs) for ours, theirs in pairs if ours and theirs]
    if not pairs:
        return None
    ours, theirs = ([[run.needed for run in group[side].values()] for group in pairs] for side in (0, 1))
    ratios = [
        group[0][seed].bounded / group[1][seed].bounded for group in pairs for seed in set(group[0]) & set(group[1])
    ]
    chance = probability_of_improvement(ours, theirs)
    typical = interquartile_mean(ratios) if ratios else None
    return {"actions": space, "method": method, "skills": len(pairs), "ratio": typical, **chance}


def draw_dots(summary: dict[str, Any], path: Path) -> None:
    """Samples to 80 %, every seed a dot, one panel per skill."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = list(dict.fromkeys((row["skill"], row["actions"]) for row in summary["rows"]))
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(2.2 + 2.4 * len(panels), 3.4), squeeze=False, layout="constrained"
    )
    for axis, panel in zip(axes[0], panels, strict=True):
        rows = [row for row in summary["rows"] if (row["skill"], row["actions"]) == panel]
        for place, row in enumerate(rows):
            values = [value for value in row["samples_to_80"] if value is not None]
            axis.plot([place] * len(values), values, "o", alpha=0.6, color=f"C{place}")
            if values:
                axis.plot([place - 0.25, place + 0.25], [np.mean(values)] * 2, color=f"C{place}", lw=2)
        axis.set(title=", ".join(panel), ylim=(0, None), xlim=(-0.6, len(rows) - 0.4))
        axis.set_xticks(range(len(rows)), [row["method"] for row in rows], rotation=45, ha="right")
    axes[0][0].set_ylabel("million samples to 80 %")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
