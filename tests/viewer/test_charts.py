"""Timelines for the screen."""

from __future__ import annotations

import numpy as np
import pytest

from pfmhr.viewer.charts import MOST, chart, score_charts
from pfmhr.viewer.takes import Take

NAN = float("nan")


def test_a_short_line_is_shown_as_it_is() -> None:
    made = chart("score", 10.0, [np.array([NAN, 2.0, 4.0])])
    assert made.time.tolist() == pytest.approx([0.0, 0.1, 0.2])
    assert made.lines[0].tolist() == pytest.approx([NAN, 2.0, 4.0], nan_ok=True)
    assert made.span == (0.0, pytest.approx(4.32))


def test_the_mark_stands_at_the_present_frame_and_disturbs_no_line() -> None:
    made = chart("score", 10.0, [np.array([1.0, 2.0, 4.0])], span=(0.0, 5.0))
    time, line, mark = made.columns(now=0.1)
    assert time.tolist() == pytest.approx([0.0, 0.1, 0.1, 0.1, 0.1, 0.2])
    assert line.tolist() == pytest.approx([1.0, 2.0, 2.0, 2.0, 2.0, 4.0])
    assert mark.tolist() == [0.0, 0.0, 5.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("now", [0.0, 0.05, 0.2])
def test_times_never_go_back(now: float) -> None:
    time, _, mark = chart("score", 10.0, [np.array([1.0, 2.0, 4.0])]).columns(now)
    assert (np.diff(time) >= 0).all()
    assert time[mark.argmax()] == pytest.approx(now)


def test_a_long_line_keeps_its_worst_moments() -> None:
    line = np.ones(10 * MOST)
    line[4321], line[17] = 0.1, NAN
    made = chart("percentile", 30.0, [line], span=(0.0, 1.0))
    assert len(made.time) == MOST
    assert made.lines[0].min() == 0.1
    assert made.time[made.lines[0].argmin()] == pytest.approx(4320 / 30)
    assert not np.isnan(made.lines[0]).any()


def test_the_shorter_of_two_lines_ends_where_it_ends() -> None:
    made = chart("score", 10.0, [np.ones(5), np.ones(3)])
    assert np.isnan(made.lines[1]).tolist() == [False] * 3 + [True] * 2


def test_charts_of_clips(takes: list[Take]) -> None:
    made = score_charts(takes)
    assert [each.title for each in made] == ["score", "percentile of the reference", "reward factor"]
    assert [len(each.lines) for each in made] == [2, 2, 2]
    assert made[2].span[0] <= np.exp(-0.5) - 0.02
    assert score_charts([]) == []
