"""Which of a file's bodies are the robot's: by the names in the file; without names, by their number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import names
from pfmhr.robots import Robot
from pfmhr.text import shown

_NAMED = 4
"""So many ignored bodies are named in a note."""


@dataclass(frozen=True)
class Bodies:
    """The columns of a file's body arrays that belong to the robot."""

    root: int
    """The root's column."""
    columns: tuple[tuple[str, int], ...] = ()
    """The robot's bodies that the file names, each with its column; none in a file without names."""
    notes: tuple[str, ...] = ()
    """Which bodies were ignored."""


def find_bodies(content: dict[str, Any], positions: NDArray[Any], robot: Robot) -> Bodies:
    """Args: positions: the file's ``body_pos_w`` (T, B, 3)."""
    if "body_names" in content:
        return _by_name(names(content, "body_names"), positions.shape[1], robot)
    return Bodies(_by_number(positions, robot))


def some_frames(count: int) -> NDArray[np.intp]:
    """Up to five of so many frames, from the first to the last: enough to judge a file by."""
    return np.unique(np.linspace(0, count - 1, 5).astype(np.intp)) if count else np.empty(0, dtype=np.intp)


def _by_name(found: tuple[str, ...], count: int, robot: Robot) -> Bodies:
    if len(found) != count:
        what = "body_names and body_pos_w differ in their number of bodies"
        raise InputError(what, expected=len(found), got=count, code="bad_width")
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise InputError("a body name occurs twice", got=", ".join(twice), code="bad_names")
    root = robot.body_names[0]
    if root not in found:
        raise InputError(
            f"the root of robot '{robot.name}' is not among the bodies",
            expected=root,
            got=", ".join(found),
            fix="Is this a file for another robot?",
            code="bad_names",
        )
    own = set(robot.body_names)
    columns = tuple((name, column) for column, name in enumerate(found) if name in own)
    return Bodies(found.index(root), columns, _ignored([name for name in found if name not in own], robot))


def _ignored(others: list[str], robot: Robot) -> tuple[str, ...]:
    if not others:
        return ()
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    named = shown(", ".join(others[:_NAMED]))
    return (f"ignored {len(others)} bodies that robot '{robot.name}' does not have: {named}{more}",)


def _by_number(positions: NDArray[Any], robot: Robot) -> int:
    """0, or 1 where the file counts MuJoCo's world body as well."""
    bodies, count = len(robot.body_names), positions.shape[1]
    if count == bodies:
        return 0
    if count == bodies + 1 and not np.any(positions[:, 0]):
        return 1
    raise InputError(
        f"wrong number of bodies for robot '{robot.name}'",
        expected=f"{bodies}, or {bodies + 1} with the world body at the origin first",
        got=f"{count} without body_names",
        fix="Is this a file for another robot? Files with more bodies must name them in body_names.",
        code="bad_width",
    )
