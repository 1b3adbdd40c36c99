"""The command ``pfmhr view``, a browser that looks at it, and hands on its sliders."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGINT
from typing import Any

import numpy as np

from .conftest import WatchedPage, open_page

STAGE = "canvas[data-engine]"
"""What three.js draws on; charts have canvases, too."""
SIZE = (1060, 700)
"""A third of it is the panel; a processor draws every pixel of the rest."""
UNHURRIED = """
const next = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => setTimeout(() => next(draw), 200);
"""
"""A processor that draws as often as it can has no time for anything else."""
WITHOUT_WARNING = "#webgl-software-rendering { display: none }"
"""Viser warns where no graphics card draws; that would be in the pictures."""
PATIENCE = 120.0


@contextmanager
def shown(chromium: Any, *words: str) -> Iterator[WatchedPage]:
    """The command, and a browser that looks at its page; Ctrl-C at the end, with the page still open."""
    command = [sys.executable, "-m", "pfmhr", "view", *words, "--port", "0", "--no-shadows"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[0]
            page = open_page(chromium, SIZE)
            page.tab.add_init_script(UNHURRIED)
            page.tab.goto(address)
            page.tab.locator(STAGE).wait_for()
            page.tab.get_by_role("button", name=re.compile("Play|Sample")).wait_for()
            page.tab.add_style_tag(content=WITHOUT_WARNING)
            settled(page)
            yield page
            assert page.errors == []
            assert {request.split("/")[2] for request in page.requests} == {address.removeprefix("http://")}
        finally:
            process.send_signal(SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        page.tab.context.close()
    assert (process.returncode, out, err) == (0, "stopped\n", "")


def settled(page: WatchedPage) -> np.ndarray:
    """The stage once it stands still."""
    before, end = page.pixels(STAGE), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        page.tab.wait_for_timeout(300)
        after = page.pixels(STAGE)
        if (before == after).all():
            return after
        before = after
    raise AssertionError("the picture never stood still")


def changed(before: np.ndarray, after: np.ndarray) -> float:
    """Share of the pixels that differ visibly."""
    return float((np.abs(before - after).max(axis=-1) > 24).mean())


def wait_for(fact: Callable[[], bool], page: WatchedPage) -> None:
    end = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < end, "it never happened"
        page.tab.wait_for_timeout(100)


class Slider:
    """One of the page's sliders, by its label."""

    def __init__(self, page: WatchedPage, label: str) -> None:
        self._page = page
        place = page.tab.locator("label", has_text=re.compile(f"^{label}$")).get_attribute("for")
        self._track = page.tab.locator(f'[id="{place}"]')

    @property
    def value(self) -> float:
        return self._number("now")

    def click(self, share: float) -> None:
        """Click so far along the track, as a hand does, and wait until it is there."""
        box, low, high = self._track.bounding_box(), self._number("min"), self._number("max")
        self._page.tab.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        wait_for(lambda: abs(self.value - low - share * (high - low)) < 0.06 * (high - low), self._page)

    def _number(self, which: str) -> float:
        return float(self._track.get_by_role("slider").get_attribute(f"aria-value{which}"))


def press(page: WatchedPage, name: str) -> None:
    """Click a button with the mouse; Playwright's own click waits for frames, of which there are few."""
    target = page.tab.get_by_role("button", name=name, exact=True)
    target.wait_for()
    box = target.bounding_box()
    page.tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def reddish(picture: np.ndarray) -> float:
    """Share of the pixels that are warm."""
    return float((picture[..., 0] - picture[..., 2] > 60).mean())
