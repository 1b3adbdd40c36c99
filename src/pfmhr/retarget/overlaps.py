"""Links within each other: where, how deep, and which way out, by MuJoCo's own collision of the robot's shapes."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.retarget.linkage import Linkage, Pose
from pfmhr.retarget.rotations import Array


@dataclass(frozen=True, eq=False)
class Overlaps:
    """M places where two links are within each other."""

    frames: NDArray[np.intp]
    """``(M,)`` rising."""
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    """``(M,)`` the links."""
    points: Array
    """``(3, M)`` in the world."""
    way_out: Array
    """``(3, M)`` the direction in which the second link leaves the first."""
    depth: Array
    """``(M,)`` in m."""

    def __len__(self) -> int:
        return len(self.frames)


class OverlapFinder:
    """Looks for overlaps of one robot."""

    def __init__(self, linkage: Linkage) -> None:
        self._model = linkage.robot.compile()
        self._data = mujoco.MjData(self._model)
        bodies = (self._model.body(int(body)).name for body in self._model.geom_bodyid)
        self._links = np.array([linkage.body_link.get(name, -1) for name in bodies])

    def find(self, pose: Pose, stride: int = 1) -> Overlaps:
        """Every overlap in every ``stride``-th frame."""
        model, data = self._model, self._data
        angles = np.ascontiguousarray(pose.joints.T)
        found: list[tuple[int, NDArray[np.intp], Array, Array, Array]] = []
        # Which links overlap does not depend on the root: it stays where it is, and what is found is turned after.
        data.qpos[:7] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
        for frame in range(0, len(angles), stride):
            data.qpos[7:] = angles[frame]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            if data.ncon:
                contact = data.contact
                place, normal = contact.pos.copy(), contact.frame[:, :3].copy()  # the next frame overwrites them
                found.append((frame, contact.geom.copy(), place, normal, contact.dist.copy()))
        return self._collected(found, pose)

    def _collected(self, found: list[tuple[int, NDArray[np.intp], Array, Array, Array]], pose: Pose) -> Overlaps:
        if not found:
            none = np.zeros(0, dtype=np.intp)
            return Overlaps(none, none, none, np.zeros((3, 0)), np.zeros((3, 0)), np.zeros(0))
        frames = np.concatenate([np.full(len(dist), frame) for frame, _, _, _, dist in found])
        geoms = np.concatenate([geom for _, geom, _, _, _ in found])
        points = np.concatenate([place for _, _, place, _, _ in found]).T
        way_out = np.concatenate([normal for _, _, _, normal, _ in found]).T
        depth = -np.concatenate([dist for _, _, _, _, dist in found])
        turns = pose.root_rot[..., frames]
        links = self._links[geoms]
        return Overlaps(
            frames,
            links[:, 0],
            links[:, 1],
            pose.root_pos[:, frames] + np.einsum("ijm,jm->im", turns, points),
            np.einsum("ijm,jm->im", turns, way_out),
            depth,
        )
