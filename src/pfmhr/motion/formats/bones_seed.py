"""BONES-SEED's G1 csv: a header, centimetres, degrees, extrinsic xyz Euler angles, 120 Hz."""

from __future__ import annotations

import numpy as np

from pfmhr import spatial
from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import Clip
from pfmhr.motion.tables import first_line, parse_table

FPS = 120.0
ROOT = ("root_translateX", "root_translateY", "root_translateZ", "root_rotateX", "root_rotateY", "root_rotateZ")
JOINT_SUFFIX = "_joint_dof"


def matches(text: bytes) -> bool:
    """Is the content in this format?"""
    return "root_translateX" in first_line(text)


def read(text: bytes) -> list[Clip]:
    """All clips in the content, in the file's own joint order."""
    header = [cell.strip().strip('"') for cell in first_line(text).split(",")]
    joints = [index for index, cell in enumerate(header) if cell.endswith(JOINT_SUFFIX)]
    missing = [cell for cell in ROOT if cell not in header]
    if missing or not joints:
        raise InputError(
            "incomplete BONES-SEED header",
            expected=f"{', '.join(ROOT)} and <joint>{JOINT_SUFFIX} columns",
            got=f"no {', '.join(missing) if missing else JOINT_SUFFIX}",
            code="bad_header",
        )
    if b"\n" not in text.strip():
        raise InputError("a header and no frames", code="too_short")
    table = parse_table(text.split(b"\n", 1)[1], line=2)
    if table.shape[1] != len(header):
        raise InputError("rows and header differ in width", expected=len(header), got=table.shape[1], code="bad_width")
    root = table[:, [header.index(cell) for cell in ROOT]].astype(np.float64)
    return [
        Clip(
            format="bones_seed",
            joint_pos=np.deg2rad(table[:, joints]),
            root_pos=root[:, :3] / 100.0,
            root_quat=spatial.Rotation.from_euler("xyz", root[:, 3:], degrees=True).as_quat(scalar_first=True),
            joint_names=tuple(header[index].removesuffix("_dof") for index in joints),
            fps=FPS,
        )
    ]
