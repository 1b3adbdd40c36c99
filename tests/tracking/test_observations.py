"""What the policy sees and the discriminator compares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar

import pytest
import torch
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import EnvironmentConfig, Frames, MotionLibrary
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.observations import (
    RobotState,
    local_observation,
    observation_layout,
    world_observation,
)
from pfmhr.tracking.env.rotations import compose, hinge_six_numbers, rotate, six_numbers
from pfmhr.tracking.rewards.difference import difference

from .clips import on_reference

Moment = TypeVar("Moment", RobotState, Frames)
KEYS = torch.tensor([6, 12, 15, 22, 29])
WIDTHS = {"local": 170, "world": 825}


@pytest.fixture(scope="module")
def reference(g1: Robot, walking: Motion) -> Frames:
    return MotionLibrary(g1, [walking]).at(torch.zeros(6, dtype=torch.long), torch.tensor([0, 9, 50, 101, 180, 250]))


@pytest.fixture(scope="module")
def axes(g1: Robot) -> Tensor:
    return torch.from_numpy(g1.joint_axes)


def disturbed(frames: Frames, seed: int = 0) -> RobotState:
    """A robot near the reference, in nothing equal to it."""
    generator = torch.Generator().manual_seed(seed)
    state = on_reference(frames)
    values = {}
    for field in fields(RobotState):
        value = getattr(state, field.name)
        values[field.name] = value + 0.1 * torch.randn(value.shape, generator=generator)
    values["root_quat"] = torch.nn.functional.normalize(values["root_quat"], dim=1)
    return RobotState(**values)


def carried(moment: Moment, heading: float, shift: tuple[float, float]) -> Moment:
    """All of it moved across the floor and turned about z."""
    turn = torch.tensor([math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)])
    place = rotate(turn, moment.root_pos) + torch.tensor([*shift, 0.0])
    changes = {"root_pos": place, "root_quat": compose(turn.expand(len(place), 4), moment.root_quat)}
    changes |= {name: rotate(turn, getattr(moment, name)) for name in ("root_velocity", "body_pos")}
    return replace(moment, **changes)


def parts(values: Tensor, robot: Robot, kind: str) -> dict[str, Tensor]:
    layout = observation_layout(EnvironmentConfig(observation=kind), robot)  # type: ignore[arg-type]
    return dict(zip([name for name, _ in layout], values.split([width for _, width in layout], dim=1), strict=True))


@pytest.mark.parametrize("kind", ["local", "world"])
def test_widths(
    g1: Robot, walking: Motion, environment: Callable[..., TrackingEnvironment], reference: Frames, kind: str
) -> None:
    made = environment(walking, observation=kind)
    seen = made.get_observations()["policy"]
    assert seen.shape == (4, WIDTHS[kind]) and seen.dtype == torch.float32
    assert sum(width for _, width in observation_layout(made.config, g1)) == WIDTHS[kind]
    assert bool(seen.isfinite().all())


def test_the_local_observation_is_the_same_anywhere_in_any_direction(reference: Frames) -> None:
    state, action = disturbed(reference), torch.randn(6, 29)
    here = local_observation(state, reference, action)
    for heading, shift in ((0.0, (3.0, -7.0)), (2.1, (0.0, 0.0)), (-1.2, (5.0, 4.0))):
        there = local_observation(carried(state, heading, shift), carried(reference, heading, shift), action)
        assert torch.allclose(there, here, atol=5e-6)
    alone = local_observation(carried(state, 0.5, (0.0, 0.0)), reference, action)
    assert float((alone - here).abs().max()) > 0.1


def test_the_world_observation_is_the_same_anywhere_but_knows_its_direction(reference: Frames, axes: Tensor) -> None:
    state = disturbed(reference)

    def seen(heading: float, shift: tuple[float, float]) -> Tensor:
        return world_observation(carried(state, heading, shift), [carried(reference, heading, shift)] * 3, axes, KEYS)

    assert torch.allclose(seen(0.0, (3.0, -7.0)), seen(0.0, (0.0, 0.0)), atol=5e-6)
    assert float((seen(0.5, (0.0, 0.0)) - seen(0.0, (0.0, 0.0))).abs().max()) > 0.1


def test_the_local_observation_by_hand(g1: Robot, reference: Frames) -> None:
    """A robot that looks along y, its reference 0.1 m along x: that is to its right."""
    quarter = torch.tensor([[math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]] * 6)
    ahead = torch.tensor([[1.0, 0.0, 0.0]] * 6)
    state = replace(
        on_reference(reference),
        root_quat=quarter,
        root_pos=reference.root_pos - 0.1 * ahead,
        root_velocity=2.0 * ahead,
        joint_pos=reference.joint_pos - 0.3,
        joint_vel=reference.joint_vel + 1.0,
    )
    target = replace(reference, root_quat=torch.tensor([[1.0, 0.0, 0.0, 0.0]] * 6), root_spin=4.0 * ahead)
    action = torch.randn(6, 29)
    seen = parts(local_observation(state, target, action), g1, "local")
    right = torch.tensor([0.0, -1.0, 0.0])
    assert torch.allclose(seen["root_pos_error"], 0.1 * right, atol=1e-6)
    assert torch.allclose(seen["root_velocity"], 2.0 * right, atol=1e-6)
    assert torch.allclose(seen["next_root_spin"], 4.0 * right, atol=1e-6)
    assert torch.allclose(seen["next_root_rotation"], torch.tensor([0.0, -1.0, 0.0, 0.0, 0.0, 1.0]), atol=1e-6)
    assert torch.allclose(seen["gravity"], torch.tensor([0.0, 0.0, -1.0]), atol=1e-6)
    assert torch.equal(seen["root_spin"], state.root_spin)
    assert torch.equal(seen["root_height"], state.root_pos[:, 2:])
    assert torch.equal(seen["joint_pos"], state.joint_pos)
    assert torch.allclose(seen["joint_vel_tenth"], 0.1 * state.joint_vel)
    assert torch.allclose(seen["joint_pos_error"], torch.full((6, 29), 0.3), atol=1e-6)
    assert torch.allclose(seen["next_joint_vel_tenth"], 0.1 * target.joint_vel)
    assert torch.equal(seen["last_action"], action)


def test_the_world_observation_by_hand(g1: Robot, reference: Frames, axes: Tensor) -> None:
    state = disturbed(reference)
    later = carried(reference, 0.4, (2.0, 1.0))
    seen = parts(world_observation(state, [reference, later, reference], axes, KEYS), g1, "world")
    assert torch.equal(seen["root_rotation"], six_numbers(state.root_quat))
    assert torch.allclose(seen["root_spin"], rotate(state.root_quat, state.root_spin))
    assert torch.equal(seen["joint_rotation"], hinge_six_numbers(state.joint_pos, axes).flatten(1))
    assert torch.equal(seen["key_body_pos"], state.body_pos[:, KEYS].flatten(1))
    assert torch.allclose(seen["next2_root_pos"][:, :2], (later.root_pos - state.root_pos)[:, :2])
    assert torch.equal(seen["next2_root_pos"][:, 2], later.root_pos[:, 2])
    assert torch.equal(seen["next2_root_rotation"], six_numbers(later.root_quat))
    assert torch.equal(seen["next2_key_body_pos"], later.body_pos[:, KEYS].flatten(1))
    assert torch.equal(seen["next3_joint_rotation"], hinge_six_numbers(reference.joint_pos, axes).flatten(1))


def test_the_policy_sees_one_or_three_control_steps_ahead(
    g1: Robot, walking: Motion, environment: Callable[..., TrackingEnvironment]
) -> None:
    local, world = environment(walking), environment(walking, observation="world")
    clip = torch.zeros(4, dtype=torch.long)
    seen = parts(local.get_observations()["policy"], g1, "local")
    now, ahead = local.library.at(clip, clip).joint_pos, local.library.at(clip, clip + 4).joint_pos
    assert torch.allclose(seen["joint_pos_error"], ahead - now, atol=1e-6)
    seen = parts(world.get_observations()["policy"], g1, "world")
    for steps, name in ((1, "next"), (2, "next2"), (3, "next3")):
        expected = hinge_six_numbers(world.library.at(clip, clip + 4 * steps).joint_pos, world.axes).flatten(1)
        assert torch.allclose(seen[f"{name}_joint_rotation"], expected, atol=1e-6)


@pytest.mark.parametrize(("rotations", "width"), [(False, 160), (True, 305)])
def test_there_is_no_difference_on_the_reference(reference: Frames, axes: Tensor, rotations: bool, width: int) -> None:
    compared = axes if rotations else None
    gap = difference(on_reference(reference), reference, compared)
    assert gap.shape == (6, width) and not gap.any()
    other = difference(disturbed(reference), reference, compared)
    assert float((other != 0).float().mean()) > 0.7


def test_the_difference_is_reference_minus_robot_in_the_world(reference: Frames) -> None:
    state = on_reference(reference)
    turned = rotate(reference.root_quat, torch.tensor([[0.0, 0.0, 2.0]] * 6))
    moved = replace(
        state,
        root_pos=state.root_pos - 0.2,
        joint_pos=state.joint_pos - 0.3,
        root_velocity=state.root_velocity - 0.5,
        root_spin=state.root_spin - torch.tensor([0.0, 0.0, 2.0]),
        joint_vel=state.joint_vel - 0.7,
        body_pos=state.body_pos - 0.1,
    )
    gap = difference(moved, reference, None)
    root, turn, joints, bodies, velocity, spin, speeds = gap.split([3, 6, 29, 87, 3, 3, 29], dim=1)
    for found, size in ((root, 0.2), (joints, 0.3), (bodies, 0.1), (velocity, 0.5), (speeds, 0.7)):
        assert torch.allclose(found, torch.full_like(found, size), atol=1e-5)
    assert torch.allclose(spin, turned, atol=1e-5) and not turn.any()
