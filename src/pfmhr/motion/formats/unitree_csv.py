"""Unitree's retargeted csv (LAFAN1, G1 Moves): root xyz in m, quaternion xyzw, joints in rad; no header.

A csv with a header of joint names is read too, its columns matched by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.motion.formats.clip import Clip, wxyz
from pfmhr.motion.motion import Motion
from pfmhr.motion.tables import first_line, parse_table, precise_columns

ROOT_COLUMNS = 7


def read(text: bytes, joint_names: Sequence[str]) -> list[Clip]:
    """Args: text: the csv. joint_names: the robot's, to name a wrong width and joints where the root should be."""
    header, joints = _header(text), len(joint_names)
    if header:
        _refuse_joints_as_root(header, joint_names)
    rows = text.partition(b"\n")[2] if header else text
    if not rows[:64].strip() and not rows.strip():
        raise InputError("a header and no frames", code="too_short")
    table = parse_table(rows, line=2 if header else 1)
    columns = table.shape[1]
    if columns == ROOT_COLUMNS + joints + 1:
        raise InputError(
            "one column too many", expected=ROOT_COLUMNS + joints, got=columns,
            fix="Is the first column a frame number or a time? Remove it.", code="bad_width",
        )  # fmt: skip
    if columns < ROOT_COLUMNS + 1 or (header and len(header) != columns):
        raise InputError(
            "wrong number of columns",
            expected=f"{ROOT_COLUMNS + joints}: root xyz, quaternion xyzw, {joints} joints",
            got=columns,
            code="bad_width",
        )
    return [
        Clip(
            format="unitree_csv",
            joint_pos=table[:, ROOT_COLUMNS:],
            root_pos=precise_columns(rows, table, slice(3)),
            root_quat=table[:, 3:7] if header and _scalar_first(header) else wxyz(table[:, 3:7]),
            joint_names=tuple(header[ROOT_COLUMNS:]) if header else None,
            fps=None,
        )
    ]


def _refuse_joints_as_root(header: list[str], joint_names: Sequence[str]) -> None:
    bare = {name.removesuffix("_joint") for name in joint_names}
    plain = [cell.removesuffix("_dof").removesuffix("_pos").removesuffix("_joint") for cell in header[:ROOT_COLUMNS]]
    joints = [cell for cell, name in zip(header, plain, strict=False) if name in bare]
    if joints:
        raise InputError(
            "joints where the root should be",
            expected="root xyz and quaternion in the first seven columns",
            got=", ".join(joints[:3]),
            fix="Put the root before the joints, or save it as npz.",
            code="bad_header",
        )


def _scalar_first(header: list[str]) -> bool:
    """Whether the header names the quaternion's w before its x."""
    first, last = header[3].lower(), header[ROOT_COLUMNS - 1].lower()
    return first.endswith("w") and not last.endswith("w")


def _header(text: bytes) -> list[str] | None:
    cells = [cell.strip().strip('"') for cell in first_line(text).split(",")]
    try:
        [float(cell) for cell in cells]
    except ValueError:
        numeric = sum(cell.replace(".", "").lstrip("-").isdigit() for cell in cells)
        return cells if numeric == 0 and len(cells) > ROOT_COLUMNS and all(cells) else None
    return None


def write(motion: Motion, path: Path) -> None:
    """Write one motion in this format."""
    xyzw = motion.root_quat[:, [1, 2, 3, 0]]
    table = np.concatenate([motion.root_pos, xyzw, motion.joint_pos], axis=1)
    write_atomically(path, lambda handle: np.savetxt(handle, table, delimiter=",", fmt="%.6f"))
