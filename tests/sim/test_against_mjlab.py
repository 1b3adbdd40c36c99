"""The simulated G1 against mjlab's: its own model, its own motors in its own order, stepped by MuJoCo alone."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from pfmhr.sim import Scene

from .states import standing, started


@pytest.fixture(scope="module")
def theirs(scene: Scene) -> mujoco.MjModel:
    """mjlab's G1 on a floor; the solver's settings are ours."""
    reason = "mjlab is an optional extra"
    constants = pytest.importorskip("mjlab.asset_zoo.robots.unitree_g1.g1_constants", reason=reason)
    entity = pytest.importorskip("mjlab.entity", reason=reason)
    spec = entity.Entity(constants.get_g1_robot_cfg()).spec
    ours = scene.model.opt
    spec.option.timestep, spec.option.integrator = ours.timestep, mujoco.mjtIntegrator(ours.integrator)
    spec.option.iterations, spec.option.ls_iterations = int(ours.iterations), int(ours.ls_iterations)
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    return spec.compile()


@pytest.fixture(scope="module")
def motors(scene: Scene, theirs: mujoco.MjModel) -> list[int]:
    """Their actuators in our joint order; they have another."""
    order = [theirs.actuator(name).id for name in scene.robot.joint_names]
    assert order != sorted(order)
    return order


def test_gains_torque_limits_armatures_and_mass_agree(scene: Scene, theirs: mujoco.MjModel, motors: list[int]) -> None:
    ours, mine = scene.model, scene.actuators
    assert ours.actuator_gainprm[mine, 0] == pytest.approx(theirs.actuator_gainprm[motors, 0], rel=1e-5)
    assert ours.actuator_biasprm[mine, :3] == pytest.approx(theirs.actuator_biasprm[motors, :3], rel=1e-5)
    assert ours.actuator_forcerange[mine] == pytest.approx(theirs.actuator_forcerange[motors], rel=1e-5)
    assert ours.dof_armature == pytest.approx(theirs.dof_armature, rel=1e-5)
    assert ours.dof_damping == pytest.approx(theirs.dof_damping) and not theirs.dof_frictionloss.any()
    assert ours.body_mass.sum() == pytest.approx(theirs.body_mass.sum(), rel=0.01)


def both(
    scene: Scene, theirs: mujoco.MjModel, motors: list[int], above: float, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(steps, nq) of ours and of theirs, from the default pose so far above the floor, to targets ``(steps, J)``."""
    simulation = started(scene, standing(scene, above)[None])
    data = mujoco.MjData(theirs)
    data.qpos[:] = standing(scene, above)
    seen = []
    for target in targets:
        simulation.step(target[None])
        data.ctrl[motors] = target
        mujoco.mj_step(theirs, data, nstep=scene.config.substeps)
        seen.append((simulation.positions[0].copy(), data.qpos.copy()))
    simulation.close()
    ours, reference = np.array(seen).swapaxes(0, 1)
    return ours, reference


def test_joints_in_flight_answer_a_step_of_their_targets_alike(
    scene: Scene, theirs: mujoco.MjModel, motors: list[int]
) -> None:
    # All at once and to the limits of the motors, but away from the floor and from joint limits.
    robot = scene.robot
    step = robot.default_pose + 0.3 * np.sign((robot.lower + robot.upper) / 2 - robot.default_pose)
    ours, reference = both(scene, theirs, motors, 2.0, np.tile(step, (12, 1)))
    assert np.abs(reference[-1, 7:] - robot.default_pose).max() > 0.2
    assert np.abs(ours[:, 7:] - reference[:, 7:]).max() < 1e-3
    assert np.abs(ours[:, :7] - reference[:, :7]).max() < 1e-3


def test_a_drop_is_free_fall_and_then_standing_at_the_same_height(
    scene: Scene, theirs: mujoco.MjModel, motors: list[int]
) -> None:
    above, rate = 0.3, scene.config.physics_rate
    ours, reference = both(scene, theirs, motors, above, np.tile(scene.robot.default_pose, (24, 1)))
    physics = scene.config.substeps * np.arange(1, 7)
    fallen = 9.81 / rate**2 * physics * (physics + 1) / 2  # velocities first, then positions
    assert ours[:6, 2] == pytest.approx(scene.robot.default_root_height + above - fallen, abs=1e-4)
    # On its feet after 0.3 s; without a controller it leans forward and is lost after one second.
    assert np.abs(ours[:, 2] - reference[:, 2]).max() < 0.01
    assert ours[14, 2] == pytest.approx(scene.robot.default_root_height, abs=0.02)
