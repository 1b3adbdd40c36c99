"""The embedded clips: sound, on the ground, varied, and what their names say."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import check_motion
from pfmhr.motion.embedded import CLIPS, embedded_motion, embedded_motions
from pfmhr.motion.embedded.clips import sketched
from pfmhr.motion.embedded.legs import Legs, forward, solve
from pfmhr.motion.embedded.rotations import matrices
from pfmhr.robots import Robot, body_poses

SEEDS = range(4)
LOOPS = ("walk", "run", "turn", "march", "step_dance")
WITH_FLIGHT = ("run", "jump")
Sites = tuple[NDArray[np.float64], NDArray[np.float64]]


@cache
def clip(name: str, seed: int = 0, fps: float = 50.0) -> Motion:
    return embedded_motion(name, seed=seed, fps=fps)


@cache
def sole_poses(name: str, seed: int = 0, fps: float = 50.0) -> Sites:
    """MuJoCo's word on where the soles are: centres (T, 2, 3) and orientations (T, 2, 3, 3)."""
    motion = clip(name, seed, fps)
    model = Robot.load("g1").compile()
    data = mujoco.MjData(model)
    sites = [model.site(f"{side}_sole").id for side in ("left", "right")]
    centres, turns = np.empty((motion.num_frames, 2, 3)), np.empty((motion.num_frames, 2, 3, 3))
    for frame in range(motion.num_frames):
        data.qpos[:] = np.concatenate([motion.root_pos[frame], motion.root_quat[frame], motion.joint_pos[frame]])
        mujoco.mj_kinematics(model, data)
        centres[frame], turns[frame] = data.site_xpos[sites], data.site_xmat[sites].reshape(2, 3, 3)
    return centres, turns


def sole_corners(name: str, seed: int = 0, fps: float = 50.0) -> NDArray[np.float64]:
    """(T, 2, 4, 3) the corners of both soles: boxes of 19 x 6 cm."""
    centres, turns = sole_poses(name, seed, fps)
    corners = np.array([[x, y, 0.0] for x in (-0.095, 0.095) for y in (-0.03, 0.03)])
    return centres[:, :, None] + np.einsum("tfij,cj->tfci", turns, corners)


def body_path(name: str, body: str, seed: int = 0) -> NDArray[np.float32]:
    """(T, 3) positions of one body."""
    robot, motion = Robot.load("g1"), clip(name, seed)
    return body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)[0][:, robot.body_names.index(body)]


def joint(name: str, which: str, seed: int = 0) -> NDArray[np.float32]:
    motion = clip(name, seed)
    return motion.joint_pos[:, motion.joint_names.index(f"{which}_joint")]


@pytest.mark.parametrize("name", CLIPS)
def test_no_clip_has_a_fault_or_exceeds_limits_and_20_rad_per_second(name: str, g1: Robot) -> None:
    for seed in range(12):
        motion = embedded_motion(name, g1, seed)
        assert check_motion(motion, g1) == ()
        assert (motion.joint_pos >= g1.lower).all() and (motion.joint_pos <= g1.upper).all()
        assert np.abs(np.diff(motion.joint_pos, axis=0)).max() * motion.fps < 20.0
        assert np.abs(np.diff(motion.joint_pos, 2, axis=0)).max() * motion.fps**2 < 700.0


@pytest.mark.parametrize("name", CLIPS)
def test_another_frame_rate_gives_the_same_movement(name: str, g1: Robot) -> None:
    for fps in (10.0, 30.0, 120.0):
        motion = embedded_motion(name, g1, 1, fps)
        assert motion.fps == fps and check_motion(motion, g1) == ()
        assert motion.duration == pytest.approx(clip(name, 1).duration, abs=1.5 / min(fps, 50.0))


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_soles_neither_sink_nor_leave_the_floor_unless_in_flight(name: str, seed: int) -> None:
    lowest = sole_corners(name, seed)[..., 2].min(axis=2)
    assert lowest.min() > -0.002
    airborne = lowest.min(axis=1) > 0.01
    assert airborne.any() if name in WITH_FLIGHT else not airborne.any()


