"""Many robots on their references: how episodes begin, are told of and go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pfmhr.errors import InputError
from pfmhr.learning.state import load_state, save_state
from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.sim import Box
from pfmhr.tracking import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment

from .clips import lying, moving, still
from .learning import on_its_reference

Make = Callable[..., TrackingEnvironment]
NOTHING = torch.zeros(4, 29)


# How episodes begin


def test_lost_environments_begin_on_the_reference(environment: Make, g1: Robot, walking: Motion) -> None:
    made = environment(walking, still(g1, loop=True), environments=20)
    made.simulation.positions[:15, 0] += 5.0
    made.step(torch.ones(20, 29))
    assert all(on_its_reference(made, number) for number in range(15))
    assert not any(on_its_reference(made, number) for number in range(15, 20))
    assert len(set(made.frame[:15].tolist())) > 5 and set(made.clip[:15].tolist()) == {0, 1}
    assert not made.last_action[:15].any() and bool(made.last_action[15:].all())
    wanted = made.library.at(made.clip, made.frame).body_pos[:15]
    assert torch.equal(made.body_pos[:15], wanted)


def test_the_first_step_of_an_episode_starts_from_where_it_was_put(
    environment: Make, g1: Robot, walking: Motion
) -> None:
    """Each episode lasts one step, so every step follows a jump to another moment of another clip."""
    made = environment(walking, lying(g1), environments=16, episode_seconds=1 / 30)
    before: torch.Tensor | None = None
    jumps = []
    for _ in range(4):
        wanted = made.library.at(made.clip, made.frame).joint_pos
        _, _, dones, extras = made.step(torch.zeros(16, 29))
        kept = extras["transitions"]
        assert dones.all() and kept.valid.all()
        assert torch.equal(kept.previous_pose, wanted)
        assert float((kept.state.joint_pos - kept.previous_pose).abs().max()) < 0.6
        jumps.append(0.0 if before is None else float((kept.previous_pose - before).abs().max()))
        before = kept.state.joint_pos
    assert min(jumps[1:]) > 0.8


def test_what_is_kept_is_of_before_the_reset(environment: Make, g1: Robot) -> None:
    made = environment(moving(g1), still(g1), termination_distance=5.0)
    made.reset(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 20, 0, 56]))
    kept = made.step(NOTHING)[3]["transitions"]
    assert kept.clip.tolist() == [0, 0, 1, 1]
    frames = made.library.at(torch.tensor([0, 0, 1, 1]), torch.tensor([4, 24, 4, 60]))
    assert torch.equal(kept.reference.joint_pos, frames.joint_pos)
    gaps = kept.state.root_pos - made.robot_state().root_pos
    assert (gaps[[1, 3]].abs().amax(dim=1) > 0).all() and not gaps[[0, 2]].any()  # the second and fourth began anew
    assert not torch.equal(kept.state.body_pos[1], made.body_pos[1])
    assert made.counts["finished"] == 2


def test_it_goes_on_from_its_state(environment: Make, walking: Motion, tmp_path: Path) -> None:
    made, other = environment(walking), environment(walking)
    noise = torch.Generator().manual_seed(0)
    actions = 0.5 * torch.randn(30, 4, 29, generator=noise)
    for action in actions[:15]:
        made.step(action)
    save_state(tmp_path / "state", made.state_dict())
    other.load_state_dict(load_state(tmp_path / "state"))
    for action in actions[15:]:
        (seen, *_), (other_seen, *_) = made.step(action), other.step(action)
        assert torch.equal(seen["policy"], other_seen["policy"])
    assert made.counts == other.counts and made.counts["distance"] > 2


# Settings


def test_a_skill_brings_its_contacts_and_boxes(environment: Make, g1: Robot) -> None:
    vault = environment(still(g1, name="g1_speed_vault"))
    assert vault.simulation.scene.config.boxes == (Box((0.2, 1.0, 0.3), (1.7, 0.5, 0.055)),)
    hand, head = g1.body_names.index("left_wrist_yaw_link"), g1.body_names.index("torso_link")
    for name, forbidden in (("walk", True), ("g1_cartwheel", False), ("double_kong", False)):
        made = environment(still(g1, name=name))
        assert bool(made._forbidden[hand]) is forbidden and bool(made._forbidden[head])
    plain = environment(still(g1, name="g1_speed_vault"), boxes=(), contacts=("pelvis",))
    assert plain.simulation.scene.config.boxes == () and int((~plain._forbidden).sum()) == 1


def test_impossible_settings_are_refused(g1: Robot, walking: Motion) -> None:
    for wrong in (
        {"environments": 0},
        {"episode_seconds": 0.01},
        {"action_scale": 0.0},
        {"action_range": -1.0},
        {"termination_distance": 0.0},
        {"episode_seconds": math.nan},
    ):
        with pytest.raises(InputError):
            EnvironmentConfig(**wrong)  # type: ignore[arg-type]
    for wrong in ({"contacts": ("tail_link",)}, {"key_bodies": ("tail_link",)}):
        with pytest.raises(InputError, match=r"unknown body of robot 'g1' 'tail_link'.*pelvis"):
            TrackingEnvironment(g1, [walking], EnvironmentConfig(environments=1, **wrong), threads=1)  # type: ignore[arg-type]
