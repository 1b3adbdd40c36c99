"""A robot as a few shapes drawn many times: which copies there are, and where each is in any pose."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pfmhr.robots import Robot

Kind = mujoco.mjtGeom
Floats = NDArray[np.floating]
Placement = tuple[Floats, Floats]
"""Positions ``(n, 3)`` in m and orientations ``(n, 4)`` wxyz of a piece's copies."""
LARGE = 0.07
"""m: spheres and ellipsoids beyond this are drawn with four times as many triangles; on others it does not show."""
SMALL = 0.03
"""m: a link without any shape beyond this is hardly seen; what moves it is shown on the next link, too."""


@dataclass(frozen=True, eq=False)
class Piece:
    """One shape and its n copies on a robot."""

    mesh: trimesh.Trimesh
    """Of unit size: radius 1, half lengths 1."""
    geom: NDArray[np.intp]
    """(n,) the MuJoCo geom each copy belongs to."""
    offset: Floats
    """(n, 3) from the geom's middle, in its frame, in m."""
    scale: Floats
    """(n, 3)"""
    colour: Floats
    """(n, 3) of the model's material, in [0, 1]."""
    moved_by: NDArray[np.bool_]
    """(n, J) the joints between a copy and the link above it."""


class Figure:
    """What of a robot can be seen. ``place`` answers for one pose at a time."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._model = robot.compile()
        self._data = mujoco.MjData(self._model)
        self.pieces = _pieces(self._model, robot)

    def place(self, positions: Floats) -> list[Placement]:
        """Where the copies of each piece are; MuJoCo positions: root (3), wxyz (4) if it floats, joints in rad."""
        self._data.qpos[:] = positions
        mujoco.mj_kinematics(self._model, self._data)
        frames = self._data.geom_xmat.reshape(-1, 3, 3)
        wxyz = Rotation.from_matrix(frames).as_quat(scalar_first=True)
        middles = self._data.geom_xpos
        return [
            (middles[piece.geom] + np.einsum("nij,nj->ni", frames[piece.geom], piece.offset), wxyz[piece.geom])
            for piece in self.pieces
        ]

    def lowest(self, placements: list[Placement]) -> float:
        """Height of the lowest point, in m."""
        lowest = np.inf
        for piece, (middle, wxyz) in zip(self.pieces, placements, strict=True):
            upward = Rotation.from_quat(wxyz, scalar_first=True).as_matrix()[:, 2] * piece.scale
            heights = middle[:, 2, None] + upward @ piece.mesh.vertices.T
            lowest = min(lowest, float(heights.min()))
        return lowest

    def standing(self, joints: Floats) -> Floats:
        """MuJoCo positions of a pose ``(J,)`` in rad, upright, its lowest point on the floor."""
        if not self.robot.floating_base:
            return np.asarray(joints, dtype=np.float64)
        positions = np.r_[0.0, 0.0, self.robot.default_root_height, 1.0, 0.0, 0.0, 0.0, joints]
        positions[2] -= self.lowest(self.place(positions))
        return positions


def _pieces(model: mujoco.MjModel, robot: Robot) -> list[Piece]:
    """Geoms grouped by shape; capsules are a cylinder and two spheres."""
    copies: dict[str, list[tuple[int, tuple[float, float, float], Floats]]] = {}
    for geom in _visible(model):
        size, kind = model.geom_size[geom], model.geom_type[geom]
        if kind in (Kind.mjGEOM_SPHERE, Kind.mjGEOM_ELLIPSOID):
            shape = "ball" if size.max() > LARGE else "sphere"
            copies.setdefault(shape, []).append((geom, (0, 0, 0), size[[0, 0, 0]] if size[1] == 0 else size))
        elif kind in (Kind.mjGEOM_CYLINDER, Kind.mjGEOM_CAPSULE):
            copies.setdefault("cylinder", []).append((geom, (0, 0, 0), size[[0, 0, 1]]))
            ends = (-size[1], size[1]) if kind == Kind.mjGEOM_CAPSULE else ()
            copies.setdefault("sphere", []).extend((geom, (0, 0, end), size[[0, 0, 0]]) for end in ends)
        elif kind == Kind.mjGEOM_BOX:
            copies.setdefault("box", []).append((geom, (0, 0, 0), size))
        elif kind == Kind.mjGEOM_MESH:
            copies.setdefault(f"mesh {model.geom_dataid[geom]}", []).append((geom, (0, 0, 0), np.ones(3)))
    movers = _movers(model, robot.num_joints)
    return [_piece(model, _mesh(model, shape), rows, movers) for shape, rows in copies.items() if rows]


def _piece(model: mujoco.MjModel, mesh: trimesh.Trimesh, rows: list, movers: NDArray[np.bool_]) -> Piece:
    geom = np.array([row[0] for row in rows], dtype=np.intp)
    material = model.geom_matid[geom]
    painted = model.mat_rgba[material, :3] if model.nmat else model.geom_rgba[geom, :3]
    colour = np.where(material[:, None] >= 0, painted, model.geom_rgba[geom, :3])
    offset, scale = np.array([row[1] for row in rows], dtype=float), np.array([row[2] for row in rows], dtype=float)
    return Piece(mesh, geom, offset, scale, colour, movers[model.geom_bodyid[geom]])


def _visible(model: mujoco.MjModel) -> list[int]:
    """Shapes of the robot made to be looked at: those that touch nothing, or all where a model makes no difference."""
    its_own = model.geom_bodyid > 0
    for_show = its_own & (model.geom_contype == 0) & (model.geom_conaffinity == 0)
    return [int(geom) for geom in np.flatnonzero(for_show if for_show.any() else its_own)]


def _movers(model: mujoco.MjModel, joints: int) -> NDArray[np.bool_]:
    """(bodies, J): the hinges each body is moved by, alone or with a link above that is fixed to it or hardly seen."""
    movers = np.zeros((model.nbody, joints), dtype=bool)
    hinges = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
    visible = _visible(model)
    size = np.zeros(model.nbody)
    np.maximum.at(size, model.geom_bodyid[visible], model.geom_size[visible].max(axis=1))
    for body in range(1, model.nbody):  # parents come first
        movers[body, model.jnt_bodyid[hinges] == body] = True
        parent = model.body_parentid[body]
        if model.body_jntnum[body] == 0 or size[parent] < SMALL:
            movers[body] |= movers[parent]
    return movers


def _mesh(model: mujoco.MjModel, shape: str) -> trimesh.Trimesh:
    if shape in ("sphere", "ball"):
        return trimesh.creation.icosphere(subdivisions=3 if shape == "ball" else 2, radius=1.0)
    if shape == "box":
        box = trimesh.creation.box(extents=(2.0, 2.0, 2.0))
        box.unmerge_vertices()  # shared corners would be shaded round
        return box
    if shape == "cylinder":
        whole = trimesh.creation.cylinder(radius=1.0, height=2.0, sections=40)
        caps = np.abs(whole.face_normals[:, 2]) > 0.5
        # Caps and side share no corners, or the edges would be shaded round.
        corners = [np.unique(whole.faces[faces], return_inverse=True) for faces in (caps, ~caps)]
        vertices = np.concatenate([whole.vertices[used] for used, _ in corners])
        side = corners[1][1].reshape(-1, 3) + len(corners[0][0])
        return trimesh.Trimesh(vertices, np.concatenate([corners[0][1].reshape(-1, 3), side]), process=False)
    number = int(shape.removeprefix("mesh "))
    points, sides = model.mesh_vertadr[number], model.mesh_faceadr[number]
    vertices = model.mesh_vert[points : points + model.mesh_vertnum[number]]
    return trimesh.Trimesh(vertices, model.mesh_face[sides : sides + model.mesh_facenum[number]], process=False)
