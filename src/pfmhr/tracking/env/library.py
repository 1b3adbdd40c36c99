"""The reference motions, looked up by clip and time for many environments at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import mujoco
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import Severity
from pfmhr.motion.checks.root import check_place
from pfmhr.motion.cycle import closed, repeats
from pfmhr.motion.resampling import sample
from pfmhr.robots import Robot
from pfmhr.robots.kinematics import body_poses
from pfmhr.tracking.env.rotations import compose, inverse, turn_vector


@dataclass(frozen=True)
class Frames:
    """N moments of reference motion; B bodies, J joints. World frame unless said."""

    root_pos: Tensor
    """(N, 3) m."""
    root_quat: Tensor
    """(N, 4) wxyz."""
    joint_pos: Tensor
    """(N, J) rad."""
    root_velocity: Tensor
    """(N, 3) m/s."""
    root_spin: Tensor
    """(N, 3) rad/s, in the root's own frame as MuJoCo has it."""
    joint_vel: Tensor
    """(N, J) rad/s."""
    body_pos: Tensor
    """(N, B, 3) m, relative to the root's position."""
    body_quat: Tensor
    """(N, B, 4) wxyz."""

    def states(self) -> tuple[Tensor, Tensor]:
        """MuJoCo's positions ``(N, 7 + J)`` and velocities ``(N, 6 + J)``."""
        positions = torch.cat([self.root_pos, self.root_quat, self.joint_pos], dim=1)
        return positions, torch.cat([self.root_velocity, self.root_spin, self.joint_vel], dim=1)


@dataclass(frozen=True)
class BodyMotion:
    """How all bodies are turned and move; world frame, at the moment ``body_pos`` is of."""

    quat: Tensor
    """(N, B, 4) wxyz."""
    velocity: Tensor
    """(N, B, 3) m/s."""
    spin: Tensor
    """(N, B, 3) rad/s."""


