"""Curves under a player: drawn when the page is made, with a cursor that the page moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pfmhr.viewer.charts import Chart, Floats, score_charts
from pfmhr.viewer.colours import BLUE, RED, Colour, css
from pfmhr.viewer.lineup import Part

WIDTH, HEIGHT = 1000.0, 100.0
"""Of the drawing, whatever its size on the page."""
INK: Colour = (0.56, 0.57, 0.6)
"""Of the curve of a robot without a tint."""
TINTS: tuple[Colour | None, ...] = (BLUE, None, RED)
"""Of the robots of a player, one after the other."""


@dataclass(frozen=True)
class Line:
    """One curve, as the data of an SVG path."""

    colour: str
    path: str


@dataclass(frozen=True)
class Curves:
    """One quantity over time, a line per robot that has it."""

    name: str
    low: str
    high: str
    lines: tuple[Line, ...]


def score_curves(parts: Sequence[Part], seconds: float) -> tuple[Curves, ...]:
    """Score, percentile and factor of the parts that have scores, over a timeline of so many seconds."""
    scored = [part for part in parts if part.take.scores is not None]
    colours = [css(np.array(part.tint or INK)) for part in scored]
    return tuple(_curves(chart, colours, seconds) for chart in score_charts([part.take for part in scored]))


def _curves(chart: Chart, colours: Sequence[str], seconds: float) -> Curves:
    lines = zip(colours, chart.lines, strict=True)
    drawn = tuple(Line(colour, _path(chart, line, seconds)) for colour, line in lines)
    low, high = (f"{value:.2g}" for value in chart.span)
    return Curves(chart.title, low, high, drawn)


def _path(chart: Chart, values: Floats, seconds: float) -> str:
    """A line through the finite ones of values ``(P,)``; it begins anew after each gap."""
    low, high = chart.span
    across = WIDTH * chart.time / seconds
    down = HEIGHT * (1.0 - np.clip((values - low) / (high - low), 0.0, 1.0))
    words, pen = [], "M"
    for x, y in zip(across, down, strict=True):
        if np.isfinite(y):
            words.append(f"{pen}{x:.1f} {y:.1f}")
        pen = "L" if np.isfinite(y) else "M"
    return "".join(words)