@pytest.mark.parametrize("name", WITH_FLIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_in_flight_the_body_falls_freely(name: str, seed: int) -> None:
    fps = 200.0
    airborne = sole_corners(name, seed, fps)[..., 2].min(axis=(1, 2)) > 0.003
    inside = airborne[:-2] & airborne[1:-1] & airborne[2:]
    acceleration = np.diff(clip(name, seed, fps).root_pos[:, 2].astype(np.float64), 2) * fps**2
    assert inside.sum() > 4
    assert acceleration[inside] == pytest.approx(-9.81, abs=1.0)


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_feet_on_the_floor_are_where_the_plan_wants_them(name: str, seed: int) -> None:
    sketch = sketched(name, seed, 50.0)
    wanted, wanted_turn = np.swapaxes(sketch.soles, 0, 1), np.swapaxes(matrices(sketch.sole_tilt), 0, 1)
    centres, turns = sole_poses(name, seed)
    down = wanted[..., 2] - 0.095 * np.abs(np.sin(np.swapaxes(sketch.sole_tilt, 0, 1)[..., 1])) < 1e-3
    apart = Rotation.from_matrix((turns @ np.swapaxes(wanted_turn, -1, -2))[down]).magnitude()
    assert down.any(axis=0).all()
    assert np.linalg.norm(centres - wanted, axis=-1)[down].max() < 0.002
    assert apart.max() < 0.02


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_touches_the_floor_does_not_slide(name: str, seed: int) -> None:
    corners = sole_corners(name, seed)
    touching = np.abs(corners[..., 2]) < 3e-4
    moved = np.linalg.norm(np.diff(corners[..., :2], axis=0), axis=-1)
    staying = np.logical_and(touching[1:], touching[:-1])  # edges of rolling feet as well as flat ones
    assert staying.mean() > 0.15
    assert moved[staying].max() < 0.001


@pytest.mark.parametrize("name", CLIPS)
def test_hands_keep_out_of_legs_and_trunk(name: str) -> None:
    model = Robot.load("g1").compile()
    data = mujoco.MjData(model)
    for seed in SEEDS:
        motion = clip(name, seed)
        for frame in range(0, motion.num_frames, 4):
            data.qpos[:] = np.concatenate([motion.root_pos[frame], motion.root_quat[frame], motion.joint_pos[frame]])
            mujoco.mj_fwdPosition(model, data)
            assert data.ncon == 0 or data.contact.dist.min() > -0.01, f"seed {seed}, frame {frame}"


@pytest.mark.parametrize("name", CLIPS)
def test_loops_close_and_gestures_start_and_end_standing(name: str, g1: Robot) -> None:
    for seed in SEEDS:
        motion = clip(name, seed)
        assert motion.loop == (name in LOOPS)
        if not motion.loop:
            legs_and_waist = np.abs(motion.joint_pos[[0, -1]] - g1.default_pose)[:, :15]
            assert legs_and_waist.max() < 0.6
            assert motion.root_pos[[0, -1], 2] == pytest.approx(g1.default_root_height, abs=0.06)
            continue
        up = Rotation.from_quat(motion.root_quat, scalar_first=True).apply([0.0, 0.0, 1.0])
        track = np.concatenate([motion.joint_pos, motion.root_pos[:, 2:], up], axis=1)
        # Bends across the seam are like bends within: second differences, with the clip played twice.
        bends = np.abs(np.diff(np.concatenate([track, track]), 2, axis=0)).max(axis=1)
        seam = bends[len(track) - 2 : len(track)].max()
        assert seam < 1.3 * bends[: len(track) - 2].max()


def test_the_same_seed_gives_the_same_bits_and_another_one_another_clip() -> None:
    for name in CLIPS:
        first, again, other = clip(name, 3), embedded_motion(name, seed=3), clip(name, 2)
        for part in ("joint_pos", "root_pos", "root_quat"):
            assert getattr(first, part).tobytes() == getattr(again, part).tobytes()
        frames = min(first.num_frames, other.num_frames)
        assert np.abs(first.joint_pos[:frames] - other.joint_pos[:frames]).max() > 0.1


def test_a_clip_alone_is_the_clip_in_the_series() -> None:
    series = list(embedded_motions(2))
    assert [motion.name for motion in series] == [f"{name}-{seed:03d}" for name in CLIPS for seed in range(2)]
    alone = embedded_motion("turn", seed=1)
    inside = next(motion for motion in series if motion.name == alone.name)
    assert inside.joint_pos.tobytes() == alone.joint_pos.tobytes()


def test_200_000_distinct_poses_take_well_under_a_minute() -> None:
    start = time.process_time()  # not the wall clock: other work on the machine must not count
    poses = np.concatenate([motion.joint_pos for motion in embedded_motions(12)])
    seconds = time.process_time() - start
    assert len(np.unique(poses, axis=0)) == len(poses)
    assert len(np.unique(np.round(poses, 3), axis=0)) > 0.99 * len(poses)  # still distinct in thousandths of a rad
    assert 200_000 / (len(poses) / seconds) < 40.0  # measured: 9 s
    assert 200_000 / (len(poses) / 12) < 150  # variations needed
    assert poses.std(axis=0).min() > 0.02  # every one of the 29 joints takes part


def heading(name: str, seed: int = 0) -> NDArray[np.float64]:
    w, x, y, z = clip(name, seed).root_quat.astype(np.float64).T
    return np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def trunk_lean(name: str) -> NDArray[np.float64]:
    """Angle (T,) of the chest against the vertical."""
    robot, motion = Robot.load("g1"), clip(name)
    turns = body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)[1]
    chest = Rotation.from_quat(turns[:, robot.body_names.index("torso_link")], scalar_first=True)
    return np.arccos(np.clip(chest.apply([0.0, 0.0, 1.0])[:, 2], -1.0, 1.0))


