"""A scene that plays without a server: in any browser, from a file, offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pfmhr.robots import Robot
from pfmhr.viewer.lineup import LineUp, Part
from pfmhr.viewer.server import running

SCENE = "PFMHR-SCENE"
"""Stands in a recording's client where a scene is to go."""
_BEFORE, _AFTER = '__VISER_EMBED_DATA__="', '"'


@dataclass(frozen=True)
class Recording:
    """What viser needs to play a scene, in two parts, so that scenes of one page can share the larger one."""

    scene: str
    """Letters, digits and a few signs: everything that moves."""
    client: str
    """A page that plays whatever stands in it at :data:`SCENE`; the same for all recordings."""
    seconds: float
    """How long its timeline is."""


def record(robot: Robot, parts: Sequence[Part]) -> Recording:
    """All frames of parts side by side, each as long as their rate says."""
    with running("127.0.0.1", 0) as server:
        lineup = LineUp(server, robot, parts, shadows=False)
        lineup.show(0)
        serializer = server.get_scene_serializer()
        length = 1.0 / lineup.rate if lineup.frames > 1 else 0.0  # a single frame is a picture, without a timeline
        for frame in range(lineup.frames):
            lineup.show(frame)
            serializer.insert_sleep(length)
        page = serializer.as_html()
    before, mark, rest = page.partition(_BEFORE)
    scene, quote, after = rest.partition(_AFTER)
    return Recording(scene, f"{before}{mark}{SCENE}{quote}{after}", lineup.frames * length)
