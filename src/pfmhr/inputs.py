"""The door for arrays: whatever enters a public call as a tensor or array is checked here, once.

Nothing is broadcast, cut or cast without a word: what has another shape, kind or range than stated is refused.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError

Array = Tensor | NDArray[Any]

BROKEN = 1e6
"""rad: no joint is here; squares of such numbers would overflow."""
SHORTEST_TURN = 1e-6
"""A quaternion shorter than this points nowhere."""
SHORTEST_STEP, LONGEST_STEP = 1e-6, 1e4
"""s: time steps of a controller lie far within."""


def as_floats(values: Any, what: str, device: torch.device | None = None) -> Tensor:
    """Real numbers as a floating-point tensor of any shape; whole numbers become float32, others keep their kind."""
    try:
        # A tensor stays where it is, whatever torch's default device.
        here = values.device if isinstance(values, Tensor) and device is None else device
        given = torch.as_tensor(_readable(values), device=here)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: not an array of numbers", got=type(values).__name__, code="bad_shape") from error
    if given.is_complex() or given.dtype == torch.bool:
        raise InputError(f"{what}: real numbers are needed", got=given.dtype, code="bad_shape")
    return given if given.is_floating_point() else given.float()


def _readable(values: Any) -> Array:
    """Something torch can look into: reversed arrays are copied. What it compiles has no arrays, only numbers."""
    if isinstance(values, Tensor):
        return values
    if isinstance(values, float):
        return torch.tensor(values, dtype=torch.float64, device="cpu")
    return np.asarray(values, order="C")


def as_poses(poses: Any, joints: int) -> Tensor:
    """Poses ``(N, J)`` in rad as a floating-point tensor."""
    values = as_floats(poses, "poses")
    if values.ndim != 2 or values.shape[1] != joints:
        raise InputError(
            "poses have the wrong shape",
            expected=f"(N, {joints}) joint angles in rad, in the order of joint_names",
            got=tuple(values.shape),
            code="bad_shape",
        )
    return values


def as_pose_pair(previous_pose: Any, pose: Any, joints: int) -> tuple[Tensor, Tensor]:
    """Poses before and after a step, each ``(N, J)`` rad, as many of the one as of the other."""
    before, after = as_poses(previous_pose, joints), as_poses(pose, joints)
    if before.shape != after.shape:
        got = tuple(after.shape)
        what = "poses before and after differ in shape"
        raise InputError(what, expected=tuple(before.shape), got=got, code="bad_shape")
    return before, after


def as_last_axis(values: Any, joints: int) -> Tensor:
    """Poses of any leading shape ``(…, J)`` as a floating-point tensor."""
    given = as_floats(values, "poses")
    if given.ndim < 1 or given.shape[-1] != joints:
        raise InputError(
            "poses have the wrong width", expected=f"(…, {joints})", got=tuple(given.shape), code="bad_shape"
        )
    return given


def as_noise(noise: Array | None, samples: int, poses: Tensor) -> Tensor | None:
    """Given noise as ``(samples, N, J)`` on the poses' device."""
    if noise is None:
        return None
    given = as_floats(noise, "noise", poses.device)
    given = given[None] if given.ndim == 2 else given
    if given.shape != (samples, *poses.shape):
        raise InputError(
            "noise has the wrong shape", expected=(samples, *poses.shape), got=tuple(given.shape), code="bad_shape"
        )
    return given


def as_flow_times(flow_time: Any, poses: Tensor) -> Tensor:
    """One flow time for all poses ``(…, J)``, or one for each; in [0, 1]."""
    time = as_floats(flow_time, "flow times", poses.device).to(poses.dtype)
    if time.ndim and time.shape != poses.shape[:-1]:
        raise InputError(
            "one flow time per pose, or one for all",
            expected=tuple(poses.shape[:-1]),
            got=tuple(time.shape),
            code="bad_shape",
        )
    if _can_look(time) and not bool(((time >= 0) & (time <= 1)).all()):
        raise InputError("flow times lie between noise and pose", expected="0 to 1", code="bad_flow_time")
    return time


def _can_look(values: Tensor) -> bool:
    """Whether values can be looked at here and now: not on an accelerator, nor while torch compiles a call."""
    return values.device.type == "cpu" and not torch.compiler.is_compiling()


def as_mask(valid: Any, like: Tensor) -> Tensor:
    """A truth value per transition, shaped as ``like``."""
    mask = torch.as_tensor(valid, device=like.device)
    if mask.shape != like.shape or mask.dtype != torch.bool:
        raise InputError(
            "valid must be one truth value per transition",
            expected=f"{tuple(like.shape)} bool",
            got=f"{tuple(mask.shape)} {mask.dtype}",
            code="bad_shape",
        )
    return mask


