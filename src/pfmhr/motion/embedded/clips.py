"""The clips by name, and the sketch of any variation of one."""

from __future__ import annotations

from collections.abc import Callable

from pfmhr.errors import InputError, unknown_name
from pfmhr.motion.embedded.dance import step_dance
from pfmhr.motion.embedded.fighting import front_kick, punch
from pfmhr.motion.embedded.gait import march, run, turn, walk
from pfmhr.motion.embedded.gestures import bow, squat, wave
from pfmhr.motion.embedded.jump import jump
from pfmhr.motion.embedded.sketch import Sketch, mirrored
from pfmhr.motion.embedded.variation import Variation
from pfmhr.motion.frame_rate import require_rate

MAKERS: dict[str, Callable[[Variation, float], Sketch]] = {
    "walk": walk,
    "run": run,
    "turn": turn,
    "march": march,
    "step_dance": step_dance,
    "squat": squat,
    "bow": bow,
    "wave": wave,
    "punch": punch,
    "front_kick": front_kick,
    "jump": jump,
}
"""Clip name → what draws it from a variation and a frame rate."""


def sketched(name: str, seed: int, fps: float) -> Sketch:
    """The sketch of one clip; every second variation or so is mirrored left to right."""
    if name not in MAKERS:
        raise unknown_name("embedded motion", name, MAKERS)
    require_rate(fps)
    if seed < 0:
        raise InputError("impossible seed", expected="a whole number from 0", got=seed, code="bad_seed")
    variation = Variation(name, seed)
    swapped = variation.chance()
    sketch = MAKERS[name](variation, fps)
    return mirrored(sketch) if swapped else sketch
