"""A motion in the viewer: it is drawn, it can be scrubbed and played."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from .conftest import WatchedPage
from .viewing import STAGE, Slider, changed, press, reddish, settled, shown, wait_for


@pytest.fixture(scope="module")
def walk(chromium: Any) -> Iterator[WatchedPage]:
    with shown(chromium, "embedded:walk") as page:
        yield page


def test_a_robot_stands_in_the_middle_of_the_stage(walk: WatchedPage) -> None:
    picture = settled(walk)
    walk.screenshot("viewer_walk")
    height, width, _ = picture.shape
    dark = np.argwhere(picture.max(axis=-1) < 90)  # motors, soles and visor
    assert len(dark) > 0.003 * height * width
    assert abs(float(np.median(dark[:, 1])) / width - 0.5) < 0.08
    assert np.ptp(dark[:, 0]) > 0.5 * height
    corner = picture[-60:, :60].reshape(-1, 3)
    assert corner.mean() > 180  # a light floor


def test_moving_the_frame_slider_moves_the_robot(walk: WatchedPage) -> None:
    frame, clock = Slider(walk, "frame"), walk.tab.get_by_text(re.compile(r"^[0-9.]+ s$"))
    pictures = []
    for share in (0.25, 0.5):
        frame.click(share)
        wait_for(lambda: clock.inner_text() == f"{frame.value / 30:.2f} s", walk)
        pictures.append(settled(walk))
    walk.screenshot("viewer_walk_scrubbed")
    assert 0.02 < changed(*pictures) < 0.5


def test_steps_go_frame_by_frame(walk: WatchedPage) -> None:
    frame = Slider(walk, "frame")
    start = frame.value
    for label, step in (("+1", 1), ("+10", 11), ("−1", 10), ("−10", 0)):
        press(walk, label)
        wait_for(lambda step=step: frame.value == start + step, walk)


def test_playing_goes_on_until_it_is_paused(walk: WatchedPage) -> None:
    frame = Slider(walk, "frame")
    frame.click(0.02)
    before, start = settled(walk), frame.value
    press(walk, "Play")
    wait_for(lambda: frame.value > start + 5, walk)
    press(walk, "Pause")
    walk.tab.get_by_role("button", name="Play", exact=True).wait_for()
    after, still = settled(walk), frame.value
    assert changed(before, after) > 0.001 or still == start  # it may have come round
    walk.tab.wait_for_timeout(1000)
    assert frame.value == still


def test_the_colours_can_be_turned_off(walk: WatchedPage) -> None:
    Slider(walk, "frame").click(0.4)
    warm = settled(walk)
    assert reddish(warm) > 0.002
    walk.tab.locator("input[value='contribution to the score']").first.dispatch_event("click")
    walk.tab.get_by_role("option", name="none", exact=True).dispatch_event("click")
    wait_for(lambda: reddish(walk.pixels(STAGE)) < 0.2 * reddish(warm), walk)


def test_charts_have_a_line_and_a_mark(walk: WatchedPage) -> None:
    titles = walk.tab.locator(".u-title").all_inner_texts()
    assert titles == ["score", "percentile of the reference", "reward factor"]
    frame = Slider(walk, "frame")
    marks = []
    for share in (0.3, 0.7):
        frame.click(share)
        settled(walk)
        plot = walk.pixels(".uplot canvas")
        across = (plot.max(axis=-1) < 100)[10:60].sum(axis=0)  # the mark is dark and stands up
        marks.append(int(across[60:].argmax()) + 60)
        assert across[marks[-1]] > 30
        blue = (plot[..., 2] - plot[..., 0] > 50).any(axis=0)
        assert blue[60:-20].mean() > 0.9  # a line from end to end
    assert marks[1] - marks[0] == pytest.approx(0.4 * plot.shape[1], rel=0.25)
