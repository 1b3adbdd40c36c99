"""Timelines as numbers for a chart: thinned to what a screen can show, with a mark at the present frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfmhr.viewer.takes import Take

Floats = NDArray[np.float64]
MOST = 600
"""Points of a line; a chart is narrower than this many pixels."""


@dataclass(frozen=True, eq=False)
class Chart:
    """One quantity over time, a line per clip."""

    title: str
    time: Floats
    """(P,) s"""
    lines: tuple[Floats, ...]
    """(P,) each; NaN where there is no score."""
    span: tuple[float, float]
    """Lowest and highest value shown."""

    def columns(self, now: float) -> tuple[Floats, ...]:
        """Times, lines, and a last line that stands up at ``now`` and lies at the bottom elsewhere."""
        at = int(np.searchsorted(self.time, now))
        low, high = self.span
        time = np.insert(self.time, at, [now] * 3)
        lines = (np.insert(line, at, [np.interp(now, self.time, line)] * 3) for line in self.lines)
        mark = np.full(len(time), low)
        mark[at + 1] = high
        return time, *lines, mark


def score_charts(takes: list[Take]) -> list[Chart]:
    """Score, percentile and reward factor of clips that have scores."""
    scores = [take.scores for take in takes if take.scores is not None]
    if not scores:
        return []
    rate, factors = takes[0].rate, [each.multiplier for each in scores]
    lowest = min(float(np.nanmin(factor, initial=1.0)) for factor in factors)
    return [
        chart("score", rate, [each.score for each in scores]),
        chart("percentile of the reference", rate, [each.percentile for each in scores], (0.0, 1.02)),
        chart("reward factor", rate, factors, (min(lowest, 0.6) - 0.02, 1.02)),
    ]


def chart(title: str, rate: float, lines: list[Floats], span: tuple[float, float] | None = None) -> Chart:
    """A chart of lines ``(T,)`` each, the shorter ones held open; the worst of frames that share a point is shown."""
    length = max(len(line) for line in lines)
    bucket = -(-length // MOST)
    count = -(-length // bucket)
    thin = tuple(_lowest(np.r_[line, np.full(count * bucket - len(line), np.nan)], bucket) for line in lines)
    return Chart(title, np.arange(count) * bucket / rate, thin, span or _span(thin))


def _lowest(line: Floats, bucket: int) -> Floats:
    rows = line.reshape(-1, bucket)
    lowest = np.where(np.isnan(rows), np.inf, rows).min(axis=1)
    return np.where(np.isinf(lowest), np.nan, lowest)


def _span(lines: tuple[Floats, ...]) -> tuple[float, float]:
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    return (0.0, 1.08 * float(values.max())) if len(values) and values.max() > 0 else (0.0, 1.0)
