"""The numbers beside the picture."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.viewer.modes import PoseDesk
from pfmhr.viewer.readout import about, colour_key, mode_table, step_numbers, top_joints
from pfmhr.viewer.takes import Take


def test_numbers_of_a_step(takes: list[Take]) -> None:
    scores = takes[0].scores
    assert scores is not None
    shown = step_numbers(takes, frame=12, rate=30.0)
    assert "0.40 s" in shown
    assert f"{scores.score[12]:.3f}" in shown
    assert f"{100 * scores.percentile[12]:.1f} %" in shown
    assert f"{scores.multiplier[12]:.3f}" in shown


def test_the_joints_that_contribute_most_come_first(takes: list[Take]) -> None:
    scores = takes[0].scores
    assert scores is not None
    parts = scores.parts[12]
    first = takes[0].joint_names[parts.argmax()].removesuffix("_joint").replace("_", " ")
    said = top_joints(takes[0], 12)
    assert said.startswith(f"{first} {parts.max() / parts.sum():.0%}, ")
    assert said.count(",") == 2


def test_the_first_frame_has_no_step_and_a_clip_that_is_over_shows_its_last(takes: list[Take]) -> None:
    assert top_joints(takes[0], 0) == "no step ends here"
    assert "–" in step_numbers(takes[:1], 0, 30.0)
    assert top_joints(takes[1], 55) == top_joints(takes[1], 29)


def test_names_are_text_whatever_they_hold(takes: list[Take]) -> None:
    odd = replace(takes[0], name="<img src=x onerror=alert(1)>")
    assert "<img" not in step_numbers([odd], 3, 30.0)
    assert "<b>" not in about("<b>clip</b>")
    assert about("one", "", "two").count("<div") == 3


def test_modes_in_a_table(prior: PosePrior, g1: Robot) -> None:
    desk = PoseDesk(prior, g1, samples=1)
    table = mode_table(desk, chosen=2)
    assert table.count("<tr") == 1 + desk.count
    assert table.count("font-weight:600") == 1
    assert desk.describe(0) in table


@pytest.mark.parametrize("word", ["little", "much", "linear-gradient"])
def test_the_colours_are_explained(word: str) -> None:
    assert word in colour_key()
