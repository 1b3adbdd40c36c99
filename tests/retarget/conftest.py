"""A robot whose three hinges meet in one point, and humans made of its own skeleton: what comes back is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pfmhr.retarget import Body, Human, SkeletonMap
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.parts import JOINTS, joint_of
from pfmhr.retarget.rotations import exponential
from pfmhr.robots import Robot

AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}


def _body(name: str, place: str, hinges: str, inside: str = "", limit: float = 2.5) -> str:
    """A body with hinges such as "yxz", one after another."""
    joints = "".join(
        f'<joint name="{name}_{axis}" axis="{AXES[axis]}" range="-{limit} {limit}" limited="true"/>' for axis in hinges
    )
    shape = '<geom size="0.02" contype="0" conaffinity="0"/>'
    return f'<body name="{name}" pos="{place}">{joints}{shape}{inside}</body>'


def _side(side: str, sign: int) -> tuple[str, str]:
    sole = '<geom type="box" size="0.1 0.04 0.02" pos="0.04 0 -0.04"/>'
    foot = _body(f"{side}_foot", "0 0 -0.4", "yx", sole)
    shin = _body(f"{side}_shin", "0 0 -0.4", "y", foot)
    leg = _body(f"{side}_thigh", f"0 {0.1 * sign} 0", "yxz", shin)
    hand = _body(f"{side}_hand", f"0 {0.25 * sign} 0", "yxz")
    lower = _body(f"{side}_lower_arm", f"0 {0.3 * sign} 0", "z", hand)
    arm = _body(f"{side}_upper_arm", f"0 {0.2 * sign} 0.3", "yxz", lower)
    return leg, arm


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Body:
    """A robot that stands in a T-pose when its joints are 0."""
    folder = tmp_path_factory.mktemp("toy")
    (left_leg, left_arm), (right_leg, right_arm) = _side("left", 1), _side("right", -1)
    torso = _body("torso", "0 0 0.2", "zyx", left_arm + right_arm)
    root = f'<body name="pelvis" pos="0 0 0.86"><freejoint/><geom size="0.02"/>{torso}{left_leg}{right_leg}</body>'
    (folder / "toy.xml").write_text(f'<mujoco><compiler angle="radian"/><worldbody>{root}</worldbody></mujoco>')
    lines = ["[bodies]", 'pelvis = "pelvis"', 'torso = "torso"']
    for side in ("left", "right"):
        lines += [f'{side}_hip = "{side}_thigh"', f'{side}_shoulder = "{side}_upper_arm"']
        lines += [
            f'{side}_{part} = "{side}_{part}"' for part in ("thigh", "shin", "foot", "upper_arm", "lower_arm", "hand")
        ]
    (folder / "toy.retarget.toml").write_text("\n".join(lines))
    return Body.of(Robot.load(folder / "toy.xml"))


@pytest.fixture(scope="session")
def skeleton() -> SkeletonMap:
    """Joints called by their roles; a T-pose when all are 0."""
    return SkeletonMap({name: name for name in JOINTS}, rest="zero")


@pytest.fixture(scope="session")
def swinging(toy: Body) -> Callable[..., Pose]:
    """Makes poses of the toy: legs and arms swing, knees and elbows bend, all well within the limits."""

    def make(frames: int = 60, fps: float = 30.0) -> Pose:
        time = np.arange(frames) / fps
        joints = np.zeros((toy.linkage.robot.num_joints, frames))
        for index, name in enumerate(toy.linkage.robot.joint_names):
            size = {"thigh": 0.5, "shin": 0.5, "upper_arm": 0.6, "lower_arm": 0.6}.get(name.split("_", 1)[1][:-2], 0.15)
            joints[index] = size * np.sin(2 * np.pi * 0.7 * time + 0.9 * index)
            if "shin" in name:
                joints[index] += 0.8
            if "lower_arm" in name:
                joints[index] += 1.0 if name.startswith("right") else -1.0
        place = np.stack([0.5 * time, 0.1 * time, 0.83 + 0.02 * np.sin(4 * time)])
        turn = exponential(np.stack([0.05 * np.sin(3 * time), 0.1 * np.cos(2 * time), 0.3 * np.sin(time)]))
        return Pose(place, turn, joints)

    return make


@pytest.fixture(scope="session")
def human_of(toy: Body) -> Callable[..., Human]:
    """A human with the robot's own skeleton, ``scale`` times as large."""

    def make(pose: Pose, scale: float = 1.0, fps: float = 30.0, turn: NDArray[np.float64] | None = None) -> Human:
        places, turns = toy.linkage.forward(pose)
        still, _ = toy.linkage.upright(toy.t_pose)
        link = {
            "hips": "pelvis",
            "chest": "torso",
            **{joint_of(name): name for name in toy.link if name.split("_", 1)[-1] not in ("hip", "shoulder")},
        }
        extra = {"neck": ("torso", (0.0, 0.0, 0.3)), **{f"{s}_toe": (f"{s}_foot", (0.1, 0.0, -0.04)) for s in SIDES}}
        names = (*link, *extra)
        index = [toy.link[body] for body in link.values()] + [toy.link[body] for body, _ in extra.values()]
        beyond = np.array([(0.0, 0.0, 0.0)] * len(link) + [point for _, point in extra.values()])
        where = places[index] + np.einsum("jikt,jk->jit", turns[index], beyond)
        world = np.eye(3) if turn is None else turn
        return Human(
            names=names,
            positions=scale * np.einsum("ik,jkt->tji", world, where),
            rotations=np.einsum("ik,jklt->tjil", world, turns[index]),
            fps=fps,
            zero_positions=scale * (still[index] + beyond),
        )

    return make


SIDES = ("left", "right")


@pytest.fixture(scope="session")
def g1_body(g1: Robot) -> Body:
    return Body.of(g1)


@pytest.fixture
def bvh_text() -> Callable[..., str]:
    """Writes a BVH of the joints of a map, so that nothing of others is needed."""
    from pfmhr.retarget.example import bvh_of_a_walk

    return bvh_of_a_walk


@pytest.fixture
def bvh_file(tmp_path: Path, bvh_text: Callable[..., str]) -> Path:
    path = tmp_path / "walk.bvh"
    path.write_text(bvh_text())
    return path
