"""Where the robot's links should be: the human's turns on the robot's own bones.

Because bones keep the robot's lengths, places and turns agree with each other. What is left between them and the robot
comes from its joints alone: their limits, and those it does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pfmhr.retarget.body import Body
from pfmhr.retarget.calibration import Calibrated
from pfmhr.retarget.parts import SEGMENTS, SIDES
from pfmhr.retarget.rotations import Array, turned

_STANDING = 0.1
"""Share of the frames in which the lower ankle is taken to be at its lowest."""


@dataclass(frozen=True, eq=False)
class Targets:
    """T frames of what the segments of a robot should do."""

    places: dict[str, Array]
    """Where each segment begins, ``(3, T)`` in m."""
    turns: dict[str, Array]
    """How the link of each is turned, ``(3, 3, T)``."""
    fps: float
    scale: float
    """The robot's leg as a share of the human's, in m per unit of the human's lengths."""

    @property
    def num_frames(self) -> int:
        """T."""
        return self.places["pelvis"].shape[1]

    def raised(self, height: Array) -> Targets:
        """All places higher by ``height`` ``(T,)`` in m."""
        places = {name: np.stack([place[0], place[1], place[2] + height]) for name, place in self.places.items()}
        return replace(self, places=places)

    def window(self, start: int, stop: int) -> Targets:
        """Frames ``start`` to ``stop``, exclusive."""
        places = {name: place[..., start:stop] for name, place in self.places.items()}
        return replace(self, places=places, turns={name: turn[..., start:stop] for name, turn in self.turns.items()})


def make_targets(human: Calibrated, body: Body) -> Targets:
    """Targets of a robot for a human's motion."""
    scale = body.leg / human.leg
    hips = human.hips * scale
    low = float(np.quantile(human.ankles[:, 2].min(axis=0), _STANDING)) * scale
    hips[2] += body.ankle_height - low

    def bone(segment: str, start: str, end: str) -> Array:
        return turned(human.turns[segment], body.place[end] - body.place[start])

    pelvis = hips - turned(human.turns["pelvis"], body.hips - body.place["pelvis"])
    places = {"pelvis": pelvis, "torso": pelvis + bone("pelvis", "pelvis", "torso")}
    for side in SIDES:
        hip, thigh, shin, foot = (f"{side}_{part}" for part in ("hip", "thigh", "shin", "foot"))
        begin = pelvis + bone("pelvis", "pelvis", hip)
        places[thigh] = begin + bone(thigh, hip, thigh)
        places[shin] = begin + bone(thigh, hip, shin)
        places[foot] = places[shin] + bone(shin, shin, foot)
        shoulder, upper, lower, hand = (f"{side}_{part}" for part in ("shoulder", "upper_arm", "lower_arm", "hand"))
        begin = places["torso"] + bone("torso", "torso", shoulder)
        places[upper] = begin + bone(upper, shoulder, upper)
        places[lower] = begin + bone(upper, shoulder, lower)
        places[hand] = places[lower] + bone(lower, lower, hand)
    turns = {segment: np.einsum("ijt,jk->ikt", human.turns[segment], body.turn[segment]) for segment in SEGMENTS}
    return Targets(places, turns, human.fps, scale)
