"""Drawing a robot with matplotlib: the model's own shapes, projected and shaded. Needs no display and no GL."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.robots.robot import Robot

VISUAL_GROUP = 1


class Pen:
    """Draws poses of one robot onto matplotlib axes, seen from a fixed side."""

    def __init__(self, robot: Robot, azimuth: float = 35.0, elevation: float = 8.0) -> None:
        self._robot = robot
        self._model = robot.compile()
        self._data = mujoco.MjData(self._model)
        groups = self._model.geom_group
        self._geoms = [int(geom) for geom in np.flatnonzero(groups == VISUAL_GROUP)] or list(range(len(groups)))
        turn, tilt = np.deg2rad(azimuth), np.deg2rad(elevation)
        ahead = np.array([np.cos(turn) * np.cos(tilt), np.sin(turn) * np.cos(tilt), np.sin(tilt)])
        right = np.array([-np.sin(turn), np.cos(turn), 0.0])
        self._view = np.stack([right, np.cross(ahead, right), ahead])
        """Rows: to the right, upward, towards the viewer."""

    def draw(
        self,
        axes: Any,
        pose: NDArray[np.floating],
        root_pos: NDArray[np.floating] | None = None,
        root_quat: NDArray[np.floating] | None = None,
        tint: tuple[float, float, float] | None = None,
        offset: float = 0.0,
    ) -> None:
        """Draw one pose ``(J,)`` in rad; upright at the default height unless a root is given.

        Args:
            tint: colour of the light parts. offset: shift to the right, in m.
        """
        from matplotlib.collections import PatchCollection

        self._place(pose, root_pos, root_quat)
        shapes = sorted(((self._depth(geom), geom) for geom in self._geoms), key=lambda pair: pair[0])
        near, far = shapes[-1][0], shapes[0][0]
        strokes = []
        for depth, geom in shapes:
            shade = 0.75 + 0.25 * (depth - far) / max(near - far, 1e-9)
            strokes += self._stroke(geom, np.clip(shade * self._colour(geom, tint), 0, 1), offset)
        # One by one they would take several times as long.
        axes.add_collection(PatchCollection(strokes, match_original=True), autolim=False)

    def project(self, points: NDArray[np.floating]) -> NDArray[np.floating]:
        """World points ``(…, 3)`` in m as seen: to the right, upward, towards the viewer ``(…, 3)``."""
        return points @ self._view.T

    def draw_floor(self, axes: Any, around: NDArray[np.floating], reach: float = 3.0, tile: float = 0.5) -> None:
        """Tiles of the ground near a point ``(3,)``; they stay where they are when the point moves."""
        from matplotlib.collections import LineCollection
        from matplotlib.patches import Polygon

        middle = tile * np.round(np.asarray(around)[:2] / tile)
        ticks = np.arange(-reach, reach + tile / 2, tile)
        ends = np.array([[[t, -reach, 0.0], [t, reach, 0.0]] for t in ticks])
        lines = np.concatenate([ends, ends[..., [1, 0, 2]]]) + np.r_[middle, 0.0]
        corners = lines[[0, 0, len(ticks) - 1, len(ticks) - 1], [0, 1, 1, 0]]
        axes.add_patch(Polygon(self.project(corners)[:, :2], facecolor="0.92", linewidth=0, zorder=0))
        axes.add_collection(LineCollection(list(self.project(lines)[..., :2]), colors="0.8", linewidths=0.8, zorder=0))

    def draw_box(self, axes: Any, size: Any, position: Any, yaw: float = 0.0) -> None:
        """A box of half lengths ``size`` ``(3,)``: its faces that look at the viewer."""
        from matplotlib.patches import Polygon

        turn = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
        for axis, side in ((axis, side) for axis in range(3) for side in (-1.0, 1.0)):
            if side * self._view[2] @ turn[:, axis] <= 0:
                continue
            across = np.zeros((4, 3))
            across[:, axis] = side
            across[:, [other for other in range(3) if other != axis]] = [[-1, -1], [-1, 1], [1, 1], [1, -1]]
            corners = (across * size) @ turn.T + position
            shade = (0.62, 0.68, 0.78)[axis]
            axes.add_patch(
                Polygon(self.project(corners)[:, :2], facecolor=(shade, 0.9 * shade, 0.75 * shade), linewidth=0)
            )

    def _place(self, pose: Any, root_pos: Any, root_quat: Any) -> None:
        offset = 0
        if self._robot.floating_base:
            offset = 7
            self._data.qpos[:3] = [0, 0, self._robot.default_root_height] if root_pos is None else root_pos
            self._data.qpos[3:7] = [1, 0, 0, 0] if root_quat is None else root_quat
        self._data.qpos[offset:] = pose
        mujoco.mj_kinematics(self._model, self._data)

    def _depth(self, geom: int) -> float:
        return float(self._view[2] @ self._data.geom_xpos[geom])

    def _colour(self, geom: int, tint: tuple[float, float, float] | None) -> NDArray[np.floating]:
        material = self._model.geom_matid[geom]
        colour = self._model.mat_rgba[material][:3] if material >= 0 else self._model.geom_rgba[geom][:3]
        return np.array(tint) if tint is not None and colour.mean() > 0.6 else colour

    def _stroke(self, geom: int, colour: NDArray[np.floating], offset: float) -> list[Any]:
        """Every shape is the shadow of its extremes: a thick line for long ones, an ellipse for round ones."""
        from matplotlib.patches import Ellipse

        size = self._model.geom_size[geom]
        frame = self._data.geom_xmat[geom].reshape(3, 3)
        kind = self._model.geom_type[geom]
        centre = self._view[:2] @ self._data.geom_xpos[geom] + [offset, 0.0]
        round_kinds = (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_ELLIPSOID)
        radii = np.array([size[0]] * 3 if kind == mujoco.mjtGeom.mjGEOM_SPHERE else size)
        if kind == mujoco.mjtGeom.mjGEOM_CAPSULE or kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
            radii = np.array([size[0], size[0], size[1] + (size[0] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0)])
        flat = self._view[:2] @ frame @ np.diag(radii)  # the ellipsoid's shadow is an ellipse with this factor
        spread, values, _ = np.linalg.svd(flat)
        angle = np.degrees(np.arctan2(spread[1, 0], spread[0, 0]))
        if kind in round_kinds or values[0] < 1.3 * values[1]:
            return [Ellipse(centre, 2 * values[0], 2 * values[1], angle=angle, facecolor=colour, linewidth=0)]
        return self._bar(centre, spread[:, 0] * (values[0] - values[1]), values[1], colour)

    def _bar(self, centre: Any, half: Any, radius: float, colour: Any) -> list[Any]:
        """A rounded bar in data units, as a line with a width would not keep its size when axes are scaled."""
        from matplotlib.patches import Circle, Polygon

        along = half / max(np.linalg.norm(half), 1e-9)
        across = radius * np.array([-along[1], along[0]])
        corners = [centre - half + across, centre + half + across, centre + half - across, centre - half - across]
        ends = [Circle(end, radius, facecolor=colour, linewidth=0) for end in (centre - half, centre + half)]
        return [Polygon(corners, facecolor=colour, linewidth=0), *ends]


def frame_axes(axes: Any, width: float = 1.1, height: float = 1.45) -> None:
    """Equal scale, room for one standing robot, no ticks."""
    axes.set_xlim(-width / 2, width / 2)
    axes.set_ylim(-0.08, height)
    axes.set_aspect("equal")
    axes.axis("off")
