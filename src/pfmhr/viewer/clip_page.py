"""The page of one or two clips: play and scrub them, with what the prior says of every step."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import viser
from numpy.typing import NDArray
from viser.uplot import Series

from pfmhr.robots import Robot
from pfmhr.text import printable
from pfmhr.viewer.charts import Chart, score_charts
from pfmhr.viewer.colours import heat_of_parts, heat_of_shares
from pfmhr.viewer.lineup import APART, LineUp, Part
from pfmhr.viewer.player import Player
from pfmhr.viewer.readout import LINES, colour_key, step_numbers

Floats = NDArray[np.floating]
Heat = Callable[[Floats], Floats]
COLOURINGS: dict[str, Heat | None] = {
    "contribution to the score": heat_of_parts,
    "share of this step's score": heat_of_shares,
    "none": None,
}
CALM = 0.1
"""s between two updates of numbers and charts while playing; the robots move at every frame."""
MARK = "#30343b"
SPEEDS = {f"{factor:g} ×": factor for factor in (0.1, 0.25, 0.5, 1.0, 2.0)}
STEPS = {"−10": -10, "−1": -1, "+1": 1, "+10": 10}
CHART_HEIGHT = 92


class ClipPage:
    """Plays takes side by side. All of them have the same frame rate; shorter ones wait at their end."""

    def __init__(
        self, server: viser.ViserServer, robot: Robot, parts: list[Part], about: str, shadows: bool = True
    ) -> None:
        self._server, self.parts = server, parts
        self._lock = threading.RLock()
        self._lineup = LineUp(server, robot, parts, shadows)
        self.player = Player(self._lineup.frames, self._lineup.rate)
        self._scored = [part.take for part in parts if part.take.scores is not None]
        self._charts = score_charts(self._scored)
        self._stale = 0.0
        server.gui.add_html(about)
        self._add_player()
        self._numbers = server.gui.add_html("")
        self._plots = [_plot(server, each, [take.name for take in self._scored]) for each in self._charts]
        self._add_look()
        self._colour("contribution to the score")
        self.show()

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._stale += seconds
            if self.player.advance(seconds):
                self.show(numbers=self._stale >= CALM)

    def show(self, numbers: bool = True) -> None:
        """Draw the present frame; ``numbers``: also put slider, charts and figures there."""
        frame = self.player.frame
        self._lineup.show(frame, self._heats, self._apart.value if self._apart is not None else 0.0, self._follow.value)
        if numbers:
            self._stale = 0.0
            self._frame.value = frame
            self._numbers.content = step_numbers(self._scored, frame, self.player.rate)
            for plot, each in zip(self._plots, self._charts, strict=True):
                plot.data = each.columns(self.player.time)

    def _add_player(self) -> None:
        gui, player = self._server.gui, self.player
        self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
        self._frame = gui.add_slider("frame", 0, max(player.frames - 1, 1), 1, 0)
        step = gui.add_button_group("step", tuple(STEPS))

        @self._play.on_click
        def _(_: viser.GuiEvent) -> None:
            with self._lock:
                self._set_playing(not player.playing)
                self.show()

        @self._frame.on_update
        def _(event: viser.GuiEvent) -> None:
            if event.client is not None:  # moved by a hand, not by us
                self._seek(self._frame.value)

        @step.on_click
        def _(_: viser.GuiEvent) -> None:
            self._seek(player.frame + STEPS.get(step.value, 0))

    def _seek(self, frame: int) -> None:
        with self._lock:
            self._set_playing(False)
            self.player.seek(frame)
            self.show()

    def _set_playing(self, playing: bool) -> None:
        self.player.playing = playing
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY

    def _add_look(self) -> None:
        gui = self._server.gui
        if self._scored:
            colour = gui.add_dropdown("colour", tuple(COLOURINGS))
            colour.on_update(lambda _: self._colour(colour.value))
            gui.add_html(colour_key())
        speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1 ×")
        speed.on_update(lambda _: setattr(self.player, "speed", SPEEDS.get(speed.value, 1.0)))
        self._apart = gui.add_slider("apart, m", 0.0, 3.0, 0.1, APART) if len(self.parts) > 1 else None
        self._follow = gui.add_checkbox("keep in the middle", True)
        for handle in (self._follow, *([self._apart] if self._apart is not None else [])):
            handle.on_update(lambda _: self._redraw())

    def _redraw(self) -> None:
        with self._lock:
            self.show()

    def _colour(self, name: str) -> None:
        make = COLOURINGS.get(name)
        with self._lock:
            self._heats = [
                None if make is None or part.take.scores is None else make(part.take.scores.parts)
                for part in self.parts
            ]
            self.show()


def _plot(server: viser.ViserServer, each: Chart, names: list[str]) -> viser.GuiUplotHandle:
    lines = [
        Series(label=printable(name), stroke=colour, width=1.5) for name, colour in zip(names, LINES, strict=False)
    ]
    mark = Series(label="now", stroke=MARK, width=1.5)
    return server.gui.add_uplot(
        each.columns(0.0),
        (Series(label="s"), *lines, mark),
        title=each.title,
        scales={"x": {"time": False, "range": (0.0, max(float(each.time[-1]), 1e-3))}, "y": {"range": each.span}},
        axes=({"size": 26, "space": 60}, {"size": 42, "space": 26}),
        legend={"show": False},
        cursor={"sync": {"key": "time"}},
        height=CHART_HEIGHT,
        padding=(4, 12, 0, 0),
    )
