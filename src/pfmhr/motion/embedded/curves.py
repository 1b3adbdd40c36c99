"""Smooth functions of time: the vocabulary every clip is written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline

Array = NDArray[np.float64]

GRAVITY = 9.81
PENDULUM_RATE = 3.7
"""√(g / height of the centre of mass) of a standing G1, in 1/s."""
BALANCE_HORIZON = 1.5
"""How far ahead and back, in s, balance looks: e^(−rate · horizon) is below half a percent."""


def smooth(progress: ArrayLike) -> Array:
    """Minimum-jerk rise from 0 to 1 while ``progress`` goes from 0 to 1, flat outside; any shape."""
    u = np.clip(progress, 0.0, 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


def bump(progress: ArrayLike) -> Array:
    """A single hill: 0 at 0, 1 at one half, 0 at 1, flat outside; any shape."""
    return np.square(np.sin(np.pi * np.clip(progress, 0.0, 1.0)))


def keyed(time: Array, times: Sequence[float], values: ArrayLike) -> Array:
    """Minimum-jerk moves from key to key, at rest at each; held before the first and after the last.

    Args:
        time: ``(T,)``. times: K increasing instants. values: ``(K,)`` or ``(K, C)``.

    Returns:
        ``(T,)`` or ``(T, C)``.
    """
    keys = np.asarray(times, dtype=np.float64)
    stops = np.asarray(values, dtype=np.float64)
    before = np.clip(np.searchsorted(keys, time, side="right") - 1, 0, len(keys) - 2)
    share = smooth((time - keys[before]) / (keys[before + 1] - keys[before]))
    share = share.reshape(share.shape + (1,) * (stops.ndim - 1))
    return stops[before] + share * (stops[before + 1] - stops[before])


def ballistic(time: Array, times: Sequence[float], heights: Sequence[float], speeds: Sequence[float]) -> Array:
    """Cubic curve through heights with given vertical speeds: ``(T,)``.

    Between two keys of equal height and opposite speed it is the exact parabola of a flight.
    """
    return CubicHermiteSpline(times, heights, speeds)(np.clip(time, times[0], times[-1]))


def balanced(time: Array, fps: float, support: Callable[[Array], Array]) -> Array:
    """Where the centre of mass must be so that a walker's weight rests on ``support`` at every instant.

    The bounded solution of the linear inverted pendulum: the support path blurred by ``e^(−rate·|t|)``.
    It leans towards the next foothold before the step, as people do.

    Args:
        time: ``(T,)`` evenly spaced by 1/fps. support: maps times ``(N,)`` to ``(N, C)``, also outside the clip.

    Returns:
        ``(T, C)``.
    """
    reach = int(np.ceil(BALANCE_HORIZON * fps))
    offsets = np.arange(-reach, reach + 1) / fps
    kernel = np.exp(-PENDULUM_RATE * np.abs(offsets))
    kernel /= kernel.sum()
    padded = np.concatenate([time[0] + offsets[:reach], time, time[-1] + offsets[-reach:]])
    path = support(padded)
    return np.stack([np.convolve(column, kernel, mode="valid") for column in path.T], axis=1)