class MotionLibrary:
    """Clips in one table of frames at a fixed rate, bodies included.

    Looping clips go round for ever, carrying on across the floor; others hold their last frame.
    """

    def __init__(
        self,
        robot: Robot,
        motions: Sequence[Motion],
        rate: float = 120.0,
        weights: Sequence[float] | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """``rate``: frames per second of the table. ``weights``: how often each clip is drawn; equal unless given."""
        _check(robot, motions, weights)
        self.rate, self.names = rate, tuple(motion.name for motion in motions)
        ready = [closed(replace(motion, loop=repeats(motion))) for motion in motions]
        tables = [_tabulate(robot, motion, rate) for motion in ready]
        counts = [len(table["root_pos"]) for table in tables]
        self.loops = torch.tensor([motion.loop for motion in ready], device=device)
        self.length = torch.tensor([count - 1 for count in counts], device=device)
        """(M,) frames from the first to the last."""
        self._first = torch.tensor(np.cumsum([0, *counts[:-1]]), device=device)
        travelled = [np.r_[(table["root_pos"][-1] - table["root_pos"][0])[:2], 0.0] for table in tables]
        self._travelled = torch.tensor(np.array(travelled), dtype=torch.float32, device=device)
        self._weights = torch.tensor(list(weights or [1.0] * len(ready)), dtype=torch.float32)
        self._table = Frames(
            **{
                name: torch.from_numpy(np.concatenate([table[name] for table in tables])).to(device)
                for name in tables[0]
            }
        )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def megabytes(self) -> float:
        """What the table of frames takes."""
        return sum(getattr(self._table, field.name).nbytes for field in fields(Frames)) / 1e6

    def draw(self, count: int, generator: torch.Generator, tilt: Tensor | float = 1.0) -> tuple[Tensor, Tensor]:
        """Random clips ``(N,)`` and random frames ``(N,)`` of each, its end left out.

        Clips by their weights, times ``tilt`` ``(M,)``.
        """
        weights = self._weights * tilt
        clip = torch.multinomial(weights, count, replacement=True, generator=generator).to(self.length.device)
        share = torch.rand(count, generator=generator).to(self.length.device)
        return clip, (share * self.length[clip]).long()

    def at(self, clip: Tensor, frame: Tensor, bodies: bool = True) -> Frames:
        """The reference at whole frames ``(N,)`` since each clip's start; before it counts as the start.

        Without ``bodies`` there are none in it, B = 0: most of the numbers are theirs, and of the time.
        """
        row, cycles = self._locate(clip, frame.clamp(min=0))
        found: dict[str, Tensor] = {}
        for field in fields(Frames):
            table = getattr(self._table, field.name)
            if field.name.startswith("body") and not bodies:
                table = table[:, :0]
            found[field.name] = table[row]
        found["root_pos"] = found["root_pos"] + cycles[:, None] * self._travelled[clip]
        return Frames(**found)

    def poses(self, clip: Tensor, frame: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Only root position, root orientation and joint angles of :meth:`at`."""
        row, cycles = self._locate(clip, frame.clamp(min=0))
        root = self._table.root_pos[row] + cycles[:, None] * self._travelled[clip]
        return root, self._table.root_quat[row], self._table.joint_pos[row]

    def bodies(self, clip: Tensor, frame: Tensor) -> tuple[Tensor, Tensor]:
        """Only root position ``(N, 3)`` and body positions relative to it ``(N, B, 3)`` of :meth:`at`."""
        row, cycles = self._locate(clip, frame.clamp(min=0))
        return self._table.root_pos[row] + cycles[:, None] * self._travelled[clip], self._table.body_pos[row]

    def body_motion(self, clip: Tensor, frame: Tensor) -> BodyMotion:
        """How all bodies are turned, and move from this frame to the next."""
        now, then = self.at(clip, frame), self.at(clip, frame.clamp(min=0) + 1)
        moved = (then.root_pos - now.root_pos)[:, None] + then.body_pos - now.body_pos
        turned = turn_vector(compose(then.body_quat, inverse(now.body_quat)))
        return BodyMotion(now.body_quat, self.rate * moved, self.rate * turned)

    def ended(self, clip: Tensor, frame: Tensor) -> Tensor:
        """(N,) whether a clip that does not loop has come to its end."""
        return ~self.loops[clip] & (frame >= self.length[clip])

    def remaining(self, clip: Tensor, frame: Tensor) -> Tensor:
        """(N,) frames left until a clip's end; a very large number for looping clips."""
        return torch.where(self.loops[clip], torch.iinfo(torch.int64).max // 2, self.length[clip] - frame)

    def _locate(self, clip: Tensor, frame: Tensor) -> tuple[Tensor, Tensor]:
        length, loops = self.length[clip], self.loops[clip]
        cycles = torch.where(loops, frame // length, 0)
        within = torch.where(loops, frame - cycles * length, torch.minimum(frame, length))
        return self._first[clip] + within, cycles


def _check(robot: Robot, motions: Sequence[Motion], weights: Sequence[float] | None) -> None:
    if not motions:
        raise InputError("no motion to track", code="bad_input")
    if weights is not None and (
        len(weights) != len(motions) or not (min(weights) >= 0 and 0 < sum(weights) < math.inf)
    ):
        raise InputError("one weight per motion, none below zero, not all zero", got=weights, code="bad_config")
    for motion in motions:
        where = motion.source or motion.name
        robot.require_joints(motion.joint_names, "the motion", where)
        if motion.num_frames < 3:
            raise InputError(
                "too short to track", where=where, expected="3 frames", got=motion.num_frames, code="short"
            )
        for name in ("joint_pos", "root_pos", "root_quat"):
            if not np.isfinite(getattr(motion, name)).all():
                raise InputError(f"{name} holds NaN or infinity", where=where, code="not_finite")
        for fault in check_place(motion, robot):
            if fault.severity is Severity.ERROR:
                raise InputError(f"{fault.code}: {fault.message}", where=where, code="faulty_motion")


def _tabulate(robot: Robot, motion: Motion, rate: float) -> dict[str, NDArray[np.float32]]:
    """A clip at the table's rate; a loop keeps a whole number of steps, stretched by less than half a step.

    Everything is computed from the clip's start on, in double precision: far from the origin float32 is coarse.
    """
    start = motion.root_pos[0].astype(np.float64) * [1.0, 1.0, 0.0]
    motion = replace(motion, root_pos=motion.root_pos - start)
    steps = max(2, round(motion.duration * rate)) if motion.loop else max(2, int(motion.duration * rate + 1e-6))
    times = np.arange(steps + 1) * (motion.duration / steps if motion.loop else 1.0 / rate)
    clip = sample(motion, times, rate)
    body_pos, body_quat = body_poses(robot, clip.root_pos, clip.root_quat, clip.joint_pos)
    velocity = _velocities(robot, clip)
    table = {
        "root_pos": clip.root_pos + start,
        "root_quat": clip.root_quat,
        "joint_pos": clip.joint_pos,
        "root_velocity": velocity[:, :3],
        "root_spin": velocity[:, 3:6],
        "joint_vel": velocity[:, 6:],
        "body_pos": body_pos - clip.root_pos[:, None],
        "body_quat": body_quat,
    }
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in table.items()}


def _velocities(robot: Robot, clip: Motion) -> NDArray[np.float64]:
    """(T, 6 + J) forward differences as MuJoCo takes them; the last frame repeats the one before."""
    model = robot.compile()
    states = np.concatenate([clip.root_pos, clip.root_quat, clip.joint_pos], axis=1).astype(np.float64)
    velocity = np.zeros((len(states), model.nv))
    for frame in range(len(states) - 1):
        mujoco.mj_differentiatePos(model, velocity[frame], 1.0 / clip.fps, states[frame], states[frame + 1])
    velocity[-1] = velocity[0] if clip.loop else velocity[-2]
    return velocity
