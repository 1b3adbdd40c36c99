"""A robot on a floor, with what a tracker needs to see: every body's frame, and which bodies touch the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError, unknown_name
from pfmhr.robots import Robot
from pfmhr.robots.quiet import no_log_file

FLOOR = "pfmhr_floor"
"""Name of the floor: a robot's file may have a "floor" of another kind."""
_FRAMES = {
    "position": (mujoco.mjtSensor.mjSENS_FRAMEPOS, 3),
    "orientation": (mujoco.mjtSensor.mjSENS_FRAMEQUAT, 4),
    "linear_velocity": (mujoco.mjtSensor.mjSENS_FRAMELINVEL, 3),
    "angular_velocity": (mujoco.mjtSensor.mjSENS_FRAMEANGVEL, 3),
}


@dataclass(frozen=True)
class Box:
    """A static box in the world, such as a vault."""

    size: tuple[float, float, float]
    """Half lengths in m."""
    position: tuple[float, float, float]
    """Centre in m."""
    yaw: float = 0.0
    """rad about z."""

    @property
    def quat(self) -> tuple[float, float, float, float]:
        """Its orientation, wxyz."""
        return math.cos(self.yaw / 2), 0.0, 0.0, math.sin(self.yaw / 2)


@dataclass(frozen=True)
class SceneConfig:
    """Physics. Defaults are MimicKit's rates and what is fastest on CPUs without visible harm."""

    physics_rate: float = 120.0
    """Physics steps per second."""
    control_rate: float = 30.0
    """Control steps per second."""
    boxes: tuple[Box, ...] = ()
    floor_friction: float = 1.0
    frames: tuple[str, ...] = tuple(_FRAMES)
    """What is sensed of every body; each quantity costs about 2 % of the physics."""

    def __post_init__(self) -> None:
        for name in self.frames:
            if name not in _FRAMES:
                raise unknown_name("frame quantity", name, _FRAMES)
        ratio = self.physics_rate / self.control_rate if self.control_rate > 0 else 0.0
        if not (ratio >= 1 and abs(ratio - round(ratio)) < 1e-9):
            raise InputError(
                "the physics rate must be a multiple of the control rate",
                got=f"{self.physics_rate} and {self.control_rate} Hz",
                code="bad_config",
            )

    @property
    def substeps(self) -> int:
        """Physics steps in a control step."""
        return round(self.physics_rate / self.control_rate)


