"""What the bodies of a robot are for: from a file beside its MJCF, or from the shape of its tree."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import as_dataclass, read_toml

if TYPE_CHECKING:
    from pfmhr.robots.robot import Robot

SUFFIX = ".roles.toml"
"""Of the file beside an MJCF: ``robot.xml`` has ``robot.roles.toml``."""
LOW = 0.2
"""A limb ends in a foot if its end is this far up, at most, from the lowest end to the root."""
LOWER_PART = 0.6
"""Bodies so near to a limb's end, in shares of its length, may touch the ground where the limb may."""


@dataclass(frozen=True)
class Gains:
    """Of joints that motors drive, whose torque nobody else turns into angles."""

    joints: tuple[str, ...]
    """Names; every joint if none is named."""
    stiffness: float
    """N·m/rad."""
    damping: float
    """N·m·s/rad."""


@dataclass(frozen=True)
class Roles:
    """Names of bodies by what they are for; the file beside the MJCF may state any of them."""

    name: str = ""
    """What a bundled robot is called by."""
    feet: tuple[str, ...] = ()
    hands: tuple[str, ...] = ()
    key_bodies: tuple[str, ...] = ()
    """Bodies of the world observation and of DeepMimic's reward."""
    legs: tuple[str, ...] = ()
    """Bodies of the legs that may touch the ground."""
    arms: tuple[str, ...] = ()
    """Bodies of the arms that may touch the ground in skills that need the hands."""
    optional_joints: tuple[str, ...] = ()
    """Joints that files for this robot may leave out."""
    gains: tuple[Gains, ...] = field(default=())


def roles_file(mjcf: Path) -> Path:
    """Where the roles of a robot are stated, if they are."""
    return mjcf.with_suffix(SUFFIX)


def read_roles(path: Path) -> Roles | None:
    """What a roles file states; None if there is none."""
    try:
        content = read_toml(path, "bad_robot")
    except FileNotFoundError:
        return None
    try:
        return as_dataclass(Roles, content, "the robot's roles", "bad_robot")
    except InputError as error:
        raise error.at(path) from None


def roles_of(robot: Robot) -> Roles:
    """The stated roles, and what follows from the tree for those that the file leaves open."""
    derived, path = derived_roles(robot), roles_file(robot.path)
    stated = read_roles(path)
    if stated is None:
        return derived
    for role in fields(Roles):
        known = robot.joint_names if role.name == "optional_joints" else robot.body_names
        for name in getattr(stated, role.name) if role.name not in ("name", "gains") else ():
            if name not in known:
                raise unknown_name(f"name in {role.name}:", name, known).at(path, code="bad_robot")
    open_roles = {role.name for role in fields(Roles) if not getattr(stated, role.name)}
    return replace(stated, **{name: getattr(derived, name) for name in open_roles})


def derived_roles(robot: Robot) -> Roles:
    """Roles from the ends of the tree, in the default pose.

    The lowest ends are feet; other ends beside the middle are hands. A limb is what no other end shares, and its lower
    part may touch the ground. Key bodies are feet and hands, and between them the body that carries both hands.
    """
    joints = tuple(name for name in robot.joint_names if "wrist" in name)
    if not robot.floating_base:
        return Roles(optional_joints=joints)
    tree = _Tree(robot)
    ends = [body for body in range(1, tree.count) if body not in tree.parent[1:] and body != 1]
    lowest, root = min((tree.height(body) for body in ends), default=0.0), tree.height(1)
    feet = [body for body in ends if tree.height(body) - lowest <= LOW * (root - lowest)]
    hands = [body for body in ends if body not in feet and tree.aside(body)]
    chest = [tree.shared(hands)] if len(hands) > 1 and tree.shared(hands) != 1 else []
    named = {
        "feet": feet,
        "hands": hands,
        "key_bodies": [*feet, *chest, *hands],
        "legs": sorted({body for foot in feet for body in tree.lower_part(foot, ends)}),
        "arms": sorted({body for hand in hands for body in tree.lower_part(hand, ends)}),
    }
    bodies: dict[str, Any] = {
        role: tuple(robot.body_names[body - 1] for body in found) for role, found in named.items()
    }
    return Roles(**bodies, optional_joints=joints)


class _Tree:
    """The bodies of a robot in its default pose, by MuJoCo's numbers: 0 is the world, 1 the root."""

    def __init__(self, robot: Robot) -> None:
        model = robot.compile()
        data = mujoco.MjData(model)
        data.qpos[:7] = [0.0, 0.0, robot.default_root_height, 1.0, 0.0, 0.0, 0.0]
        data.qpos[7:] = robot.default_pose
        mujoco.mj_kinematics(model, data)
        self.count, self.parent = int(model.nbody), [int(parent) for parent in model.body_parentid]
        self._place, self._reach = data.xpos.copy(), np.linalg.norm(model.body_pos, axis=1)

    def height(self, body: int) -> float:
        """m above the ground."""
        return float(self._place[body, 2])

    def aside(self, body: int) -> bool:
        """Whether it is to the left or right of the robot's middle, by more than a twentieth of its height."""
        return abs(float(self._place[body, 1] - self._place[1, 1])) > 0.05 * abs(self.height(1))

    def way_up(self, body: int) -> list[int]:
        """From a body to the root, both included."""
        way = [body]
        while way[-1] != 1:
            way.append(self.parent[way[-1]])
        return way

    def shared(self, bodies: list[int]) -> int:
        """The lowest body that carries all of them."""
        others = [set(self.way_up(body)) for body in bodies[1:]]
        return next(body for body in self.way_up(bodies[0]) if all(body in way for way in others))

    def lower_part(self, end: int, ends: list[int]) -> list[int]:
        """A limb's bodies near its end."""
        others = {body for other in ends if other != end for body in self.way_up(other)}
        limb = list(takewhile(lambda body: body not in others and body != 1, self.way_up(end)))
        away = np.concatenate([[0.0], np.cumsum(self._reach[limb[:-1]])])
        return [body for body, far in zip(limb, away, strict=True) if far <= LOWER_PART * away[-1]]
