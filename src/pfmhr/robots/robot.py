"""Who moves: a robot's joints, their order, limits and motors, read from an MJCF file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError, unknown_name
from pfmhr.robots.finite import require_finite
from pfmhr.robots.gains import with_gains
from pfmhr.robots.mjcf import require_bounded
from pfmhr.robots.naming import require_same_joints
from pfmhr.robots.quiet import no_log_file
from pfmhr.robots.roles import SUFFIX, Roles, read_roles, roles_file, roles_of


def bundled_robots() -> dict[str, Path]:
    """Robots that come with the package: name → MJCF file, by the roles files beside this module."""
    stated = {path: read_roles(path) for path in sorted(Path(__file__).parent.glob(f"*{SUFFIX}"))}
    return {
        roles.name: path.with_name(path.name.replace(SUFFIX, ".xml"))
        for path, roles in stated.items()
        if roles is not None
    }


@dataclass(frozen=True, eq=False)
class Robot:
    """The joints of a robot, in one fixed order: MuJoCo's depth-first order of the MJCF.

    Every array has one entry per hinge joint, shape ``(J,)`` float32, in radians, N·m and SI units.
    """

    name: str
    path: Path
    """The MJCF file this robot was read from."""
    joint_names: tuple[str, ...]
    lower: NDArray[np.float32]
    """Lower joint limits in rad; −π for a joint without limits."""
    upper: NDArray[np.float32]
    default_pose: NDArray[np.float32]
    """The first keyframe's joint angles, or the model's reference pose where there is none."""
    default_root_height: float
    """Height of the root body in that pose, in m."""
    effort: NDArray[np.float32]
    """Torque limits; inf where the model sets none."""
    stiffness: NDArray[np.float32]
    """Proportional gains of the position actuators, or of motors as the roles file states them; 0 without either."""
    damping: NDArray[np.float32]
    armature: NDArray[np.float32]
    body_names: tuple[str, ...]
    """All bodies but the world, depth first."""
    floating_base: bool
    _joint_body: tuple[int, ...] = field(repr=False)
    _body_parent: tuple[int, ...] = field(repr=False)
    _axis: NDArray[np.float32] = field(repr=False)

    @staticmethod
    def load(name_or_path: str | Path) -> Robot:
        """Load a bundled robot by name (``"g1"``) or any MJCF with hinge joints by path."""
        text = str(name_or_path)
        bundled = bundled_robots()
        if text in bundled:
            return from_mjcf(bundled[text], name=text)
        path = Path(name_or_path)
        try:
            there = path.is_file()
        except OSError as error:  # not to be looked at, or a name that is too long
            raise InputError("cannot read the robot", where=path, got=error.strerror, code="unreadable") from error
        if not there:
            if path.suffix or "/" in text or path.exists():
                raise InputError("no such robot file", where=text or "''", code="not_found")
            raise unknown_name("robot", text, [*bundled, "or the path of an MJCF file"])
        return from_mjcf(path, name=path.stem)

    @property
    def num_joints(self) -> int:
        """J."""
        return len(self.joint_names)

    @cached_property
    def sha256(self) -> str:
        """Hash of the MJCF and, for a robot that is not bundled, of the roles beside it."""
        content, roles = self.path.read_bytes(), roles_file(self.path)
        if self.path not in bundled_robots().values() and roles.is_file():
            content += roles.read_bytes()
        return hashlib.sha256(content).hexdigest()

    @property
    def joint_axes(self) -> NDArray[np.float32]:
        """(J, 3) unit axes of the joints, each in its body's frame."""
        return self._axis

    def compile(self) -> mujoco.MjModel:
        """A fresh MuJoCo model of this robot alone, without floor or lights."""
        with no_log_file():
            return mujoco.MjModel.from_xml_path(str(self.path))

    @cached_property
    def roles(self) -> Roles:
        """Which bodies are feet, hands, legs and arms: from the file beside the MJCF, or from the tree."""
        return roles_of(self)

    def require_joints(self, joint_names: Sequence[str], what: str, where: object = None, fix: str = "") -> None:
        """Refuse something that is not for exactly these joints in this order; ``what`` names it: "the prior"."""
        require_same_joints(joint_names, self.joint_names, what, f"robot '{self.name}'", where, fix)

    def joint_indices(self, names: tuple[str, ...] | list[str]) -> list[int]:
        """Positions of ``names`` in this robot's joint order."""
        position = {name: index for index, name in enumerate(self.joint_names)}
        for name in names:
            if name not in position:
                raise unknown_name(f"joint of robot '{self.name}'", name, self.joint_names)
        return [position[name] for name in names]

    def body_indices(self, names: tuple[str, ...] | list[str]) -> list[int]:
        """Positions of ``names`` in this robot's body order, the root being 0."""
        for name in names:
            if name not in self.body_names:
                raise unknown_name(f"body of robot '{self.name}'", name, self.body_names)
        return [self.body_names.index(name) for name in names]

    @cached_property
    def breadth_first_names(self) -> tuple[str, ...]:
        """The same joints level by level down the tree: the order of Isaac Gym and Isaac Lab files."""
        # Isaac walks the tree by level and, within a level, in the order of the parents above it.
        order = sorted(range(self.num_joints), key=lambda joint: (self._level(self._joint_body[joint]), joint))
        return tuple(self.joint_names[joint] for joint in order)

    @cached_property
    def three_hinges(self) -> tuple[list[int], ...]:
        """The joints of each body that has three, in order: MimicKit takes such a body to hang on a spherical joint."""
        bodies = sorted(set(self._joint_body))
        groups = ([joint for joint, body in enumerate(self._joint_body) if body == each] for each in bodies)
        return tuple(joints for joints in groups if len(joints) == 3)

    @cached_property
    def breadth_first_bodies(self) -> tuple[str, ...]:
        """The same bodies level by level down the tree."""
        order = sorted(range(len(self.body_names)), key=lambda body: (self._level(body + 1), body))
        return tuple(self.body_names[body] for body in order)

    @cached_property
    def bodies_on_root(self) -> tuple[str, ...]:
        """The bodies whose parent is the root: where they are depends on the root's pose alone."""
        return tuple(name for body, name in enumerate(self.body_names, 1) if self._body_parent[body] == 1)

    def _level(self, body: int) -> int:
        """How many bodies are above this one; the world, number 0, does not count."""
        level = 0
        while self._body_parent[body] != 0:
            body, level = self._body_parent[body], level + 1
        return level

    @cached_property
    def mirror(self) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Left/right reflection of a pose: ``mirrored = pose[index] * sign``.

        Partners are found by name (left ↔ right). A hinge about y keeps its sign under the
        reflection y → −y; hinges about x and z change it.
        """
        swap = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
        index = []
        for joint, name in enumerate(self.joint_names):
            partner = next((name.replace(a, b) for a, b in swap.items() if a in name), name)
            index.append(self.joint_names.index(partner) if partner in self.joint_names else joint)
        # The image of a turn about (x, y, z) is the same turn about (-x, y, -z); the partner may point the other way.
        image = self._axis[index] * np.array([-1.0, 1.0, -1.0])
        sign = np.where((image * self._axis).sum(axis=1) < 0, -1.0, 1.0).astype(np.float32)
        return np.array(index, dtype=np.intp), sign


def from_mjcf(path: Path, name: str) -> Robot:
    """Read a robot from an MJCF file whose joints are one optional free joint and hinges."""
    require_bounded(path)
    try:
        with no_log_file():
            model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise InputError(f"MuJoCo cannot compile this robot: {error}", where=path, code="bad_mjcf") from error
    _require_text(model, path)
    hinges, floating = _hinges(model, path)
    require_finite(model, path)
    dofs = model.jnt_dofadr[hinges]
    limited = model.jnt_limited[hinges].astype(bool)
    effort, stiffness, damping = _motors(model, hinges)
    joint_names = tuple(model.joint(int(joint)).name for joint in hinges)
    stiffness, damping = with_gains(path, joint_names, stiffness, damping)
    pose = model.key_qpos[0] if model.nkey else model.qpos0
    as_float = np.float32
    return Robot(
        name=name,
        path=Path(path),
        joint_names=joint_names,
        lower=np.where(limited, model.jnt_range[hinges, 0], -np.pi).astype(as_float),
        upper=np.where(limited, model.jnt_range[hinges, 1], np.pi).astype(as_float),
        default_pose=pose[model.jnt_qposadr[hinges]].astype(as_float),
        default_root_height=float(pose[2] if floating else 0.0),
        effort=effort,
        stiffness=stiffness,
        damping=damping,
        armature=model.dof_armature[dofs].astype(as_float),
        body_names=tuple(model.body(index).name for index in range(1, model.nbody)),
        floating_base=floating,
        _joint_body=tuple(int(body) for body in model.jnt_bodyid[hinges]),
        _body_parent=tuple(int(parent) for parent in model.body_parentid),
        _axis=model.jnt_axis[hinges].astype(as_float),
    )


def _require_text(model: mujoco.MjModel, path: Path) -> None:
    """MuJoCo takes names of any bytes, and fails when asked for one that is no text."""
    for start in (*model.name_jntadr, *model.name_bodyadr):
        name = model.names[start : model.names.index(b"\0", start)]
        try:
            name.decode()
        except UnicodeDecodeError:
            what = "a joint or body has a name that is not UTF-8"
            raise InputError(what, where=path, got=name, fix="Save the file as UTF-8.", code="bad_robot") from None


def _hinges(model: mujoco.MjModel, path: Path) -> tuple[NDArray[np.intp], bool]:
    kinds = model.jnt_type
    free = kinds == mujoco.mjtJoint.mjJNT_FREE
    hinge = kinds == mujoco.mjtJoint.mjJNT_HINGE
    other = ~(free | hinge)
    if other.any():
        joint = int(np.flatnonzero(other)[0])
        raise InputError(
            "only hinge joints below an optional free joint are supported",
            where=path,
            got=f"a {mujoco.mjtJoint(kinds[joint]).name[6:].lower()} joint '{model.joint(joint).name}'",
            code="bad_robot",
        )
    if not hinge.any() or free.sum() > 1 or (free.any() and not free[0]):
        raise InputError(
            "not one robot",
            where=path,
            expected="at most one free joint, first, and at least one hinge",
            got=f"{int(free.sum())} free joints and {int(hinge.sum())} hinges",
            code="bad_robot",
        )
    unnamed = [int(joint) for joint in np.flatnonzero(hinge) if not model.joint(int(joint)).name]
    if unnamed:
        raise InputError("every hinge needs a name", where=path, got=f"{len(unnamed)} without", code="bad_robot")
    return np.flatnonzero(hinge), bool(free.any())


def _motors(
    model: mujoco.MjModel, hinges: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Torque limit, proportional gain and damping per hinge, mapped through the actuators' joints."""
    effort = np.full(len(hinges), np.inf, dtype=np.float32)
    stiffness = np.zeros(len(hinges), dtype=np.float32)
    damping = np.zeros(len(hinges), dtype=np.float32)
    column = {int(joint): index for index, joint in enumerate(hinges)}
    for joint, index in column.items():
        if model.jnt_actfrclimited[joint]:
            effort[index] = model.jnt_actfrcrange[joint, 1]
    for actuator in range(model.nu):
        index = column.get(int(model.actuator_trnid[actuator, 0]))
        if index is None or model.actuator_trntype[actuator] != mujoco.mjtTrn.mjTRN_JOINT:
            continue
        gear = abs(float(model.actuator_gear[actuator, 0]))
        if model.actuator_forcelimited[actuator]:
            effort[index] = min(effort[index], gear * model.actuator_forcerange[actuator, 1])
        if model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE and model.actuator_ctrllimited[actuator]:
            most = gear * abs(model.actuator_gainprm[actuator, 0]) * model.actuator_ctrlrange[actuator, 1]
            effort[index] = min(effort[index], most)  # a motor's command is its torque
        if model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_AFFINE:
            # force = gain·ctrl + b0 + b1·position + b2·velocity: what resists position is b1, for velocity servos 0.
            stiffness[index] -= gear**2 * model.actuator_biasprm[actuator, 1]
            damping[index] -= gear**2 * model.actuator_biasprm[actuator, 2]
    return effort, stiffness, damping
