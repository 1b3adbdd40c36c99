"""Where a robot that is not bundled came from, so that it need not be named again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.robots.robot import Robot, bundled_robots

ANYWHERE = Path("/")
"""The folder from which files of artefacts in memory are seen."""
_FIX = "Name the robot with --robot (robot=), or put the file back."


@dataclass(frozen=True)
class RobotFile:
    """An MJCF file as an artefact states it: seen from the artefact's own folder, so that both can be moved."""

    path: str
    sha256: str

    @staticmethod
    def of(robot: Robot, folder: Path) -> RobotFile | None:
        """The file of a robot, seen from a folder; None for a bundled one, which is known by its name."""
        if bundled_robots().get(robot.name) == robot.path:
            return None
        where = os.path.relpath(robot.path.absolute(), folder.absolute())
        return RobotFile(Path(where).as_posix(), robot.sha256)

    def load(self, folder: Path) -> Robot:
        """The robot, if its file is where it was and what it was."""
        path = Path(os.path.normpath(folder.absolute() / self.path))
        if not path.is_file():
            raise InputError("the robot's file is not here any more", where=path, fix=_FIX, code="not_found")
        robot = Robot.load(path)
        if robot.sha256 != self.sha256:
            raise InputError("the robot's file has changed, or its roles", where=path, fix=_FIX, code="bad_robot")
        return robot

    def moved(self, before: Path, after: Path) -> RobotFile:
        """The same file, seen from another folder."""
        path = os.path.relpath(before.absolute() / self.path, after.absolute())
        return RobotFile(Path(path).as_posix(), self.sha256)


def load_robot(named: str | None, name: str, file: RobotFile | None, folder: Path) -> Robot:
    """The robot somebody ``named`` or, if nobody did, the one an artefact in ``folder`` states."""
    if named is not None or file is None:
        return Robot.load(name if named is None else named)
    return file.load(folder)
