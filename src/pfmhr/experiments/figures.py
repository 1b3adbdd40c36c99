"""Figures of a matrix's summary: every seed a dot, and how success grew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pfmhr.files import save_figure

COLUMNS = 4
"""Panels side by side."""


def draw_dots(summary: dict[str, Any], path: Path) -> None:
    """Samples to 80 %, every seed a dot, one panel per skill; runs of one seed are joined, since they are compared.

    A cross stands at the budget of runs that never got there.
    """

    colours = _colours(summary)

    def draw(axis: Any, rows: list[dict[str, Any]]) -> None:
        for points in _by_seed(rows).values():
            axis.plot(*zip(*points, strict=True), color="0.8", lw=0.8, zorder=0)
        for place, row in enumerate(rows):
            colour = colours[row["method"]]
            values = [value for value in row["samples_to_80"] if value is not None]
            axis.plot([place] * len(values), values, "o", alpha=0.6, color=colour)
            if values:
                axis.plot([place - 0.25, place + 0.25], [np.mean(values)] * 2, color=colour, lw=2)
            never = len(row["samples_to_80"]) - len(values)
            if never and "budget" in row:
                axis.plot(place, row["budget"], "x", color=colour)
                axis.annotate(f"{never} never", (place, row["budget"]), (4, 0), textcoords="offset points", fontsize=8)
        axis.set(ylim=(0, 1.08 * max(axis.dataLim.y1, 0.1)), xlim=(-0.6, len(rows) - 0.4))
        axis.set_xticks(range(len(rows)), [row["method"] for row in rows], rotation=45, ha="right")

    _panels(summary, path, draw, "million samples to 80 %")


def draw_curves(summary: dict[str, Any], path: Path) -> None:
    """Success over samples, one panel per skill: a method's mean, and the band from its lowest to its highest seed."""

    colours = _colours(summary)

    def draw(axis: Any, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            colour = colours[row["method"]]
            curve = row["curve"]
            axis.plot(curve["samples"], curve["success"], color=colour, label=row["method"])
            axis.fill_between(curve["samples"], curve["lowest"], curve["highest"], color=colour, alpha=0.15, lw=0)
        axis.axhline(0.8, color="grey", lw=0.8, ls=":")
        axis.set(ylim=(0, 1.02), xlabel="million samples")
        axis.legend(frameon=False, fontsize=7)

    _panels(summary, path, draw, "share of the reference tracked")


def _by_seed(rows: list[dict[str, Any]]) -> dict[int, list[tuple[int, float]]]:
    """Places of methods and what they needed, of every seed that got there."""
    points: dict[int, list[tuple[int, float]]] = {}
    for place, row in enumerate(rows):
        for seed, value in zip(row.get("seed_numbers", ()), row["samples_to_80"], strict=False):  # older: not told
            if value is not None:
                points.setdefault(seed, []).append((place, value))
    return points


def _colours(summary: dict[str, Any]) -> dict[str, str]:
    """A method has the same one in every panel, also where others have no runs yet."""
    return {method: f"C{place}" for place, method in enumerate(dict.fromkeys(row["method"] for row in summary["rows"]))}


def _panels(
    summary: dict[str, Any], path: Path, draw: Callable[[Any, list[dict[str, Any]]], None], ylabel: str
) -> None:
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys((row["skill"], row["actions"]) for row in summary["rows"]))
    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    size = (2.2 + 2.4 * columns, 3.4 * lines)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    for place, axis in enumerate(grid.flat):
        if place >= len(panels):
            axis.set_axis_off()
            continue
        draw(axis, [row for row in summary["rows"] if (row["skill"], row["actions"]) == panels[place]])
        axis.set_title(", ".join(panels[place]))
        if place % columns == 0:
            axis.set_ylabel(ylabel)
    save_figure(figure, path, dpi=150)
