"""Joints and modes of one pose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.robots.naming import limbs, words
from pfmhr.viewer.modes import PoseDesk

from ..score.priors import GaussianDenoiser, around

TOY = """<mujoco><compiler angle="radian"/><worldbody><body><freejoint/><geom size="0.1"/>
<body><joint name="joint_0" range="-1 1"/><geom size="0.1"/><body><joint name="joint_1" range="-3 3"/><geom size="0.1"/>
</body></body></body></worldbody></mujoco>"""


@pytest.fixture
def toy(tmp_path: Path) -> Robot:
    path = tmp_path / "toy.xml"
    path.write_text(TOY)
    return Robot.load(path)


@pytest.fixture
def desk(prior: PosePrior, g1: Robot) -> PoseDesk:
    return PoseDesk(prior, g1, samples=4)


def test_modes_of_a_gaussian_prior_are_known(toy: Robot) -> None:
    """Poses vary together along (1, 1)/√2 with variance 1.5 and against each other with 0.5, in units of 0.5 rad.

    Given a pose seen through noise at t = 0.75, a variance of v is left as v (1 − t)²/(t² v + (1 − t)²).
    """
    gaussian = GaussianDenoiser(torch.zeros(2).double(), torch.tensor([[1.0, 0.5], [0.5, 1.0]]).double())
    desk = PoseDesk(around(gaussian, (0.0, 0.0), (0.5, 0.5)), toy)
    left = [v * 0.0625 / (0.5625 * v + 0.0625) for v in (1.5, 0.5)]
    assert desk.count == 2
    assert desk.spread == pytest.approx(np.sqrt(left), rel=1e-5)
    together = 0.5 * np.sqrt(left[0] / 2)
    assert desk.directions[:, 0] == pytest.approx([together, together], rel=1e-4)
    desk.set_mode(0, 2.0)
    assert desk.pose == pytest.approx([2 * together] * 2, rel=1e-4)


def test_a_pose_never_leaves_the_limits(toy: Robot) -> None:
    gaussian = GaussianDenoiser(torch.zeros(2).double(), torch.eye(2).double())
    desk = PoseDesk(around(gaussian, (0.0, 0.0), (5.0, 5.0)), toy)
    desk.set_mode(0, 50.0)
    desk.set_mode(1, 50.0)
    assert (desk.pose <= toy.upper).all() and (desk.pose >= toy.lower).all()
    desk.set_joint(0, 99.0)
    assert desk.base[0] == 1.0


def test_modes_add_up_and_going_back_is_the_base(desk: PoseDesk) -> None:
    desk.set_mode(0, 0.5)
    desk.set_mode(3, -0.25)
    expected = desk.base + 0.5 * desk.directions[:, 0] - 0.25 * desk.directions[:, 3]
    assert desk.pose == pytest.approx(np.clip(expected, desk.robot.lower, desk.robot.upper))
    desk.set_mode(0, 0.0)
    desk.set_mode(3, 0.0)
    assert desk.pose == pytest.approx(desk.base)


def test_modes_come_strongest_first_and_their_strongest_joint_goes_up(desk: PoseDesk) -> None:
    assert (np.diff(desk.spread) <= 0).all() and (desk.spread > 0).all()
    strongest = np.abs(desk.directions).argmax(axis=0)
    assert (desk.directions[strongest, np.arange(desk.count)] > 0).all()
    for mode in range(desk.count):
        assert desk.heat(mode).max() == 1.0
        assert desk.heat(mode).argmax() == strongest[mode]
        assert desk.describe(mode).startswith(f"+ {words(desk.robot.joint_names[strongest[mode]])}")


def test_the_same_pose_has_the_same_modes(prior: PosePrior, g1: Robot, desk: PoseDesk) -> None:
    again = PoseDesk(prior, g1, samples=4)
    assert (again.directions == desk.directions).all()
    desk.sample()
    assert not np.allclose(again.directions, desk.directions)
    desk.reset()
    assert (again.directions == desk.directions).all()


def test_turning_a_joint_keeps_the_others_and_finds_new_modes(desk: PoseDesk) -> None:
    desk.set_mode(1, 1.0)
    before, modes = desk.pose, desk.directions
    desk.set_joint(3, 1.2)
    assert desk.pose[3] == pytest.approx(1.2)
    assert np.delete(desk.pose, 3) == pytest.approx(np.delete(before, 3))
    assert not desk.amplitudes.any()
    assert not np.allclose(desk.directions, modes)


def test_samples_are_poses_of_the_prior(prior: PosePrior, desk: PoseDesk) -> None:
    expected = prior.sample(1, generator=torch.Generator().manual_seed(0))[0].numpy()
    desk.sample()
    assert desk.pose == pytest.approx(np.clip(expected, desk.robot.lower, desk.robot.upper), abs=1e-5)
    first = desk.pose
    desk.sample()
    assert not np.allclose(desk.pose, first)


def test_a_robot_with_other_joints_is_refused(prior: PosePrior, toy: Robot) -> None:
    with pytest.raises(InputError, match="the prior is for other joints"):
        PoseDesk(prior, toy)


def test_joints_are_grouped_by_limb(g1: Robot) -> None:
    groups = limbs(g1.joint_names)
    assert {name: len(joints) for name, joints in groups.items()} == {
        "left leg": 6, "right leg": 6, "body": 3, "left arm": 7, "right arm": 7,
    }  # fmt: skip
    assert sorted(joint for joints in groups.values() for joint in joints) == list(range(29))
    assert words("left_hip_pitch_joint") == "left hip pitch"
