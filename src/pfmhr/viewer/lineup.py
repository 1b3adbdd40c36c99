"""Takes side by side on one stage, at any of their frames: what the page plays, and what a recording holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import viser
from numpy.typing import NDArray

from pfmhr.robots import Robot
from pfmhr.robots.kinematics import heading
from pfmhr.viewer.colours import Colour
from pfmhr.viewer.figure import Figure
from pfmhr.viewer.stage import Actor, Stage
from pfmhr.viewer.takes import Take, require_take

Floats = NDArray[np.floating]
APART = 1.2
"""m between two robots."""


@dataclass(frozen=True)
class Part:
    """A take and how its robot is shown."""

    take: Take
    tint: Colour | None = None
    end: str = ""
    """What to say beside its name once its last frame is reached."""

    def row(self, frame: int) -> int:
        """The row of its positions at a frame; it waits at its end."""
        return min(frame, len(self.take.positions) - 1)

    def label(self, frame: int) -> str:
        """Its name at a frame."""
        over = self.end and frame >= len(self.take.positions) - 1
        return f"{self.take.name} ({self.end})" if over else self.take.name


class LineUp:
    """The robots of several parts, and the stage they are on. All takes have the same frame rate."""

    def __init__(
        self, server: viser.ViserServer, robot: Robot, parts: Sequence[Part], shadows: bool, apart: float = APART
    ) -> None:
        for part in parts:
            require_take(robot, part.take)
        self.parts, self._server, self._apart = tuple(parts), server, apart
        self.frames = max(len(part.take.positions) for part in parts)
        self.rate = parts[0].take.rate
        self._floats = robot.floating_base
        self._facing = heading(parts[0].take.positions[0, 3:7]) if self._floats else 0.0
        self._stage = Stage(server, shadows, apart * (len(parts) - 1), self._facing)
        figure = Figure(robot)
        self._actors = [
            Actor(
                server,
                f"robot{number}",
                figure,
                part.tint,
                label=part.label(0) if len(parts) > 1 or part.end else "",
                boxes=part.take.boxes,
            )
            for number, part in enumerate(parts)
        ]

    def show(
        self,
        frame: int,
        heats: Sequence[Floats | None] | None = None,
        apart: float | None = None,
        follow: bool = True,
    ) -> None:
        """Take the poses of a frame.

        Args:
            frame: from 0 on; shorter takes wait at their end.
            heats: how warm each joint of each part is, ``(T, J)`` in [0, 1] each.
            apart: m between two robots.
            follow: keep them in the middle, and let the floor move.
        """
        rows = [part.row(frame) for part in self.parts]
        shifts = self._shifts(rows, self._apart if apart is None else apart, follow)
        with self._server.atomic():
            for number, (actor, part, row) in enumerate(zip(self._actors, self.parts, rows, strict=True)):
                heat = heats[number] if heats is not None else None
                actor.show(part.take.positions[row], shifts[number], None if heat is None else heat[row])
                actor.rename(part.label(frame))

    def _shifts(self, rows: list[int], apart: float, follow: bool) -> list[Floats]:
        roots = [part.take.positions[row, :3] for part, row in zip(self.parts, rows, strict=True)]
        back = self._stage.centre(np.mean(roots, axis=0) if follow and self._floats else np.zeros(3))
        left = np.array([-np.sin(self._facing), np.cos(self._facing), 0.0])
        return [back + apart * (number - (len(rows) - 1) / 2) * left for number in range(len(rows))]
