"""The robot's side of the mapping: which of its bodies stand for which parts of a human."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import as_dataclass, read_toml
from pfmhr.retarget.linkage import Linkage
from pfmhr.retarget.parts import BODIES, SEGMENTS, SIDES
from pfmhr.retarget.rotations import Array
from pfmhr.robots import Robot

SUFFIX = ".retarget.toml"
"""A robot's map lies beside its MJCF, with this ending."""
BUILT_IN = ("booster_t1", "unitree_h1")
"""Maps of robots that do not come with the package."""


@dataclass(frozen=True)
class RobotMap:
    """The content of a robot's map."""

    bodies: dict[str, str]
    """The body that stands for each of :data:`BODIES`."""
    t_pose: dict[str, float] = field(default_factory=dict)
    """Joint angles in rad in which it stands upright, arms stretched out sideways; others are 0."""
    points: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Where in its body's frame a part begins, in m, if not at its origin."""

    def __post_init__(self) -> None:
        for name in (*self.bodies, *self.points):
            if name not in BODIES:
                raise unknown_name("part", name, BODIES)
        missing = [name for name in BODIES if name not in self.bodies]
        if missing:
            raise InputError("the robot's map lacks parts", expected=", ".join(missing), code="bad_map")


def load_robot_map(robot: Robot) -> RobotMap:
    """The map beside a robot's MJCF, or the built-in one whose bodies it has."""
    beside = robot.path.with_name(robot.path.stem + SUFFIX)
    if beside.exists():
        return _read(beside)
    for name in BUILT_IN:
        built_in = _read(Path(str(files("pfmhr.retarget.maps") / "robots" / f"{name}.toml")))
        if set(built_in.bodies.values()) <= set(robot.body_names):
            return built_in
    raise InputError(
        f"nothing says which bodies of robot '{robot.name}' are its arms and legs",
        where=robot.path,
        expected=f"a file {beside.name} beside it",
        got=f"bodies {', '.join(robot.body_names)}",
        fix=f"Write one as docs/howto/bvh-to-motion.md shows; the G1's is {_g1_map()}.",
        code="no_robot_map",
    )


def _g1_map() -> Path:
    return Path(str(files("pfmhr.robots") / f"unitree_g1{SUFFIX}"))


def _read(path: Path) -> RobotMap:
    try:
        return as_dataclass(RobotMap, read_toml(path, "bad_map"), "the robot's map", "bad_map")
    except InputError as error:
        raise error.at(path) from error


@dataclass(frozen=True, eq=False)
class Body:
    """A robot in its T-pose: everything that targets are made of."""

    linkage: Linkage
    link: Mapping[str, int]
    """The link of each of :data:`BODIES`."""
    point: Mapping[str, Array]
    """Where on that link each begins, ``(3,)``."""
    place: Mapping[str, Array]
    """Where each begins in the T-pose, ``(3,)`` in m, with the root at the origin."""
    turn: Mapping[str, Array]
    """How the link of each is turned there, ``(3, 3)``."""
    t_pose: NDArray[np.float64]
    """``(J,)``."""

    @staticmethod
    def of(robot: Robot, robot_map: RobotMap | None = None) -> Body:
        """A robot with its map, the one beside its MJCF unless given."""
        robot_map = robot_map or load_robot_map(robot)
        linkage = Linkage.of(robot)
        for body in robot_map.bodies.values():
            if body not in linkage.body_link:
                raise unknown_name(f"body of robot '{robot.name}'", body, robot.body_names)
        t_pose = np.zeros(robot.num_joints)
        t_pose[robot.joint_indices(list(robot_map.t_pose))] = list(robot_map.t_pose.values())
        places, turns = linkage.upright(t_pose)
        link = {part: linkage.body_link[body] for part, body in robot_map.bodies.items()}
        point = {part: np.array(robot_map.points.get(part, (0.0, 0.0, 0.0))) for part in BODIES}
        return Body(
            linkage,
            link,
            point,
            {part: places[link[part]] + turns[link[part]] @ point[part] for part in BODIES},
            {part: turns[link[part]] for part in BODIES},
            t_pose,
        )

    @cached_property
    def leg(self) -> float:
        """Thigh and shin in m."""
        hip, knee, ankle = (self.place[f"left_{part}"] for part in ("hip", "shin", "foot"))
        return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))

    @cached_property
    def hips(self) -> Array:
        """``(3,)`` the middle between the hips in the T-pose."""
        return 0.5 * (self.place["left_hip"] + self.place["right_hip"])

    @cached_property
    def soles(self) -> Mapping[str, Array]:
        """Per side the lowest points of the foot's colliding shapes, ``(n, 3)`` in its link's frame."""
        return {side: _sole(self.linkage, self.link[f"{side}_foot"], self.turn[f"{side}_foot"]) for side in SIDES}

    @cached_property
    def ankle_height(self) -> float:
        """How far in m the ankle is above the sole of a flat foot."""
        foot = self.link["left_foot"]
        lowest = (self.turn["left_foot"] @ self.soles["left"].T)[2].min()
        return float((self.turn["left_foot"] @ self.point["left_foot"])[2] - lowest) if foot >= 0 else 0.0

    def turned_segments(self) -> tuple[str, ...]:
        """Segments with a link of their own; a hand that is fixed to its forearm has none."""
        return tuple(
            name
            for name in SEGMENTS
            if not (name.endswith("hand") and self.link[name] == self.link[name.replace("hand", "lower_arm")])
        )


def _sole(linkage: Linkage, foot: int, flat: Array) -> Array:
    """Corners of the area that a flat foot stands on, ``(n, 3)`` in the foot's frame."""
    model = linkage.robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    body = next(index for index in range(1, model.nbody) if linkage.body_link[model.body(index).name] == foot)
    points = [
        _in_frame(data, body, point)
        for geom in range(model.ngeom)
        if model.body_weldid[model.geom_bodyid[geom]] == model.body_weldid[body]
        and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        for point in _extremes(model, data, geom)
    ]
    if not points:
        what = f"the foot '{model.body(body).name}' has no colliding shape"
        raise InputError(what, where=linkage.robot.path, fix="Give it a box or spheres.", code="bad_robot")
    heights = np.array(points) @ flat[2]
    low = np.array(points)[heights <= heights.min() + 0.01]
    corners = {int(np.argmax(a * (low @ flat[0]) + b * (low @ flat[1]))) for a in (-1, 1) for b in (-1, 1)}
    return low[sorted(corners)]


def _in_frame(data: mujoco.MjData, body: int, point: Array) -> Array:
    return data.xmat[body].reshape(3, 3).T @ (point - data.xpos[body])


def _extremes(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> list[Array]:
    """Points of a shape among which its lowest is, however it is turned within a right angle; in the world."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    centre, axes = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        return list(centre + model.mesh_vert[first : first + count] @ axes.T)
    half = size if kind in (mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_ELLIPSOID) else np.repeat(size[0], 3)
    if kind in (mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_CYLINDER):
        round_end = size[0] if kind == mujoco.mjtGeom.mjGEOM_CAPSULE else 0.0
        half = np.array([size[0], size[0], size[1] + round_end])
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return [centre + size[0] * sign * np.eye(3)[axis] for axis in range(3) for sign in (-1, 1)]
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return [centre + axes @ (half * sign) for sign in signs]
