"""From actions to joint targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking.env.environment import TrackingEnvironment

Make = Callable[..., TrackingEnvironment]


def test_no_residual_is_the_next_reference_pose(environment: Make, walking: Motion) -> None:
    made = environment(walking)
    frame = torch.tensor([0, 33, 120, 252])
    made.reset(torch.zeros(4, dtype=torch.long), frame)
    expected = made.library.at(torch.zeros(4, dtype=torch.long), frame + 4).joint_pos
    assert torch.equal(made.joint_targets(torch.zeros(4, 29)), expected)


def test_a_residual_of_one_is_a_share_of_effort_over_stiffness(environment: Make, walking: Motion, g1: Robot) -> None:
    """Hip pitch: 88 N·m and 40.179 N·m/rad. Ankle roll: 50 and 28.501. Wrist yaw: 5 or 25 and 16.778."""
    made = environment(walking, action_scale=0.5)
    moved = made.joint_targets(torch.full((4, 29), 2.0)) - made.joint_targets(torch.zeros(4, 29))
    expected = np.asarray(g1.effort / g1.stiffness)
    assert moved[0].numpy() == pytest.approx(expected, rel=1e-4)
    hip, ankle = g1.joint_indices(["left_hip_pitch_joint", "right_ankle_roll_joint"])
    assert moved[0, hip].item() == pytest.approx(88 / 40.179, rel=1e-3)
    assert moved[0, ankle].item() == pytest.approx(50 / 28.501, rel=1e-3)


def test_absolute_actions_span_more_than_the_joint_ranges(environment: Make, walking: Motion, g1: Robot) -> None:
    made = environment(walking, actions="absolute")
    assert not made.joint_targets(torch.zeros(4, 29)).any()
    reach = 1.4 * np.maximum(np.abs(g1.lower), np.abs(g1.upper))
    hip, roll, ankle = g1.joint_indices(["left_hip_pitch_joint", "right_hip_roll_joint", "left_ankle_roll_joint"])
    assert reach[[hip, roll, ankle]] == pytest.approx([4.0317, 4.1539, 0.3665], abs=1e-3)
    for action, share in ((1.0, 1.0), (0.25, 0.25), (-0.5, -0.5), (1.5, 1.0), (-7.0, -1.0)):
        targets = made.joint_targets(torch.full((4, 29), action))
        assert targets[3].numpy() == pytest.approx(share * reach, rel=1e-5)


@pytest.mark.parametrize("kind", ["residual", "absolute"])
def test_targets_reach_the_servos(
    environment: Make, walking: Motion, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = environment(walking, actions=kind)
    given: list[np.ndarray] = []
    step = made.simulation.step
    monkeypatch.setattr(made.simulation, "step", lambda targets: given.append(targets.copy()) or step(targets))
    actions = torch.randn(4, 29, generator=torch.Generator().manual_seed(0))
    expected = made.joint_targets(actions)
    made.step(actions)
    assert np.array_equal(given[0], expected.numpy())
    assert torch.equal(made.last_action, actions)
