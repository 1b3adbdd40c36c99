"""A motion format of your own: text with a line of joint names, then root position, wxyz and joints in degrees.

Put this folder on PYTHONPATH and name the class where a format is named:

    PYTHONPATH=examples pfmhr convert walk.txt walk.npz --format own_format:Degrees --fps 30
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.motion import Motion
from pfmhr.motion.formats import Clip
from pfmhr.robots import Robot


class Degrees:
    """Reads and writes; a format that is only read has no ``write``."""

    def read(self, data: bytes, robot: Robot) -> Iterable[Clip]:
        """Clips in rad, m and wxyz, in the file's own joint order; InputError for what is not in this format."""
        header, _, rows = data.decode().partition("\n")
        names = tuple(header.split())
        table = np.loadtxt(rows.splitlines(), ndmin=2)
        if table.shape[1] != 7 + len(names):
            raise InputError("wrong number of columns", expected=7 + len(names), got=table.shape[1], code="bad_width")
        yield Clip("degrees", np.deg2rad(table[:, 7:]), table[:, :3], table[:, 3:7], names, fps=None)

    def write(self, motion: Motion, path: Path, robot: Robot | None) -> None:
        """Write one motion, whole or not at all."""
        table = np.hstack([motion.root_pos, motion.root_quat, np.rad2deg(motion.joint_pos)])
        lines = [" ".join(motion.joint_names), *(" ".join(f"{value:.7g}" for value in row) for row in table)]
        write_atomically(path, lambda handle: handle.write("\n".join(lines).encode()))
