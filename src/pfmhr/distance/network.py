"""The distance network: each joint's feature follows from its angle and its parent's feature, then one head for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import torch
from torch import Tensor, nn
from torch.nn import functional

from pfmhr.errors import InputError
from pfmhr.learning import require_numbers
from pfmhr.robots import Robot

SHARPNESS = 100.0
"""β of every softplus: nearly a ReLU, yet smooth, for the gradient is trained too."""


MOST_UNITS, MOST_LAYERS = 65_536, 100
"""Far beyond PDF-HR's 512 and 3: larger numbers in a config are a mistake or a trap."""


@dataclass(frozen=True)
class DistanceNetworkConfig:
    """Sizes, as in PDF-HR."""

    feature: int = 16
    """Numbers per joint."""
    hidden: int = 17
    """Units between a joint's angle and its feature."""
    head: tuple[int, ...] = (512, 256, 128)

    def __post_init__(self) -> None:
        require_numbers(self, at_least_one=("feature", "hidden"))
        widest = max(self.feature, self.hidden, *self.head, 1)
        if widest > MOST_UNITS or len(self.head) > MOST_LAYERS or not all(units >= 1 for units in self.head):
            expected = f"1 to {MOST_UNITS} units per layer, at most {MOST_LAYERS} layers in the head"
            raise InputError("impossible network", expected=expected, got=self, code="bad_config")


def joint_parents(robot: Robot) -> tuple[int, ...]:
    """Index of the joint above each joint in the robot's tree, −1 for those on the root body."""
    model = robot.compile()
    joints = [model.joint(name).id for name in robot.joint_names]
    place = {joint: index for index, joint in enumerate(joints)}
    parents = []
    for joint in joints:
        parents.append(place.get(_joint_above(model, joint), -1))
    return tuple(parents)


def _joint_above(model: mujoco.MjModel, joint: int) -> int:
    """The hinge before this one: on the same body, or the last one of the nearest ancestor that has any."""
    body = int(model.jnt_bodyid[joint])
    if joint > model.body_jntadr[body]:
        return joint - 1
    while body:
        body = int(model.body_parentid[body])
        if model.body_jntnum[body]:
            return int(model.body_jntadr[body] + model.body_jntnum[body] - 1)
    return -1


class DistanceNetwork(nn.Module):
    """Poses in rad ``(…, J)`` → distance ``(…)``, never negative.

    Made in float32 on the CPU, whatever torch's defaults are; on the device "meta" it has sizes and no memory.
    """

    def __init__(self, parents: Sequence[int], config: DistanceNetworkConfig, device: str = "cpu") -> None:
        super().__init__()
        self.joints, self.config = len(parents), config
        self._levels = _levels(parents)
        self._parents = tuple(parents)
        self.levels = nn.ModuleList(_Level(len(level), 1 if depth == 0 else 1 + config.feature, config, device)
                                    for depth, level in enumerate(self._levels))  # fmt: skip
        sizes = [self.joints * config.feature, *config.head, 1]
        made = {"device": device, "dtype": torch.float32}
        self.head = nn.ModuleList(nn.Linear(*pair, **made) for pair in pairwise(sizes))

    def forward(self, pose: Tensor) -> Tensor:
        """Distance of each pose; joints are visited from the root outwards, one level at a time."""
        flat = pose.reshape(-1, self.joints)
        features: list[Tensor] = [flat.new_empty(0)] * self.joints
        for level, layer in zip(self._levels, self.levels, strict=True):
            angle = flat[:, list(level)].T.unsqueeze(-1)  # (n, rows, 1)
            above = [features[self._parents[joint]] for joint in level if self._parents[joint] >= 0]
            given = torch.cat([angle, torch.stack(above)], dim=-1) if above else angle
            for joint, feature in zip(level, layer(given).unbind(0), strict=True):
                features[joint] = feature
        hidden = torch.cat(features, dim=-1)
        for linear in self.head:
            hidden = _softplus(linear(hidden))
        return hidden.reshape(pose.shape[:-1])


class _Level(nn.Module):
    """The small networks of all joints at one depth of the tree, side by side."""

    def __init__(self, joints: int, inputs: int, config: DistanceNetworkConfig, device: str) -> None:
        super().__init__()
        self.first, self.first_bias = _linear(joints, inputs, config.hidden, device)
        self.second, self.second_bias = _linear(joints, config.hidden, config.feature, device)

    def forward(self, given: Tensor) -> Tensor:
        """``(joints, rows, inputs)`` → ``(joints, rows, feature)``."""
        hidden = _softplus(torch.baddbmm(self.first_bias, given, self.first))
        return _softplus(torch.baddbmm(self.second_bias, hidden, self.second))


def _linear(joints: int, inputs: int, outputs: int, device: str) -> tuple[nn.Parameter, nn.Parameter]:
    bound = 1.0 / math.sqrt(inputs)

    def drawn(*shape: int) -> nn.Parameter:
        return nn.Parameter(torch.empty(shape, device=device, dtype=torch.float32).uniform_(-bound, bound))

    return drawn(joints, inputs, outputs), drawn(joints, 1, outputs)


def _levels(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Joints by their depth in the tree; a joint comes after its parent."""
    depth: list[int] = []
    for joint, parent in enumerate(parents):
        if not -1 <= parent < joint:
            raise InputError("no tree of joints", expected="parents before children", got=parents, code="bad_config")
        depth.append(0 if parent < 0 else depth[parent] + 1)
    if not depth:
        raise InputError("no joints", code="bad_config")
    return tuple(tuple(j for j, d in enumerate(depth) if d == level) for level in range(max(depth) + 1))


def _softplus(values: Tensor) -> Tensor:
    return functional.softplus(values, beta=SHARPNESS)