def as_motion_ids(motion_id: Any, like: Tensor, count: int) -> Tensor:
    """Motion numbers ``(N,)`` below ``count``, on the device of ``like`` ``(…, N)``; one number serves all rows."""
    ids = torch.as_tensor(motion_id, device=like.device)
    if ids.ndim == 0:
        ids = ids.expand(like.shape[-1])
    if ids.shape != like.shape[-1:] or ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise InputError(
            "one whole motion number per transition",
            expected=tuple(like.shape[-1:]),
            got=f"{tuple(ids.shape)} {ids.dtype}",
            code="bad_shape",
        )
    # On an accelerator looking at the values would stall it; there they are looked at on the way.
    if ids.device.type == "cuda" or torch.compiler.is_compiling():
        known = ((ids >= 0) & (ids < count)).all()
        torch._assert_async(known, f"a motion number is not below {count}")  # type: ignore[reportPrivateImportUsage]
    elif _can_look(ids) and len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < count:
        raise InputError(
            "unknown motion number",
            expected=f"0 to {count - 1}",
            got=f"{int(ids.min())} to {int(ids.max())}",
            code="unknown_name",
        )
    return ids.long()


def as_scores(scores: Any, what: str = "scores") -> Tensor:
    """Scores ``(N,)``, or those of several channels ``(channels, N)``."""
    values = as_floats(scores, what)
    if values.ndim not in (1, 2):
        raise InputError(f"{what} have the wrong shape", expected="(N,)", got=tuple(values.shape), code="bad_shape")
    return values


def as_reward_and_factor(reward: Any, factor: Any) -> tuple[Tensor, Tensor]:
    """A reward and a factor per transition ``(N,)``: as many of the one as of the other, nothing broadcast."""
    rewards, factors = as_floats(reward, "rewards"), as_floats(factor, "factors")
    if rewards.ndim != 1 or rewards.shape != factors.shape:
        raise InputError(
            "one reward and one factor per transition are needed",
            expected=f"rewards {tuple(factors.shape)}" if factors.ndim == 1 else "(N,) each",
            got=f"rewards {tuple(rewards.shape)}, factors {tuple(factors.shape)}",
            fix="Flatten the rewards first: reward.reshape(-1).",
            code="bad_shape",
        )
    if rewards.device != factors.device:
        got = f"rewards on {rewards.device}, factors on {factors.device}"
        raise InputError("rewards and factors lie on different devices", got=got, code="bad_shape")
    return rewards, factors


def as_positions(positions: Any, joints: int, what: str, floats: bool = True) -> NDArray[np.float64]:
    """MuJoCo positions ``(T, 7 + J)``, or ``(T, J)`` of a robot that does not float; the first bad frame is named."""
    given = as_floats(positions, what).detach().cpu().double().numpy()
    width = joints + (7 if floats else 0)
    if given.ndim != 2 or given.shape[1] != width or not len(given):
        expected = f"(T, {width}): " + ("root position, wxyz and joint angles" if floats else "joint angles")
        raise InputError(f"{what}: not one row per frame", expected=expected, got=given.shape, code="bad_shape")
    sound = np.abs(given) <= np.finfo(np.float32).max
    if not sound.all():
        frame = int(np.argmin(sound.all(axis=1)))
        got = f"{given[frame][~sound[frame]][0]:g} in column {int(np.argmin(sound[frame]))}"
        raise InputError(f"{what}: frame {frame} is not finite", got=got, code="not_finite")
    if floats:
        turned = np.linalg.norm(given[:, 3:7], axis=1) > SHORTEST_TURN
        if not turned.all():
            frame = int(np.argmin(turned))
            got = given[frame, 3:7].tolist()
            raise InputError(f"{what}: the root has no orientation in frame {frame}", got=got, code="quaternion_norm")
    return given


def finite_rows(values: Tensor) -> Tensor:
    """Which rows ``(N,)`` of ``(N, J)`` are poses: no NaN, no infinity, nothing of a simulator that exploded."""
    return (values.abs() < BROKEN).all(dim=1)


def check_flow_time(flow_time: Any, delta: float) -> float:
    """A flow time at which the denoiser is defined: not noise at 0, nor beyond 1 − δ."""
    if not (isinstance(flow_time, Real) and 0.0 < float(flow_time) <= 1.0 - delta):
        expected = f"0 < t ≤ {1.0 - delta:g}"
        raise InputError("no score at this flow time", expected=expected, got=flow_time, code="bad_flow_time")
    return float(flow_time)


def check_dt(dt: Any) -> float:
    """A time step in seconds as a plain number."""
    if not (isinstance(dt, Real) and SHORTEST_STEP <= float(dt) <= LONGEST_STEP):
        expected = f"{SHORTEST_STEP:g} to {LONGEST_STEP:g} seconds"
        raise InputError(
            "the time step must be positive, and of a controller", expected=expected, got=dt, code="bad_dt"
        )
    return float(dt)


def check_count(count: Any, name: str) -> int:
    """A whole number of things, at least one."""
    number = float(count) if isinstance(count, Real) and not isinstance(count, bool) else math.nan
    if not (1 <= number < math.inf and number.is_integer()):
        raise InputError(f"{name} must be a whole number from 1 on", got=count, code="bad_config")
    return int(number)
