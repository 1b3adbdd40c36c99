"""Colours: the robot's own, a tint that tells two robots apart, and warmth where a joint contributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Bytes = NDArray[np.uint8]
Colour = tuple[float, float, float]

GREY: Colour = (0.82, 0.83, 0.85)
BLUE: Colour = (0.35, 0.56, 0.87)
TEAL: Colour = (0.45, 0.76, 0.72)
RED: Colour = (0.8, 0.36, 0.29)
WARM, HOT = np.array([1.0, 0.72, 0.15]), np.array([0.85, 0.08, 0.08])
LIGHT = 0.6
"""Parts brighter than this take the tint; motors, soles and the visor stay dark."""
BUSY = 95.0
"""Percentile of the frames' largest contribution that is drawn fully hot."""


def tinted(colour: Floats, tint: Colour | None) -> Floats:
    """The light ones of colours ``(n, 3)`` exchanged for a tint."""
    if tint is None:
        return colour
    return np.where(colour.mean(axis=1, keepdims=True) > LIGHT, np.array(tint), colour)


def heated(colour: Floats, heat: Floats) -> Bytes:
    """Colours ``(n, 3)`` in [0, 1] warmed by ``(n,)`` in [0, 1]: themselves at 0, amber at a half, red at 1."""
    share = np.clip(np.nan_to_num(heat), 0.0, 1.0)[:, None]
    below = colour + 2.0 * share * (WARM - colour)
    above = WARM + (2.0 * share - 1.0) * (HOT - WARM)
    return np.round(255.0 * np.clip(np.where(share < 0.5, below, above), 0.0, 1.0)).astype(np.uint8)


def heat_of_parts(parts: Floats) -> Floats:
    """Contributions ``(T, J)`` as heat in [0, 1], one scale for the whole clip: good steps glow more than bad ones."""
    largest = parts.max(axis=1, initial=0.0)
    moving = largest[largest > 0.0]
    return np.clip(parts / np.percentile(moving, BUSY), 0.0, 1.0) if len(moving) else np.zeros_like(parts)


def heat_of_shares(parts: Floats) -> Floats:
    """Contributions ``(T, J)`` as heat in [0, 1], relative to each frame's largest one."""
    largest = parts.max(axis=1, initial=0.0)[:, None]
    return np.divide(parts, largest, out=np.zeros_like(parts), where=largest > 0.0)


def linear(colour: Bytes) -> Bytes:
    """Colours of a screen (sRGB) as amounts of light, which is what a batch of shapes expects of its colours."""
    share = colour / 255.0
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)


def css(colour: Floats) -> str:
    """A colour ``(3,)`` in [0, 1] for a style sheet."""
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in np.clip(colour, 0.0, 1.0))
