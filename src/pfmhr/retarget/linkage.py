"""The robot as links and hinges: forward kinematics of many frames at once, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.retarget.rotations import Array, compose, turned
from pfmhr.robots import Robot


@dataclass(frozen=True)
class Pose:
    """Where everything is in T frames."""

    root_pos: Array
    """``(3, T)`` in m."""
    root_rot: Array
    """``(3, 3, T)``."""
    joints: Array
    """``(J, T)`` in rad."""


@dataclass(frozen=True, eq=False)
class Linkage:
    """Links in an order in which parents come first. Each is fixed to its parent but for at most one hinge.

    A body with several hinges, or one whose hinge is away from its origin, is several links.
    """

    robot: Robot
    parent: NDArray[np.intp]
    """``(L,)`` parent link; −1 for the root, which is link 0."""
    offset: Array
    """``(L, 3)`` origin in the parent's frame, in m."""
    turn: Array
    """``(L, 3, 3)`` orientation in the parent's frame at joint angle 0."""
    joint: NDArray[np.intp]
    """``(L,)`` the hinge that turns a link, −1 for none."""
    body_link: dict[str, int]
    """The link of each body, by the body's name."""

    @staticmethod
    def of(robot: Robot) -> Linkage:
        """The linkage of a robot with a floating base."""
        if not robot.floating_base:
            fix = "Give its root body a free joint."
            raise InputError(
                "motion cannot be put on a robot that is fixed", where=robot.path, fix=fix, code="bad_robot"
            )
        model = robot.compile()
        building = _Building()
        for body in range(1, model.nbody):
            building.add(model, body)
        return Linkage(
            robot,
            np.array(building.parent),
            np.array(building.offset),
            np.array(building.turn),
            np.array(building.joint),
            {model.body(body).name: link for body, link in building.body_link.items() if body},
        )

    @cached_property
    def axes(self) -> Array:
        """``(J, 3)`` hinge axes in their links' frames."""
        return self.robot.joint_axes.astype(np.float64)

    @cached_property
    def joint_link(self) -> NDArray[np.intp]:
        """``(J,)`` the link that each hinge turns."""
        order = np.full(self.robot.num_joints, -1)
        order[self.joint[self.joint >= 0]] = np.flatnonzero(self.joint >= 0)
        return order

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """``(L, J)`` whether a hinge moves a link."""
        out = np.zeros((len(self.parent), self.robot.num_joints), dtype=bool)
        for link in range(1, len(self.parent)):
            out[link] = out[self.parent[link]]
            if self.joint[link] >= 0:
                out[link, self.joint[link]] = True
        return out

    @cached_property
    def _levels(self) -> list[NDArray[np.intp]]:
        depth = np.zeros(len(self.parent), dtype=int)
        for link in range(1, len(depth)):
            depth[link] = depth[self.parent[link]] + 1
        return [np.flatnonzero(depth == level) for level in range(1, depth.max() + 1)]

    @cached_property
    def _hinge_terms(self) -> tuple[Array, Array]:
        """``turn · K`` and ``turn · K²`` per link, K the cross product with its axis: Rodrigues' formula."""
        sine = np.zeros_like(self.turn)
        versine = np.zeros_like(self.turn)
        for link in np.flatnonzero(self.joint >= 0):
            x, y, z = self.axes[self.joint[link]]
            skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            sine[link], versine[link] = self.turn[link] @ skew, self.turn[link] @ skew @ skew
        return sine, versine

    def relative(self, links: NDArray[np.intp], joints: Array) -> Array:
        """Orientations ``(n, 3, 3, T)`` of links in their parents' frames, for joint angles ``(J, T)``."""
        sine, versine = self._hinge_terms
        angles = joints[self.joint[links]]  # of the last joint where there is none: its terms are zero
        return (
            self.turn[links][..., None]
            + np.sin(angles)[:, None, None] * sine[links][..., None]
            + (1.0 - np.cos(angles))[:, None, None] * versine[links][..., None]
        )

    def forward(self, pose: Pose) -> tuple[Array, Array]:
        """Origins ``(L, 3, T)`` and orientations ``(L, 3, 3, T)`` of all links in the world."""
        count, frames = len(self.parent), pose.joints.shape[1]
        places, turns = np.empty((count, 3, frames)), np.empty((count, 3, 3, frames))
        places[0], turns[0] = pose.root_pos, pose.root_rot
        for links in self._levels:
            above = self.parent[links]
            places[links] = places[above] + np.einsum("lijt,lj->lit", turns[above], self.offset[links])
            turns[links] = compose(turns[above], self.relative(links, pose.joints))
        return places, turns

    def upright(self, joints: Array) -> tuple[Array, Array]:
        """Origins ``(L, 3)`` and orientations ``(L, 3, 3)`` for one pose ``(J,)``, its root unturned at the origin."""
        pose = Pose(np.zeros((3, 1)), np.eye(3)[..., None], np.asarray(joints, dtype=np.float64)[:, None])
        places, turns = self.forward(pose)
        return places[..., 0], turns[..., 0]

    def chain(self, start: int, end: int) -> list[int]:
        """The links from below ``start`` to ``end``, in that order."""
        links, link = [], end
        while link not in (start, -1):
            links.append(link)
            link = int(self.parent[link])
        if link != start:
            raise ValueError(f"link {start} is not above link {end}")
        return links[::-1]


class _Building:
    """Links while they are read from a model."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.offset: list[Array] = []
        self.turn: list[Array] = []
        self.joint: list[int] = []
        self.body_link: dict[int, int] = {0: -1}
        self._hinges = 0

    def add(self, model: mujoco.MjModel, body: int) -> None:
        above = self.body_link[int(model.body_parentid[body])]
        if above == -1 and self.parent:
            what = f"body '{model.body(body).name}' does not hang on the robot's root"
            raise InputError(what, fix="Use an MJCF of the robot alone.", code="bad_robot")
        offset, turn = model.body_pos[body].copy(), _matrix(model.body_quat[body])
        first = int(model.body_jntadr[body])
        joints = range(first, first + int(model.body_jntnum[body]))
        hinges = [joint for joint in joints if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE]
        if above == -1 or not hinges:
            self.body_link[body] = self._link(above, offset, turn, -1)
            return
        at = np.zeros(3)
        for joint in hinges:
            anchor = model.jnt_pos[joint]
            above = self._link(above, offset + turn @ (anchor - at), turn, self._hinges)
            self._hinges += 1
            offset, turn, at = np.zeros(3), np.eye(3), anchor
        if at.any():
            above = self._link(above, -at, np.eye(3), -1)
        self.body_link[body] = above

    def _link(self, parent: int, offset: Array, turn: Array, joint: int) -> int:
        self.parent.append(parent)
        self.offset.append(np.asarray(offset, dtype=np.float64))
        self.turn.append(turn)
        self.joint.append(joint)
        return len(self.parent) - 1


def _matrix(quaternion: NDArray[np.floating]) -> Array:
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def point_on(turns: Array, places: Array, link: int, point: Array) -> Array:
    """World positions ``(3, T)`` of a point ``(3,)`` fixed to a link."""
    return places[link] + turned(turns[link], point)
