"""How fast environments are stepped, against a loop over MuJoCo, and how much of a tracker's step is not physics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import mujoco
import numpy as np
import torch
from numpy.typing import NDArray

from pfmhr.bench.timing import interleaved
from pfmhr.errors import InputError
from pfmhr.motion.checks.paths import available_cores
from pfmhr.motion.embedded import embedded_motion, embedded_motions
from pfmhr.provenance import provenance
from pfmhr.robots import Robot
from pfmhr.sim import BatchedSimulation, Scene
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import MotionLibrary

REGIMES = {"standing": 0.1, "moving": 1.0}
"""Noise on the default pose, in multiples of a quarter of effort/stiffness."""
FALLEN = 0.4
"""m: environments whose pelvis is lower stand up again. Even with little noise nothing balances them for long."""
TRACKED = 256
"""Environments of the tracker whose step is divided into physics and the rest."""
NOISES = 64
"""Different noises, used over and over: drawing new ones would be timed too."""
CLIPS, LOOKUPS = 34, 4096
"""Clips in the library that is looked into, and frames looked up at once."""

Array = NDArray[Any]


def bench_sim(environments: Sequence[int], seconds: float, threads: int | None) -> dict[str, Any]:
    """Control steps per second of the batch and of one thread's loop in one run; a tracker's share of physics; and how
    fast reference frames are found."""
    if not environments or not seconds > 0:
        raise InputError("at least one number of environments, and a time above zero", code="bad_config")
    threads = threads or available_cores()
    torch.set_num_threads(threads)
    robot = Robot.load("g1")
    scene = Scene(robot)
    rows = [_compare(scene, regime, count, seconds, threads) for regime in REGIMES for count in environments]
    return {
        "threads": threads,
        "physics_rate": scene.config.physics_rate,
        "control_rate": scene.config.control_rate,
        "rows": rows,
        "smallest_ratio": min(row["ratio"] for row in rows),
        "tracker": _tracker(robot, seconds, threads),
        "library": _library(robot, seconds),
        **provenance(),
    }


def _compare(scene: Scene, regime: str, count: int, seconds: float, threads: int) -> dict[str, Any]:
    robot = scene.robot
    noise = np.random.default_rng(0).standard_normal((NOISES, count, robot.num_joints))
    targets = robot.default_pose + REGIMES[regime] * 0.25 * robot.effort / robot.stiffness * noise
    batch = BatchedSimulation(scene, count, threads)
    works: dict[str, Callable[[], object]] = {"batch": _batch(batch, targets), "loop": _loop(scene, targets)}
    repeats = max(1, round(seconds / sum(interleaved(works, 1).values())))
    interleaved(works, max(1, repeats // 4))  # all start alike and stand still; by now they do not
    times = interleaved(works, repeats)
    batch.close()
    return {
        "regime": regime,
        "environments": count,
        "control_steps_per_second": round(count / times["batch"]),
        "loop_control_steps_per_second": round(count / times["loop"]),
        "ratio": round(times["loop"] / times["batch"], 3),
        "repeats": repeats,
    }


def _batch(simulation: BatchedSimulation, targets: Array) -> Callable[[], None]:
    """One control step of all environments: targets ``(NOISES, N, J)``, the next of them each time."""
    start, count, turn = _standing(simulation.scene), simulation.environments, 0

    def reset(ids: Array) -> None:
        simulation.reset(ids, np.tile(start, (len(ids), 1)), np.zeros((len(ids), simulation.scene.model.nv)))

    def step() -> None:
        nonlocal turn
        exploded = simulation.step(targets[turn % NOISES])
        turn += 1
        lost = np.flatnonzero(exploded | (simulation.positions[:, 2] < FALLEN))
        if len(lost):
            reset(lost)

    reset(np.arange(count))
    return step


def _loop(scene: Scene, targets: Array) -> Callable[[], None]:
    """The same, environment by environment: no more Python than is needed, and warm starts, which a batch forgoes."""
    model, substeps, start, turn = scene.model, scene.config.substeps, _standing(scene), 0
    controls = np.zeros((*targets.shape[:2], model.nu))
    controls[..., scene.actuators] = targets
    everyone = [mujoco.MjData(model) for _ in range(targets.shape[1])]

    def step() -> None:
        nonlocal turn
        for data, control in zip(everyone, controls[turn % NOISES], strict=True):
            data.ctrl[:] = control
            mujoco.mj_step(model, data, nstep=substeps)
            if not data.qpos[2] >= FALLEN:
                mujoco.mj_resetData(model, data)
                data.qpos[:] = start
        turn += 1

    for data in everyone:
        data.qpos[:] = start
    return step


def _standing(scene: Scene) -> Array:
    """(nq,) the default pose, upright on the floor."""
    positions = scene.model.qpos0.copy()
    positions[2] = scene.robot.default_root_height
    positions[scene.joint_positions] = scene.robot.default_pose
    return positions


def _tracker(robot: Robot, seconds: float, threads: int) -> dict[str, Any]:
    """A tracker's whole step, observations, terminations and resets included, with actions as before training."""
    config = EnvironmentConfig(environments=TRACKED)
    environment = TrackingEnvironment(robot, [embedded_motion("walk", robot)], config, threads=threads)
    actions = 0.25 * torch.randn(NOISES, TRACKED, robot.num_joints, generator=torch.Generator().manual_seed(0))
    steps, resets, total = 0, 0, 0.0
    with torch.no_grad():
        environment.step(actions[-1])
        environment.simulation.seconds = 0.0
        while total < seconds:
            started = time.perf_counter()
            dones = environment.step(actions[steps % NOISES])[2]
            total += time.perf_counter() - started
            resets, steps = resets + int(dones.sum()), steps + 1
    physics = environment.simulation.seconds
    environment.simulation.close()
    return {
        "environments": TRACKED,
        "control_steps_per_second": round(TRACKED * steps / total),
        "physics_milliseconds": round(1000.0 * physics / steps, 3),
        "outside_milliseconds": round(1000.0 * (total - physics) / steps, 3),
        "outside_physics": round(1.0 - physics / total, 4),
        "resets_per_step": round(resets / steps, 2),
        "repeats": steps,
    }


def _library(robot: Robot, seconds: float) -> dict[str, Any]:
    """Frames found per second among many clips on one thread: whole ones, and those that observations need."""
    clips = list(islice(embedded_motions(CLIPS, robot), CLIPS))
    library = MotionLibrary(robot, clips)
    generator = torch.Generator().manual_seed(0)
    draws = [library.draw(LOOKUPS, generator) for _ in range(NOISES)]
    turn = 0

    def found(bodies: bool) -> None:
        nonlocal turn
        turn += 1
        library.at(*draws[turn % NOISES], bodies=bodies)

    works: dict[str, Callable[[], object]] = {"frames": lambda: found(True), "poses": lambda: found(False)}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in a tracker's step
    repeats = max(1, round(0.2 * seconds / sum(interleaved(works, 1).values())))
    times = interleaved(works, repeats)
    torch.set_num_threads(threads)
    return {
        "clips": len(library),
        "seconds_of_motion": round(float(library.length.sum()) / library.rate, 1),
        "megabytes": round(library.megabytes, 1),
        "frames_per_second": round(LOOKUPS / times["frames"]),
        "frames_without_bodies_per_second": round(LOOKUPS / times["poses"]),
        "repeats": repeats,
    }