def travelled(name: str) -> NDArray[np.float32]:
    """(T, 3) root path from where it starts."""
    return clip(name).root_pos - clip(name).root_pos[0]


@cache
def deeds() -> dict[str, bool]:
    """For every clip by name: does its typical variation do what it is called?"""
    legs, arms = (
        joint("walk", f"left_{part}_pitch") - joint("walk", f"right_{part}_pitch") for part in ("hip", "shoulder")
    )
    walked, run = (float(travelled(name)[-1, 0]) / clip(name).duration for name in ("walk", "run"))
    feet = {name: sole_poses(name)[0] for name in ("march", "step_dance", "front_kick")}
    on_the_spot = {name: float(np.abs(travelled(name)[:, :2]).max()) < 0.1 for name in ("turn", "march")}
    hand, chest = body_path("wave", "right_wrist_yaw_link"), body_path("wave", "torso_link")
    raised = hand[:, 2] > chest[:, 2] + 0.3  # above the shoulder
    swings = np.diff(np.sign(np.diff(hand[raised, 1]))) != 0
    fists = [body_path("punch", f"{side}_wrist_yaw_link") - clip("punch").root_pos for side in ("left", "right")]
    kick = (feet["front_kick"][:, 1] - clip("front_kick").root_pos * [1, 1, 0])[:, [0, 2]]
    clearance = sole_corners("jump")[..., 2].min(axis=(1, 2))
    return {
        "walk": 0.4 < walked < 1.0 and float(np.corrcoef(legs, arms)[0, 1]) < -0.8,
        "run": run > 1.2,
        "turn": abs(heading("turn")[-1]) > 1.0 and on_the_spot["turn"],
        "march": on_the_spot["march"] and bool((feet["march"][..., 2].max(axis=0) > 0.15).all()),
        "step_dance": bool((np.ptp(feet["step_dance"], axis=0)[:, 1:] > [0.12, 0.04]).all()),
        "squat": float(travelled("squat")[:, 2].min()) < -0.18 and float(joint("squat", "left_knee").max()) > 1.4,
        "bow": float(trunk_lean("bow").max()) > 0.7 and float(joint("bow", "left_knee").max()) < 0.8,
        "wave": float(raised.mean()) > 0.4 and int(swings.sum()) >= 4,
        "punch": all((fist > [0.33, -0.3, 0.15]).all(axis=1).any() for fist in fists),
        "front_kick": bool((kick > [0.5, 0.4]).all(axis=1).any()),
        "jump": float(clearance.max()) > 0.06,
    }


