"""Motors made into servos: gains from the roles file for joints whose actuators only push."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError, unknown_name
from pfmhr.robots.roles import Roles, read_roles, roles_file

if TYPE_CHECKING:
    from pfmhr.robots.robot import Robot

Values = NDArray[np.float32]


def with_gains(path: Path, names: Sequence[str], stiffness: Values, damping: Values) -> tuple[Values, Values]:
    """Gains (J,) of a robot's joints: the model's where it has some, the roles file's for the others."""
    roles, stiffness, damping = read_roles(roles_file(path)) or Roles(), stiffness.copy(), damping.copy()
    for gains in roles.gains:
        if not (np.isfinite([gains.stiffness, gains.damping]).all() and gains.stiffness > 0 and gains.damping >= 0):
            what = "gains must be a stiffness above 0 and a damping of 0 or more"
            raise InputError(what, where=roles_file(path), got=gains, code="bad_robot")
        for name in gains.joints:
            if name not in names:
                raise unknown_name("joint in gains:", name, names).at(roles_file(path), code="bad_robot")
    for joint, name in enumerate(names):
        stated = next((gains for gains in roles.gains if not gains.joints or name in gains.joints), None)
        if stated is not None and stiffness[joint] == 0:
            stiffness[joint], damping[joint] = stated.stiffness, stated.damping
    return stiffness, damping


def motors_to_servos(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Let every motor with stated gains turn its joint to an angle, with no more than the torque it had."""
    column = {name: index for index, name in enumerate(robot.joint_names)}
    for actuator in spec.actuators:
        joint = column.get(actuator.target)
        on_joint = actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT
        if joint is None or not on_joint or not _is_motor(actuator) or robot.stiffness[joint] == 0:
            continue
        actuator.set_to_position(kp=float(robot.stiffness[joint]), kv=float(robot.damping[joint]))
        actuator.gear = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        if np.isfinite(robot.effort[joint]):
            actuator.forcelimited = True
            actuator.forcerange = [-float(robot.effort[joint]), float(robot.effort[joint])]


def _is_motor(actuator: mujoco.MjsActuator) -> bool:
    """Whether its force is its control times a constant, whatever the joint does."""
    return (
        actuator.biastype == mujoco.mjtBias.mjBIAS_NONE
        and actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
    )
