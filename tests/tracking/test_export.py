"""An exported policy acts like the trained one, and its file says enough to run it elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np
import onnxruntime
import pytest
import torch
from scipy.spatial.transform import Rotation

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot
from pfmhr.sim import Scene, SceneConfig
from pfmhr.tracking import AgentConfig, EnvironmentConfig, TrackerConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import MotionLibrary
from pfmhr.tracking.env.observations import observation_layout
from pfmhr.tracking.runs import TrackerRun, train_tracker
from pfmhr.tracking.watch.export import export_policy


@pytest.fixture(scope="module", params=["local", "world"])
def run(request: pytest.FixtureRequest, g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> TrackerRun:
    """A tracker that has hardly learned, with actions large enough to matter."""
    directory = tmp_path_factory.mktemp("export") / request.param
    actions = "absolute" if request.param == "local" else "residual"
    config = TrackerConfig(
        environment=EnvironmentConfig(8, 0.3, observation=request.param, actions=actions, contacts=()),
        agent=AgentConfig(steps=8, hidden=(32, 16), actor_output_scale=0.2),
        samples=128,
        evaluate_every=2,
        evaluation_episodes=2,
    )
    train_tracker(directory, g1, [embedded_motion("walk", g1).frames(0, 80)], config, threads=1)
    return TrackerRun.load(directory)


@pytest.fixture(scope="module")
def exported(run: TrackerRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("onnx") / "policy.onnx"
    export_policy(run, path)
    return path


# How to use an exported policy: MuJoCo, the file and the robot's model. Nothing of the tracker is used.


@dataclass
class Moment:
    """Of the robot or its reference: root and joints, velocities as MuJoCo has them, bodies ``(B, 3)`` in the world."""

    qpos: np.ndarray
    qvel: np.ndarray
    bodies: np.ndarray

    @property
    def turn(self) -> np.ndarray:
        """(3, 3) root orientation."""
        return Rotation.from_quat(self.qpos[3:7], scalar_first=True).as_matrix()


class Reference:
    """What the file says of the motion, bodies added by MuJoCo."""

    def __init__(self, session: onnxruntime.InferenceSession, model: mujoco.MjModel) -> None:
        self.session, self.model = session, model
        self.width = session.get_inputs()[0].shape[1]

    def at(self, time_step: int, clip: int = 0) -> Moment:
        where = {"clip": np.array([clip]), "time_step": np.array([time_step])}
        nothing = np.zeros((1, self.width), dtype=np.float32)
        found = self.session.run(["reference_pos", "reference_vel"], {"obs": nothing, **where})
        qpos, qvel = (np.asarray(each[0], dtype=np.float64) for each in found)
        data = mujoco.MjData(self.model)
        data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, data)
        return Moment(qpos, qvel, data.xpos[1:].copy())


def six_numbers(turn: np.ndarray) -> np.ndarray:
    """The turned x axis and the turned z axis of rotations ``(…, 3, 3)``, one after the other."""
    return np.concatenate([turn[..., 0], turn[..., 2]], axis=-1).reshape(-1)


def local_parts(now: Moment, ahead: list[Moment], last_action: np.ndarray) -> dict[str, np.ndarray]:
    """What the local observation is made of, everything seen from the robot's root."""
    target, inside = ahead[0], now.turn.T
    return {
        "root_pos_error": inside @ (target.qpos[:3] - now.qpos[:3]),
        "root_velocity": inside @ now.qvel[:3],
        "next_root_velocity": inside @ target.qvel[:3],
        "next_root_rotation": six_numbers(inside @ target.turn),
        "gravity": inside @ [0.0, 0.0, -1.0],
        "root_spin": now.qvel[3:6],
        "next_root_spin": inside @ target.turn @ target.qvel[3:6],
        "root_height": now.qpos[2:3],
        "joint_pos": now.qpos[7:],
        "joint_vel_tenth": 0.1 * now.qvel[6:],
        "joint_pos_error": target.qpos[7:] - now.qpos[7:],
        "next_joint_vel_tenth": 0.1 * target.qvel[6:],
        "last_action": last_action,
    }


