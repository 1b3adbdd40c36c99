"""How fast human motion is put on a robot: everything together, and the solver beside mink, frame by frame."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.motion.checks import check_motion, find_motion_files
from pfmhr.provenance import provenance
from pfmhr.retarget import Body, RetargetConfig, read_human, retarget
from pfmhr.retarget.calibration import calibrate
from pfmhr.retarget.example import write_example
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.rotations import compose, inverse, logarithm
from pfmhr.retarget.solver import Weights, place_weight, turn_weight
from pfmhr.retarget.sources import SUFFIXES
from pfmhr.retarget.start import start_pose
from pfmhr.retarget.targets import Targets, make_targets
from pfmhr.retarget.windows import solve_windows
from pfmhr.robots import Robot

MOST_STEPS, LEAST_GAIN = 10, 1e-3
"""Of mink per frame: it goes on from the last frame's solution until a step gains less."""


def bench_retarget(data: Path | None, clips: int, robot_name: str, say: Callable[[str], object]) -> dict[str, Any]:
    """Measure; see ``pfmhr bench retarget``. Times are processor time of this process."""
    body = Body.of(Robot.load(robot_name))
    with tempfile.TemporaryDirectory(prefix="pfmhr-bench-") as name:
        files = _files(data, clips, Path(name))
        say(f"{len(files)} file(s): read, retarget, check and write")
        begin, frames = time.process_time(), 0
        for file in files:
            source = read_human(file, None, 30.0)
            result = retarget(source.human, body, RetargetConfig(), source.skeleton)
            check_motion(result.motion, body.linkage.robot)
            result.motion.write(Path(name) / "out.npz")
            frames += result.motion.num_frames
        everything = time.process_time() - begin
        say("the same targets: whole clips, and mink frame by frame")
        return {
            "files": len(files),
            "frames": frames,
            "frames_per_second": round(frames / everything, 1),
            **_against_mink([_targets(file, body) for file in files], body),
            **provenance(),
        }


def _files(data: Path | None, clips: int, folder: Path) -> list[Path]:
    if data is None:
        write_example(folder / "march.bvh", seconds=20.0)
        return [folder / "march.bvh"]
    files = find_motion_files([data], SUFFIXES)
    chosen = np.random.default_rng(0).permutation(len(files))[:clips]
    return [files[index] for index in sorted(chosen.tolist())]


def _targets(file: Path, body: Body) -> Targets:
    source = read_human(file, None, 30.0)
    return make_targets(calibrate(source.human.resample(30.0), source.skeleton), body)


def _against_mink(clips: Sequence[Targets], body: Body) -> dict[str, Any]:
    """Frames per second and what is left of errors, ours and mink's."""
    ours, theirs, frames = 0.0, 0.0, 0
    errors: dict[str, list[float]] = {"ours": [], "mink": []}
    for targets in clips:
        begin = time.process_time()
        pose = solve_windows(targets, start_pose(targets, body), body, Weights(), 5)
        ours += time.process_time() - begin
        begin = time.process_time()
        other = mink_poses(targets, body, start_pose(targets.window(0, 1), body))
        theirs += time.process_time() - begin
        frames += targets.num_frames
        errors["ours"].append(_error(pose, targets, body) * targets.num_frames)
        errors["mink"].append(_error(other, targets, body) * targets.num_frames)
    return {
        "solver_frames_per_second": round(frames / ours, 1),
        "mink_frames_per_second": round(frames / theirs, 1),
        "ratio": round(theirs / ours, 2),
        "turn_error": round(sum(errors["ours"]) / frames, 4),
        "mink_turn_error": round(sum(errors["mink"]) / frames, 4),
    }


def _error(pose: Pose, targets: Targets, body: Body) -> float:
    """Mean angle in rad between links and their targets."""
    _, turns = body.linkage.forward(pose)
    away = [
        np.sqrt((logarithm(compose(targets.turns[name], inverse(turns[body.link[name]]))) ** 2).sum(axis=0)).mean()
        for name in body.turned_segments()
    ]
    return float(np.mean(away))


def mink_poses(targets: Targets, body: Body, start: Pose) -> Pose:
    """The same targets and weights with mink, one frame after another, as other retargeters work."""
    try:
        import mink
    except ImportError:
        fix = "`pip install 'pfm-hr[bench]'`."
        raise InputError("this comparison needs mink", fix=fix, code="missing_extra") from None
    model = body.linkage.robot.compile()
    configuration = mink.Configuration(model)
    configuration.update(_qpos(start))
    bodies = {link: name for name, link in body.linkage.body_link.items()}
    weights = Weights()
    tasks = {
        name: mink.FrameTask(
            bodies[body.link[name]], "body", place_weight(weights, name), turn_weight(weights, name), lm_damping=1e-2
        )
        for name in body.turned_segments()
    }
    posture = mink.PostureTask(model, cost=weights.posture)
    posture.set_target(np.r_[np.zeros(3), 1.0, np.zeros(model.nq - 4)])
    limits = [mink.ConfigurationLimit(model)]
    found = []
    for frame in range(targets.num_frames):
        for name, task in tasks.items():
            turn = Rotation.from_matrix(targets.turns[name][..., frame]).as_quat(scalar_first=True)
            task.set_target(mink.SE3(np.r_[turn, targets.places[name][:, frame]]))
        _settle(mink, configuration, [*tasks.values(), posture], limits)
        found.append(configuration.q.copy())
    return _pose(np.array(found))


def _settle(mink: Any, configuration: Any, tasks: list[Any], limits: list[Any]) -> None:
    before = np.inf
    for _ in range(MOST_STEPS):
        velocity = mink.solve_ik(configuration, tasks, 1.0, "daqp", damping=1e-2, limits=limits)
        configuration.integrate_inplace(velocity, 1.0)
        cost = sum(float(np.linalg.norm(task.cost * task.compute_error(configuration))) for task in tasks[:-1])
        if before - cost < LEAST_GAIN:
            return
        before = cost


def _qpos(pose: Pose) -> NDArray[np.float64]:
    turn = Rotation.from_matrix(pose.root_rot[..., 0]).as_quat(scalar_first=True)
    return np.r_[pose.root_pos[:, 0], turn, pose.joints[:, 0]]


def _pose(qpos: NDArray[np.float64]) -> Pose:
    turns = Rotation.from_quat(qpos[:, 3:7], scalar_first=True).as_matrix()
    return Pose(qpos[:, :3].T, np.moveaxis(turns, 0, -1), qpos[:, 7:].T)