class Scene:
    """The compiled model of a robot in its world, and where in its sensor data things are."""

    def __init__(self, robot: Robot, config: SceneConfig | None = None) -> None:
        if not robot.floating_base:
            raise InputError("a tracker needs a robot with a free root", where=robot.path, code="bad_robot")
        self.robot, self.config = robot, config or SceneConfig()
        self.bodies = robot.body_names
        if not all(self.bodies):
            text = "a tracker needs a name for every body"
            got = f"{self.bodies.count('')} without"
            raise InputError(text, where=robot.path, got=got, code="bad_robot")
        self.model = self._compile()
        self._refuse_bodies_before_the_root()
        joints = [self.model.joint(name).id for name in robot.joint_names]
        self.joint_positions: NDArray[np.intp] = self.model.jnt_qposadr[joints].astype(np.intp)
        self.joint_velocities: NDArray[np.intp] = self.model.jnt_dofadr[joints].astype(np.intp)
        # Actuators need not come in the order of the joints; a control in joint order would be silent nonsense.
        self.actuators: NDArray[np.intp] = np.array([self._servo(joint) for joint in joints], dtype=np.intp)

    def _refuse_bodies_before_the_root(self) -> None:
        """The first body is taken for the root wherever bodies are looked at."""
        (free,) = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
        root = int(self.model.jnt_bodyid[free])
        if root != 1:
            raise InputError(
                "a body stands before the one with the free joint",
                where=self.robot.path,
                expected=f"'{self.model.body(root).name}' first",
                got=self.model.body(1).name,
                fix="Move what is not part of the robot behind it, or out of the file.",
                code="bad_robot",
            )

    def _servo(self, joint: int) -> int:
        """The actuator that drives a joint: one, which turns it to an angle in rad."""
        model = self.model
        on_joint = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == joint)
        found = np.flatnonzero(on_joint)
        if len(found) == 1 and _is_position_servo(model, int(found[0])):
            return int(found[0])
        kinds = {0: "no actuator", 1: "one of another kind"}
        raise InputError(
            f"joint {model.joint(joint).name} cannot be told where to go",
            where=self.robot.path,
            expected="one <position> actuator with gear 1 per joint",
            got=kinds.get(len(found), f"{len(found)} actuators"),
            code="bad_robot",
        )

    def frame(self, what: str) -> tuple[slice, int]:
        """Columns of the sensor data that hold a frame quantity of all bodies, and numbers per body."""
        start = 0
        for name in self.config.frames:
            width = _FRAMES[name][1]
            if name == what:
                return slice(start, start + width * len(self.bodies)), width
            start += width * len(self.bodies)
        raise unknown_name("frame quantity", what, self.config.frames)

    @property
    def contacts(self) -> slice:
        """Columns of the sensor data that say how many contacts each body has with the floor."""
        start = sum(_FRAMES[name][1] for name in self.config.frames) * len(self.bodies)
        return slice(start, start + len(self.bodies))

    def _compile(self) -> mujoco.MjModel:
        with no_log_file():
            spec = mujoco.MjSpec.from_file(str(self.robot.path))
        spec.option.timestep = 1.0 / self.config.physics_rate
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
        spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        spec.option.iterations, spec.option.ls_iterations = 10, 20
        spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        # One robot is one island; looking for more is dear.
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
        for thing in [*spec.sensors, *(geom for geom in spec.geoms if _only_seen(spec, geom))]:
            spec.delete(thing)  # sensors that nobody reads would shift ours; shapes only to be looked at are dear
        if any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in spec.worldbody.geoms):
            fix = "Give the robot's own file, not a scene's."
            raise InputError("the world has a floor of its own", where=self.robot.path, fix=fix, code="bad_robot")
        friction = [self.config.floor_friction, 0.005, 0.0001]
        spec.worldbody.add_geom(
            name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], friction=friction, condim=3
        )
        for number, box in enumerate(self.config.boxes):
            kind = mujoco.mjtGeom.mjGEOM_BOX
            spec.worldbody.add_geom(name=f"box{number}", type=kind, size=box.size, pos=box.position, quat=box.quat)
        for actuator in spec.actuators:
            actuator.ctrllimited = False  # a target beyond the range is how a position servo pushes
        self._add_sensors(spec)
        try:
            with no_log_file():
                return spec.compile()
        except ValueError as error:
            what = f"MuJoCo cannot put this robot onto a floor: {error}"
            raise InputError(what, where=self.robot.path, code="bad_robot") from error

    def _add_sensors(self, spec: mujoco.MjSpec) -> None:
        for name in self.config.frames:
            kind = _FRAMES[name][0]
            for body in self.bodies:
                spec.add_sensor(name=f"{body}_{name}", type=kind, objtype=mujoco.mjtObj.mjOBJ_XBODY, objname=body)
        for body in self.bodies:
            spec.add_sensor(
                name=f"{body}_contact",
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                objname=body,
                reftype=mujoco.mjtObj.mjOBJ_GEOM,
                refname=FLOOR,
                intprm=[1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND), 0, 1],
            )


def _is_position_servo(model: mujoco.MjModel, actuator: int) -> bool:
    """Whether force = k·(target − angle) − d·speed, with the angle in rad."""
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    kinds = model.actuator_gaintype[actuator], model.actuator_biastype[actuator]
    affine = kinds == (mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE)
    return bool(affine and gain[0] > 0 and bias[1] == -gain[0] and model.actuator_gear[actuator, 0] == 1.0)


def _only_seen(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    """Whether a shape neither collides nor is what its body's mass is made of."""
    weighed = spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    massless = geom.parent.explicitinertial and weighed
    return geom.contype == 0 and geom.conaffinity == 0 and bool(massless)