def world_parts(now: Moment, ahead: list[Moment], axes: np.ndarray, keys: list[int]) -> dict[str, np.ndarray]:
    """What the world observation is made of: the robot and the reference one, two and three control steps ahead."""

    def hinges(angles: np.ndarray) -> np.ndarray:
        return six_numbers(Rotation.from_rotvec(angles[:, None] * axes).as_matrix())

    parts = {
        "root_height": now.qpos[2:3],
        "root_rotation": six_numbers(now.turn),
        "root_velocity": now.qvel[:3],
        "root_spin": now.turn @ now.qvel[3:6],
        "joint_rotation": hinges(now.qpos[7:]),
        "joint_vel": now.qvel[6:],
        "key_body_pos": (now.bodies[keys] - now.bodies[0]).reshape(-1),
    }
    for name, target in zip(("next", "next2", "next3"), ahead, strict=True):
        parts |= {
            f"{name}_root_pos": target.qpos[:3] - [*now.qpos[:2], 0.0],
            f"{name}_root_rotation": six_numbers(target.turn),
            f"{name}_joint_rotation": hinges(target.qpos[7:]),
            f"{name}_key_body_pos": (target.bodies[keys] - target.bodies[0]).reshape(-1),
        }
    return parts


def track(policy: Path, robot: Path, steps: int) -> np.ndarray:
    """Positions ``(steps, 7 + J)`` of a robot that an exported policy lets follow its motion from the beginning."""
    session = onnxruntime.InferenceSession(policy, providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    rates = SceneConfig(float(about["physics_rate"]), float(about["control_rate"]))
    scene = Scene(Robot.load(robot), rates)  # floor, sensors of body frames, which actuator drives which joint
    model, data = scene.model, mujoco.MjData(scene.model)
    reference = Reference(session, model)
    scale = np.array(about["action_scale"].split(","), dtype=float)
    axes = model.jnt_axis[[model.joint(name).id for name in about["joint_names"].split(",")]]
    keys = [model.body(name).id - 1 for name in about["key_bodies"].split(",")]
    now, action, done = reference.at(0), np.zeros(len(scale)), []
    data.qpos[:], data.qvel[:] = now.qpos, now.qvel
    for step in range(steps):
        ahead = [reference.at(step + k) for k in (1, 2, 3)]
        local = about["observation_type"] == "local"
        parts = local_parts(now, ahead, action) if local else world_parts(now, ahead, axes, keys)
        observation = np.concatenate([parts[name] for name, _ in json.loads(about["observation_layout"])])
        where = {"clip": np.array([0]), "time_step": np.array([step])}
        (action,) = session.run(["actions"], {"obs": observation[None].astype(np.float32), **where})[0]
        residual = about["action_type"] == "residual"
        targets = ahead[0].qpos[7:] + scale * action if residual else scale * np.clip(action, -1, 1)
        data.ctrl[scene.actuators] = targets
        data.qacc_warmstart[:] = 0  # batched physics begins each control step without a guess
        for _ in range(rates.substeps):
            mujoco.mj_step(model, data)
        sensed = data.sensordata[scene.frame("position")[0]].reshape(-1, 3)  # bodies one physics step ago
        now = Moment(data.qpos.copy(), data.qvel.copy(), sensed.copy())
        done.append(now.qpos)
    return np.array(done)


def test_plain_mujoco_with_the_exported_file_tracks_as_the_environment_does(run: TrackerRun, exported: Path) -> None:
    wanted = positions_in_environment(run, run.policy)
    given = track(exported, run.robot.path, 30)
    assert np.abs(given - wanted).max() < 1e-4
    idle = positions_in_environment(run, lambda observations: torch.zeros(1, 29))
    assert np.abs(idle - wanted).max() > 0.1  # the policy mattered


def positions_in_environment(run: TrackerRun, policy: Callable[[torch.Tensor], torch.Tensor]) -> np.ndarray:
    """(30, 7 + J) from the beginning of the clip."""
    environment = run.evaluator(1, horizon=2.0, distance=100.0, threads=1).environment
    observations = environment.reset(torch.tensor([0]), torch.tensor([0]))
    positions = []
    for _ in range(30):
        with torch.no_grad():
            observations, _, dones, _ = environment.step(policy(observations["policy"]))
        assert not bool(dones)
        positions.append(environment.simulation.positions[0].copy())
    return np.array(positions)


def test_onnxruntime_gives_the_actions_of_torch_for_any_batch(run: TrackerRun, exported: Path) -> None:
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    given, returned = session.get_inputs(), session.get_outputs()
    width = sum(width for _, width in observation_layout(run.config.environment, run.robot))
    assert [each.name for each in given] == ["obs", "clip", "time_step"] and given[0].shape[1] == width
    sizes = {"actions": 29, "reference_pos": 36, "reference_vel": 35}
    assert {each.name: each.shape[1] for each in returned} == sizes
    for batch in (1, 9):
        observations = 2 * torch.randn(batch, width, generator=torch.Generator().manual_seed(batch))
        with torch.no_grad():
            wanted = run.policy(observations).numpy()
        nowhen = np.zeros(batch, dtype=np.int64)
        found = session.run(["actions"], {"obs": observations.numpy(), "clip": nowhen, "time_step": nowhen})
        assert np.abs(found[0] - wanted).max() < 1e-5


def test_the_file_holds_every_clip_for_ever(g1: Robot, tmp_path: Path) -> None:
    """A cycle, here of no whole number of steps, goes on across the floor; a clip that ends holds its last frame."""
    clips = [embedded_motion("squat", g1).frames(0, 31), replace(embedded_motion("walk", g1), fps=51.0)]
    library = MotionLibrary(g1, clips)
    assert library.loops.tolist() == [False, True] and int(library.length[1]) % 4
    config = TrackerConfig(
        EnvironmentConfig(4, 0.2), AgentConfig(steps=4, hidden=(8,)), samples=16, evaluation_episodes=1
    )
    train_tracker(tmp_path / "run", g1, clips, config, threads=1)
    export_policy(TrackerRun.load(tmp_path / "run"), tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    model = g1.compile()
    for clip in (0, 1):
        for step in (0, 1, 7, int(library.length[clip]) // 4 + 1, 1000):
            moment = Reference(session, model).at(step, clip)
            wanted = library.at(torch.tensor([clip]), torch.tensor([4 * step])).states()
            assert np.allclose(moment.qpos, wanted[0][0].numpy(), atol=1e-5, rtol=1e-5)
            assert np.allclose(moment.qvel, wanted[1][0].numpy(), atol=1e-5)
    far = [Reference(session, model).at(1000, clip).qpos[:2] for clip in (0, 1)]
    assert np.linalg.norm(far[1] - far[0]) > 10.0  # a walk of 33 s


def test_the_metadata_holds_the_robot_to_the_last_bit(run: TrackerRun, exported: Path) -> None:
    about = onnxruntime.InferenceSession(exported).get_modelmeta().custom_metadata_map
    robot, settings = run.robot, run.config.environment
    for name, values in (
        ("joint_stiffness", robot.stiffness),
        ("joint_damping", robot.damping),
        ("joint_effort_limits", robot.effort),
        ("default_joint_pos", robot.default_pose),
    ):
        assert np.array_equal(np.array(about[name].split(","), dtype=np.float32), values)
    assert about["joint_names"].split(",") == list(robot.joint_names)
    hip = float(about["action_scale"].split(",")[0])
    by_hand = 0.625 * 88 / 40.179238 if settings.actions == "residual" else 1.4 * 2.8798
    assert hip == pytest.approx(by_hand, rel=1e-6)
    assert (about["control_rate"], about["physics_rate"], about["samples"]) == ("30.0", "120.0", "128")
    assert about["action_type"] == settings.actions
    assert json.loads(about["clip_names"]) == [motion.name for motion in run.motions]


def test_the_layout_sums_to_the_size_of_the_observation(g1: Robot) -> None:
    motion = embedded_motion("walk", g1)
    # 3·3 + 6 + 3·3 + 1 + 5·29; 13 + 7·29 + 15 and three times 9 + 6·29 + 15.
    for observation, size in (("local", 170), ("world", 231 + 3 * 198)):
        config = EnvironmentConfig(1, observation=observation)
        layout = observation_layout(config, g1)
        environment = TrackingEnvironment(g1, [motion], config, threads=1)
        assert sum(width for _, width in layout) == environment.get_observations()["policy"].shape[1] == size
        assert len({name for name, _ in layout}) == len(layout)


def test_a_policy_the_file_cannot_reproduce_is_refused_and_the_old_file_stays(run: TrackerRun, tmp_path: Path) -> None:
    path = tmp_path / "policy.onnx"
    path.write_bytes(b"old")
    parameter = next(iter(run.policy.mlp.parameters()))
    kept = parameter.detach().clone()
    with torch.no_grad():
        parameter.fill_(float("nan"))
    try:
        with pytest.raises(InputError, match="does not act like the trained one"):
            export_policy(run, path)
    finally:
        with torch.no_grad():
            parameter.copy_(kept)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["policy.onnx"]


def test_missing_packages_are_named_with_their_extra(
    run: TrackerRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"onnx and onnxruntime.*pip install 'pfm-hr\[tracking\]'"):
        export_policy(run, tmp_path / "policy.onnx")


def test_the_command_names_the_file_it_wrote(run: TrackerRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track", "export", str(run.directory)]) == 0
    written = run.directory / "policy.onnx"
    assert written.exists()
    assert str(written) in capsys.readouterr().out.splitlines()[-1]
