"""Names of the parts of a body: joints of a human, and the segments that a robot shares with it."""

from __future__ import annotations

SIDES = ("left", "right")
REQUIRED_JOINTS = (
    *("hips", "chest", "neck"),
    *(f"{side}_{joint}" for side in SIDES for joint in ("hip", "knee", "ankle", "shoulder", "elbow", "hand")),
)
"""Joints of a human that every map names."""
OPTIONAL_JOINTS = tuple(f"{side}_toe" for side in SIDES)
JOINTS = REQUIRED_JOINTS + OPTIONAL_JOINTS

SEGMENTS = (
    *("pelvis", "torso"),
    *(f"{side}_{part}" for side in SIDES for part in ("thigh", "shin", "foot", "upper_arm", "lower_arm", "hand")),
)
"""What is turned as in the human."""
BODIES = SEGMENTS + tuple(f"{side}_{part}" for side in SIDES for part in ("hip", "shoulder"))
"""What the file of a robot names: its segments, and where legs and arms begin."""

_CARRIERS = {
    **{"thigh": "hip", "shin": "knee", "foot": "ankle"},
    **{"upper_arm": "shoulder", "lower_arm": "elbow", "hand": "hand"},
}


def joint_of(segment: str) -> str:
    """The human joint that turns a segment."""
    if segment in ("pelvis", "torso"):
        return {"pelvis": "hips", "torso": "chest"}[segment]
    side, part = segment.split("_", 1)
    return f"{side}_{_CARRIERS[part]}"
