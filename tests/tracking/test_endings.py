"""How episodes end, and what an environment that explodes leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import AdversaryConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.rewards.add import AddReward
from pfmhr.tracking.rewards.deepmimic import DeepMimicReward

from .clips import lying, still
from .learning import on_its_reference

Make = Callable[..., TrackingEnvironment]
NOTHING = torch.zeros(4, 29)


# How episodes end


@pytest.mark.parametrize(("away", "limit", "failed"), [(0.6, 0.5, True), (0.4, 0.5, False), (0.6, 0.7, False)])
def test_a_robot_away_from_its_reference_is_lost(
    environment: Make, walking: Motion, away: float, limit: float, failed: bool
) -> None:
    made = environment(walking, termination_distance=limit)
    made.simulation.positions[1, 1] += away
    _, _, dones, extras = made.step(NOTHING)
    assert extras["failed"].tolist() == dones.tolist() == [False, failed, False, False]
    assert made.root_error[1].item() == pytest.approx(away, abs=0.02)
    assert made.counts == {"exploded": 0, "contact": 0, "distance": int(failed), "finished": 0, "timed_out": 0}
    assert not extras["time_outs"].any()
    assert made.episode_length_buf.tolist() == [1, 0 if failed else 1, 1, 1]


def test_one_hand_away_is_enough(environment: Make, g1: Robot) -> None:
    made = environment(still(g1))
    made.simulation.positions[2, 7 + g1.joint_indices(["left_shoulder_pitch_joint"])[0]] -= 2.8
    _, _, _, extras = made.step(NOTHING)
    assert extras["failed"].tolist() == [False, False, True, False]
    assert made.root_error[2] < 0.05
    far = {g1.body_names[row] for row in (made.body_error[2] > 0.5).nonzero().flatten().tolist()}
    assert "left_wrist_yaw_link" in far and all("left" in name for name in far)


def test_a_body_on_the_floor_that_may_not_be_there_is_the_end(environment: Make, g1: Robot) -> None:
    made = environment(lying(g1))
    for _ in range(3):
        made.step(NOTHING)
    assert made.counts["contact"] >= 4 and made.counts["distance"] == 0


def test_lying_down_is_allowed_where_it_is_not_tested_for(environment: Make, g1: Robot) -> None:
    everywhere = (lying(g1), {"contacts": g1.body_names}), (lying(g1), {"contacts": ()})
    for motion, settings in everywhere:
        made = environment(motion, **settings)
        for _ in range(3):
            made.step(NOTHING)
        assert made.counts["contact"] == 0 and bool(made.simulation.touched.any())
    several = environment(lying(g1), still(g1))
    for _ in range(3):
        several.step(NOTHING)
    assert several.counts["contact"] == 0


def test_feet_may_touch_the_floor(environment: Make, g1: Robot) -> None:
    made = environment(still(g1))
    for _ in range(3):
        made.step(NOTHING)
    assert bool(made.simulation.touched.any()) and made.counts["contact"] == 0


def test_the_end_of_a_clip_is_neither_lost_nor_late(environment: Make, g1: Robot) -> None:
    made = environment(still(g1, seconds=0.2), episode_seconds=0.2)
    made.reset(torch.zeros(4, dtype=torch.long), torch.tensor([20, 19, 21, 0]))
    made.episode_length_buf[2] = 5
    _, _, dones, extras = made.step(NOTHING)
    assert dones.tolist() == [True, False, True, False]
    assert not extras["failed"].any() and not extras["time_outs"].any()
    assert made.counts == {"exploded": 0, "contact": 0, "distance": 0, "finished": 2, "timed_out": 0}


def test_an_episode_of_full_length_is_late(environment: Make, g1: Robot) -> None:
    made = environment(still(g1, loop=True), episode_seconds=0.1)
    assert made.max_episode_length == 3
    made.episode_length_buf[2] = 1
    for late in ([], [2], [0, 1, 3]):
        _, _, dones, extras = made.step(NOTHING)
        assert dones.nonzero().flatten().tolist() == extras["time_outs"].nonzero().flatten().tolist() == late
        assert not extras["failed"].any()
    assert made.counts["timed_out"] == 4 and made.counts["finished"] == 0


def test_who_is_lost_on_the_last_step_is_not_late(environment: Make, g1: Robot) -> None:
    made = environment(still(g1, loop=True), episode_seconds=1 / 30)
    made.simulation.positions[1, 0] += 2.0
    _, _, dones, extras = made.step(NOTHING)
    assert dones.all() and extras["time_outs"].tolist() == [True, False, True, True]


# What explodes


@pytest.mark.parametrize("how", ["velocity", "action", "position"])
def test_an_exploded_environment_starts_anew_and_harms_no_other(
    environment: Make, g1: Robot, walking: Motion, how: str
) -> None:
    made, twin = environment(walking), environment(walking)
    actions = 0.1 * torch.randn(4, 29, generator=torch.Generator().manual_seed(0))
    broken = actions.clone()
    if how == "velocity":
        made.simulation.velocities[2] = 1e9
    elif how == "position":
        made.simulation.positions[2, 9] = math.nan
    else:
        broken[2, 5] = math.nan
    seen, rewards, dones, extras = made.step(broken)
    other_seen, _, _, other_extras = twin.step(actions)
    assert dones.tolist() == extras["failed"].tolist() == [False, False, True, False]
    kept, other_kept = extras["transitions"], other_extras["transitions"]
    assert kept.valid.tolist() == [True, True, False, True]
    assert made.counts["exploded"] == 1 and on_its_reference(made, 2) and made.episode_length_buf[2] == 0
    assert bool(seen["policy"].isfinite().all()) and not rewards.any()
    for reward in (AddReward(AdversaryConfig(), g1, made.config), DeepMimicReward(None, g1, made.config)):
        assert bool(reward.compute(kept).isfinite().all())
    others = [0, 1, 3]
    assert torch.equal(seen["policy"][others], other_seen["policy"][others])
    assert torch.equal(kept.previous_pose[others], other_kept.previous_pose[others])
    for part in ("state", "reference"):
        for name, values in vars(getattr(kept, part)).items():
            assert torch.equal(values[others], getattr(getattr(other_kept, part), name)[others])
