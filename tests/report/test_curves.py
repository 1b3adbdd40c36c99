"""Curves under a player: where a value is on the drawing, what a gap is, which colour whose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pfmhr.report.curves import score_curves
from pfmhr.viewer.colours import BLUE, css
from pfmhr.viewer.lineup import Part
from pfmhr.viewer.takes import FrameScores, Take

NAN = np.nan


def take(score: list[float]) -> Take:
    values = np.array(score)
    share = np.where(np.isnan(values), NAN, 0.5)
    scores = FrameScores(values, share, np.where(np.isnan(values), NAN, 0.8), np.zeros((len(score), 1)))
    return Take("clip", np.zeros((len(score), 8)), 10.0, ("joint",), scores)


def test_values_are_at_their_height_and_their_time() -> None:
    curves = score_curves([Part(take([0.0, 2.0, 1.0]))], seconds=0.4)
    assert [each.name for each in curves] == ["score", "percentile of the reference", "reward factor"]
    score = curves[0]
    assert (score.low, score.high) == ("0", "2.2")  # 8 % above the largest
    heights = [100.0, 100 * (1 - 1 / 1.08), 100 * (1 - 0.5 / 1.08)]
    assert score.lines[0].path == "".join(
        f"{pen}{x} {y:.1f}" for pen, x, y in zip("MLL", ("0.0", "250.0", "500.0"), heights, strict=True)
    )


def test_a_gap_interrupts_the_line() -> None:
    path = score_curves([Part(take([NAN, 1.0, NAN, 1.0, 1.0]))], seconds=0.5)[0].lines[0].path
    assert [word.split()[0] for word in path.replace("L", "|L").replace("M", "|M").split("|")[1:]] == [
        "M200.0",
        "M600.0",
        "L800.0",
    ]


def test_curves_have_the_colour_of_their_robot_and_unscored_takes_have_none() -> None:
    scored = take([0.5, 1.0])
    curves = score_curves([Part(replace(scored, scores=None)), Part(scored, BLUE), Part(scored)], seconds=0.2)
    assert curves[0].lines[0].colour == css(np.array(BLUE))
    assert len({line.colour for line in curves[0].lines}) == len(curves[0].lines) == 2
    assert score_curves([Part(replace(scored, scores=None))], seconds=0.2) == ()


def test_percentiles_lie_between_zero_and_one() -> None:
    percentile = score_curves([Part(take([0.5, 1.0]))], seconds=0.2)[1]
    assert (percentile.low, percentile.high) == ("0", "1")
    assert float(percentile.lines[0].path.split()[-1]) == pytest.approx(100 * (1 - 0.5 / 1.02), abs=0.1)