@pytest.mark.parametrize("name", CLIPS)
def test_a_clip_is_what_its_name_says(name: str) -> None:
    assert deeds()[name]


def test_walks_come_at_several_speeds_and_turns_both_ways() -> None:
    walked = [clip("walk", seed) for seed in range(24)]
    speeds = [np.linalg.norm((motion.root_pos[-1] - motion.root_pos[0])[:2]) / motion.duration for motion in walked]
    turned = [heading("turn", seed)[-1] - heading("turn", seed)[0] for seed in range(12)]
    assert min(speeds) < 0.4 and max(speeds) > 0.8
    assert min(turned) < -0.8 and max(turned) > 0.8


def test_leg_kinematics_agree_with_mujoco_and_invert(g1: Robot) -> None:
    legs, random = Legs.of(g1), np.random.default_rng(5)
    knee = random.uniform(0.3, 1.6, (2, 100))
    angles = np.stack([-0.5 * knee, 0.0 * knee, 0.0 * knee, knee, -0.5 * knee, 0.0 * knee], axis=2)
    angles = angles + random.uniform(-0.2, 0.2, angles.shape) * [1.5, 1.0, 2.0, 0.0, 0.2, 1.0]
    angles = np.clip(angles, legs.lower[:, None], legs.upper[:, None])
    place, turn = (np.moveaxis(part, (-2, -1), (0, 1)) for part in forward(legs, np.moveaxis(angles, 2, 0))[2:])
    model = g1.compile()
    data = mujoco.MjData(model)
    for frame in range(100):
        data.qpos[:] = 0.0
        data.qpos[3], data.qpos[7:19] = 1.0, angles[:, frame].ravel()
        mujoco.mj_kinematics(model, data)
        for side, name in enumerate(("left_sole", "right_sole")):
            assert data.site(name).xpos == pytest.approx(place[side, frame], abs=1e-9)
            assert data.site(name).xmat.reshape(3, 3) == pytest.approx(turn[side, frame], abs=1e-9)
    found, error = solve(legs, place, turn)
    assert np.abs(error).max() < 1e-5
    assert found == pytest.approx(angles, abs=1e-3)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown embedded motion 'moonwalk'") as refused:
        embedded_motion("moonwalk")
    assert all(name in str(refused.value) for name in CLIPS)


def test_impossible_rates_and_seeds_are_refused() -> None:
    for fps in (0.0, -30.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="impossible frame rate"):
            embedded_motion("walk", fps=fps)
    with pytest.raises(InputError, match="impossible seed"):
        embedded_motion("walk", seed=-1)


def test_another_robot_is_refused(tmp_path: Path, g1: Robot) -> None:
    arm = tmp_path / "arm.xml"
    arm.write_text(
        "<mujoco><worldbody><body><joint name='elbow' type='hinge'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(InputError, match=r"made for the Unitree G1.*without 29 of them, such as left_hip_pitch_joint"):
        embedded_motion("walk", Robot.load(arm))
    bare = tmp_path / "bare.xml"
    bare.write_text(g1.path.read_text().replace("left_sole", "left_heel"))
    with pytest.raises(InputError, match="expected sites left_sole and right_sole"):
        next(embedded_motions(1, Robot.load(bare)))
