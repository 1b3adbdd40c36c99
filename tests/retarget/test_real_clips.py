"""MimicKit's clips, which exist for its humanoid and, six of them, for the G1."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.motion import Motion
from pfmhr.motion.checks import check_motion
from pfmhr.motion.cycle import closed, repeats
from pfmhr.retarget import Body, RetargetConfig, Retargeted, load_map, read_human, retarget
from pfmhr.retarget.humanoid import humanoid
from pfmhr.retarget.parts import SIDES
from pfmhr.robots import Robot, body_poses

KEYS = (
    "torso_link",
    *(
        f"{side}_{part}_link"
        for side in SIDES
        for part in ("knee", "ankle_roll", "elbow", "wrist_yaw", "shoulder_roll")
    ),
)
OURS_ALONE = ("jump", "backflip", "sideflip")
RETARGETED: dict[str, Retargeted] = {}


@pytest.fixture(scope="module")
def clip(real_data: Path, g1_body: Body) -> Any:
    """A clip of the humanoid on the G1, at its own rate."""

    def make(name: str) -> Retargeted:
        if name not in RETARGETED:
            path = real_data / "mimickit_humanoid" / f"humanoid_{name}.pkl"
            if name == "double_kong":  # its frame rate is a torch tensor, which our reader refuses
                pytest.importorskip("torch")
                content = pickle.loads(path.read_bytes())
                frames = np.array(content["frames"], dtype=np.float64)
                human = humanoid(frames[:, :3], frames[:, 3:6], frames[:, 6:], float(content["fps"]), name)
            else:
                human = read_human(path).human
            RETARGETED[name] = retarget(human, g1_body, RetargetConfig(fps=None), load_map("mimickit"))
        return RETARGETED[name]

    return make


def key_places(robot: Robot, motion: Motion) -> np.ndarray:
    """Key bodies in the root's frame, ``(T, K, 3)``."""
    places, _ = body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)
    index = [robot.body_names.index(name) for name in KEYS]
    turn = Rotation.from_quat(motion.root_quat, scalar_first=True).as_matrix()
    return np.einsum("tji,tkj->tki", turn, places[:, index] - places[:, :1])


@pytest.mark.parametrize(
    ("name", "angle", "distance"),
    [
        ("walk", 0.13, 0.05),
        ("run", 0.14, 0.05),
        ("cartwheel", 0.265, 0.05),
        ("spinkick", 0.314, 0.05),
        ("speed_vault", 0.165, 0.05),
        ("double_kong", 0.25, 0.0755),
    ],
)
def test_it_agrees_with_mimickits_own_g1(
    g1: Robot, real_data: Path, clip: Any, name: str, angle: float, distance: float
) -> None:
    """Nearly all of the difference is one constant of the arms: another tool's idea of a relaxed arm."""
    ours = clip(name).motion
    theirs = Motion.read(real_data / "mimickit_g1" / f"g1_{name}.pkl", g1)
    assert ours.num_frames == theirs.num_frames and ours.fps == theirs.fps
    assert np.sqrt(((ours.joint_pos - theirs.joint_pos) ** 2).mean()) <= angle
    assert np.linalg.norm(key_places(g1, ours) - key_places(g1, theirs), axis=2).mean() <= distance


@pytest.mark.parametrize("name", [*OURS_ALONE, "walk", "run", "cartwheel", "spinkick", "speed_vault", "double_kong"])
def test_it_stays_within_limits_above_the_floor_and_on_its_feet(g1: Robot, clip: Any, name: str) -> None:
    result = clip(name)
    motion, figures = result.motion, result.figures
    assert (motion.joint_pos <= g1.upper).all() and (motion.joint_pos >= g1.lower).all()
    assert figures.floor_depth <= 0.015
    assert figures.slip <= 0.01
    assert figures.dropped == 0 and figures.overlaps <= 0.1
    assert [fault.code for fault in check_motion(motion, g1)] == []
    assert figures.place_error < 0.015


def test_the_walk_loops_and_its_seam_is_spread_and_named(clip: Any) -> None:
    walk = clip("walk").motion
    seam = np.abs(walk.joint_pos[0] - walk.joint_pos[-1]).max()
    assert 0.05 < seam < 0.2 and walk.loop and repeats(walk)
    whole = closed(walk)
    assert whole.num_frames == walk.num_frames and np.abs(whole.joint_pos[0] - whole.joint_pos[-1]).max() < 1e-6
    assert any("seam" in note for note in whole.notes)
    assert np.abs(whole.joint_pos - walk.joint_pos).max() <= seam + 1e-6


def test_physical_time_is_shorter_by_the_root_of_the_scale(real_data: Path, g1_body: Body) -> None:
    human = read_human(real_data / "mimickit_humanoid" / "humanoid_jump.pkl").human
    result = retarget(human, g1_body, RetargetConfig(fps=None, physical_time=True), load_map("mimickit"))
    assert result.figures.scale == pytest.approx(0.658 / 0.831, abs=0.002)
    assert result.motion.fps == pytest.approx(human.fps / np.sqrt(result.figures.scale), rel=1e-4)
