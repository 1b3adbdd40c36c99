"""What every score does to its inputs: check shapes and times, find broken rows, draw the corruption."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.prior import PosePrior

POSES_PER_CHUNK = 4096
"""Poses (times corruption samples) handled at once: what a call needs beyond its input and output does not
grow with the batch. A multiple of 16, so that noise drawn chunk by chunk is the noise drawn at once."""
BROKEN = 1e6
"""rad: no joint is here; squares of such numbers would overflow."""


def as_poses(prior: PosePrior, poses: Tensor | NDArray[Any]) -> Tensor:
    """Poses ``(N, J)`` as a floating-point tensor, or a clear refusal."""
    # A copy for arrays torch cannot look into, such as reversed ones.
    values = torch.as_tensor(poses if isinstance(poses, Tensor) else np.ascontiguousarray(poses))
    if values.ndim != 2 or values.shape[1] != len(prior.joint_names):
        raise InputError(
            "poses have the wrong shape",
            expected=f"(N, {len(prior.joint_names)}) joint angles in rad, in the order of prior.joint_names",
            got=tuple(values.shape),
            code="bad_shape",
        )
    return values if values.is_floating_point() else values.float()


def check_flow_time(flow_time: float, delta: float) -> None:
    """Refuse times where the denoiser is not defined: noise at 0, beyond 1 − δ."""
    if not 0.0 < flow_time <= 1.0 - delta:
        raise InputError(
            "no score at this flow time", expected=f"0 < t ≤ {1.0 - delta:g}", got=flow_time, code="bad_flow_time"
        )


def check_dt(dt: float) -> float:
    """A time step in seconds as a plain number, or a clear refusal."""
    if not (isinstance(dt, Real) and 0.0 < float(dt) < math.inf):
        raise InputError("the time step must be positive", expected="seconds", got=dt, code="bad_dt")
    return float(dt)


def finite_rows(values: Tensor) -> Tensor:
    """Which rows ``(N,)`` of ``(N, J)`` are poses: no NaN, no infinity, nothing of a simulator that exploded."""
    return (values.abs() < BROKEN).all(dim=1)


def as_noise(noise: Tensor | NDArray[Any] | None, samples: int, poses: Tensor) -> Tensor | None:
    """Given noise as ``(samples, N, J)`` on the poses' device, or a clear refusal."""
    if noise is None:
        return None
    given = torch.as_tensor(noise if isinstance(noise, Tensor) else np.ascontiguousarray(noise), device=poses.device)
    given = given[None] if given.ndim == 2 else given
    if given.shape != (samples, *poses.shape):
        raise InputError(
            "noise has the wrong shape", expected=(samples, *poses.shape), got=tuple(given.shape), code="bad_shape"
        )
    return given


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` rows; one empty slice for no rows, so that results keep their shape."""
    for start in range(0, max(1, count), size):
        yield slice(start, min(start + size, count))


def corruption(
    clean: Tensor, samples: int, noise: Tensor | None, generator: torch.Generator | None
) -> Iterable[Tensor]:
    """Noise ``(n, J)`` of each corruption sample: that of ``(samples, n, J)`` if given, else drawn.

    Drawn row by row, all samples of a row together, so that the chunking of a batch does not show.
    """
    if noise is not None:
        return noise.to(clean.dtype).unbind(0)
    where = clean.device if generator is None else generator.device
    shape = (len(clean), samples, clean.shape[1])
    return torch.randn(shape, generator=generator, device=where, dtype=clean.dtype).to(clean.device).unbind(1)
