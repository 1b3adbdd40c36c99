"""DeepMimic's reward by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from pfmhr.robots import Robot
from pfmhr.tracking import Frames, MotionLibrary
from pfmhr.tracking.env.observations import RobotState
from pfmhr.tracking.rewards.deepmimic import deepmimic_terms, joint_weights

from .clips import moving, on_reference

KEYS = torch.tensor([6, 12])


@pytest.fixture(scope="module")
def reference(g1: Robot) -> Frames:
    return MotionLibrary(g1, [moving(g1, turning=0.5)]).at(torch.zeros(2, dtype=torch.long), torch.tensor([0, 10]))


def reward(g1: Robot, state: RobotState, reference: Frames) -> list[float]:
    terms = deepmimic_terms(state, reference, joint_weights(g1.joint_names), KEYS)
    return sum(terms.values(), torch.zeros(2)).tolist()


def nudged(values: Tensor, column: int, by: float) -> Tensor:
    values = values.clone()
    values[..., column] += by
    return values


def test_the_reference_itself_is_worth_one(g1: Robot, reference: Frames) -> None:
    assert reward(g1, on_reference(reference), reference) == pytest.approx([1.0, 1.0], abs=1e-6)


def test_every_part_by_hand(g1: Robot, reference: Frames) -> None:
    state = on_reference(reference)
    knee, hip, wrist = (g1.joint_indices([f"left_{part}_joint"])[0] for part in ("knee", "hip_pitch", "wrist_yaw"))
    # Turned about z by 0.4 rad, a spin about z is the same in the world.
    turned = torch.tensor([[math.cos(0.2), 0.0, 0.0, math.sin(0.2)]] * 2)
    plain = replace(reference, root_quat=torch.tensor([[1.0, 0.0, 0.0, 0.0]] * 2))
    keys = state.body_pos.clone()
    keys[:, 6, 0] += 0.1
    keys[:, 12, 1] += 0.2
    keys[:, 3] += 9.0
    cases: list[tuple[RobotState, Frames, float]] = [
        (replace(state, joint_pos=nudged(state.joint_pos, knee, 0.5)), reference, 0.5 * math.exp(-0.25 * 0.6 * 0.25)),
        (replace(state, joint_pos=nudged(state.joint_pos, hip, -2.0)), reference, 0.5 * math.exp(-0.25 * 4.0)),
        (replace(state, joint_vel=nudged(state.joint_vel, wrist, 6.0)), reference, 0.1 * math.exp(-0.01 * 0.5 * 36)),
        (replace(state, root_pos=nudged(state.root_pos, 1, 0.3)), reference, 0.15 * math.exp(-5 * 0.09)),
        (replace(state, root_quat=turned), plain, 0.15 * math.exp(-5 * 0.1 * 0.16)),
        (replace(state, root_velocity=nudged(state.root_velocity, 2, 0.5)), reference, 0.1 * math.exp(-0.25)),
        (replace(state, root_spin=nudged(state.root_spin, 2, 2.0)), reference, 0.1 * math.exp(-0.1 * 4.0)),
        (replace(state, body_pos=keys), reference, 0.15 * math.exp(-10 * 0.05)),
    ]
    shares = (0.5, 0.5, 0.1, 0.15, 0.15, 0.1, 0.1, 0.15)
    for (robot, wanted, part), share in zip(cases, shares, strict=True):
        assert reward(g1, robot, wanted) == pytest.approx([1.0 - share + part] * 2, abs=1e-5)


def test_nothing_right_is_worth_nothing(g1: Robot, reference: Frames) -> None:
    state = on_reference(reference)
    far = RobotState(**{name: value + 40.0 for name, value in vars(state).items()})
    assert reward(g1, replace(far, root_quat=state.root_quat), reference) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_joints_at_the_ends_of_limbs_count_less() -> None:
    names = ("left_hip_pitch_joint", "right_knee_joint", "left_elbow_joint", "right_ankle_roll_joint", "left_wrist_yaw")
    assert joint_weights(names).tolist() == pytest.approx([1.0, 0.6, 0.6, 0.5, 0.5])
