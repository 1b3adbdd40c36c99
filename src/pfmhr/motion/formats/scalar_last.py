"""Quaternions with w last in ``body_quat_w``, as Isaac Lab 3 has them, known from the bodies beside the root.

Where those are depends on the root's pose alone, not on any joint or on the order of the joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr import spatial
from pfmhr.motion.formats.bodies import Bodies, some_frames
from pfmhr.motion.formats.clip import known_frames, wxyz
from pfmhr.robots import Robot, body_poses

SURELY_WRONG = 0.05
"""Bodies so far in m from where the root puts them are elsewhere; published G1 models differ by 0.01."""
SURELY_RIGHT = 0.02


def root_in_wxyz(
    positions: NDArray[np.float64], quaternions: NDArray[np.float64], bodies: Bodies, robot: Robot
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The root's orientations (T, 4) wxyz, and a note where the file has them as xyzw.

    Args:
        positions: the file's ``body_pos_w`` (T, B, 3).
        quaternions: its ``body_quat_w`` (T, B, 4).
    """
    given = quaternions[:, bodies.root]
    frames = some_frames(len(given))
    there, turn = positions[frames], given[frames]
    if not len(turn) or not known_frames(there, turn).all() or not np.linalg.norm(turn, axis=1).all():
        return given, ()
    still, _ = body_poses(robot, np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), robot.default_pose[None])
    offsets = dict(zip(robot.body_names, still[0] - still[0, 0], strict=True))
    layouts = _neighbours(bodies, robot)
    as_wxyz, as_xyzw = (_distance(there, each, bodies.root, layouts, offsets) for each in (turn, wxyz(turn)))
    if as_xyzw < SURELY_RIGHT and as_wxyz > SURELY_WRONG:
        note = "took body_quat_w as xyzw, which puts the bodies beside the root where the file has them"
        return wxyz(given), (note,)
    return given, ()


def _neighbours(bodies: Bodies, robot: Robot) -> list[dict[str, int]]:
    """The columns of the bodies on the root: as named, or as either known order has them."""
    orders = (robot.body_names, robot.breadth_first_bodies)
    ways = [dict(bodies.columns)] if bodies.columns else [
        {name: bodies.root + place for place, name in enumerate(order)} for order in orders
    ]  # fmt: skip
    return [{name: way[name] for name in robot.bodies_on_root if name in way} for way in ways]


def _distance(
    there: NDArray[np.float64],
    turn: NDArray[Any],
    root: int,
    layouts: list[dict[str, int]],
    offsets: dict[str, NDArray[np.float32]],
) -> float:
    """Mean distance in m of the bodies on the root from where this orientation of it puts them."""
    turned = spatial.Rotation.from_quat(turn, scalar_first=True).as_matrix()
    distances = []
    for layout in layouts:
        if len(layout) < 2:
            return 0.0  # one body alone says too little
        placed = there[:, None, root] + np.einsum("tij,bj->tbi", turned, [offsets[name] for name in layout])
        distances.append(float(np.linalg.norm(placed - there[:, list(layout.values())], axis=2).mean()))
    return min(distances)
