"""Ways to break a clip: some make poses that never occur, some only changes that never occur.

Each takes poses ``(T, J)`` and gives the poses before and after every step of the broken clip.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from pfmhr.robots import Robot
from pfmhr.studies.perturbations import flip, permute

Broken = Callable[[Tensor, Robot, torch.Generator], tuple[Tensor, Tensor]]


def offset(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Every joint off by a constant, 0.3 rad on average: wrong poses, right changes."""
    return _steps(_within(poses + 0.3 * torch.randn(poses.shape[1], generator=generator), robot))


def shuffled_joints(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Joints exchanged, the same way in every frame."""
    return _steps(_within(poses[:, torch.randperm(poses.shape[1], generator=generator)], robot))


def at_limits(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Three joints held at a limit."""
    broken = poses.clone()
    for joint in torch.randperm(poses.shape[1], generator=generator)[:3].tolist():
        broken[:, joint] = float(robot.upper[joint] if joint % 2 else robot.lower[joint])
    return _steps(broken)


def mirrored_upper_body(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The upper body's movement mirrored, the legs' not: arms and legs no longer belong together."""
    partner, sign = robot.mirror
    mirrored = poses[:, torch.from_numpy(partner)] * torch.from_numpy(sign)
    upper = torch.tensor([not any(part in name for part in ("hip", "knee", "ankle")) for name in robot.joint_names])
    return _steps(torch.where(upper, mirrored, poses))


def jitter(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A hundredth of a radian of noise on every frame: right poses, wrong changes."""
    return _steps(_within(poses + 0.01 * torch.randn(poses.shape, generator=generator), robot))


def frozen_joints(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Three joints that stop where they are while the rest of the step goes on."""
    before, after = _steps(poses)
    joints = torch.rand(before.shape, generator=generator).argsort(dim=1)[:, :3]
    return before, after.scatter(1, joints, before.gather(1, joints))


def shuffled_changes(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Each step's joint changes exchanged among the joints."""
    before, after = _steps(poses)
    return before, before + permute(after - before, 1.0, generator)


def flipped_changes(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Half of the joints step backwards."""
    before, after = _steps(poses)
    return before, before + flip(after - before, 0.5, generator)


def reversed_time(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The clip backwards: no score that ignores the sign of a change can see it."""
    return _steps(poses.flip(0))


def random_motion(poses: Tensor, robot: Robot, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Every joint a slow wave of its own through its whole range."""
    time = torch.arange(len(poses))[:, None] / 30.0
    speed = 0.2 + 0.8 * torch.rand(poses.shape[1], generator=generator)
    phase = 2 * math.pi * torch.rand(poses.shape[1], generator=generator)
    lower, upper = torch.from_numpy(robot.lower), torch.from_numpy(robot.upper)
    return _steps((lower + upper) / 2 + (upper - lower) / 2 * torch.sin(2 * math.pi * speed * time + phase))


BAD_POSES: dict[str, Broken] = {
    "offset": offset,
    "shuffled joints": shuffled_joints,
    "joints at limits": at_limits,
    "upper body mirrored": mirrored_upper_body,
    "random motion": random_motion,
}
BAD_CHANGES: dict[str, Broken] = {
    "jitter": jitter,
    "joints frozen": frozen_joints,
    "changes shuffled": shuffled_changes,
    "half of the changes flipped": flipped_changes,
    "time reversed": reversed_time,
}


def _steps(poses: Tensor) -> tuple[Tensor, Tensor]:
    return poses[:-1], poses[1:]


def _within(poses: Tensor, robot: Robot) -> Tensor:
    return poses.clamp(torch.from_numpy(robot.lower), torch.from_numpy(robot.upper))
