"""Motions as users name them: a file, or a clip that comes with the package."""

from __future__ import annotations

from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

EMBEDDED = "embedded:"
"""Begins the names of clips that come with the package."""


def read_named(name: str, robot: Robot, fps: float | None = None, clip: str | None = None) -> Motion:
    """A motion by the name of its file, or one of the embedded ones as ``embedded:walk``."""
    if name.startswith(EMBEDDED):
        return embedded_motion(name.removeprefix(EMBEDDED), robot)
    if not Path(name).exists():
        raise InputError("no such motion", where=name, code="not_found")
    return Motion.read(name, robot, fps=fps, clip=clip)
