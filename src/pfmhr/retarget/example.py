"""A BVH file by formula: a skeleton with Mixamo's names walks. For trying things out, and for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pfmhr.files import write_atomically

BONES: tuple[tuple[str, str, tuple[float, float, float]], ...] = (
    ("Hips", "", (0.0, 95.0, 0.0)),
    ("Spine", "Hips", (0.0, 10.0, 0.0)),
    ("Spine1", "Spine", (0.0, 12.0, 0.0)),
    ("Spine2", "Spine1", (0.0, 12.0, 0.0)),
    ("Neck", "Spine2", (0.0, 20.0, 0.0)),
    ("LeftArm", "Spine2", (18.0, 15.0, 0.0)),
    ("LeftForeArm", "LeftArm", (28.0, 0.0, 0.0)),
    ("LeftHand", "LeftForeArm", (26.0, 0.0, 0.0)),
    ("RightArm", "Spine2", (-18.0, 15.0, 0.0)),
    ("RightForeArm", "RightArm", (-28.0, 0.0, 0.0)),
    ("RightHand", "RightForeArm", (-26.0, 0.0, 0.0)),
    ("LeftUpLeg", "Hips", (9.0, 0.0, 0.0)),
    ("LeftLeg", "LeftUpLeg", (0.0, -43.0, 0.0)),
    ("LeftFoot", "LeftLeg", (0.0, -43.0, 0.0)),
    ("LeftToeBase", "LeftFoot", (0.0, -8.0, 14.0)),
    ("RightUpLeg", "Hips", (-9.0, 0.0, 0.0)),
    ("RightLeg", "RightUpLeg", (0.0, -43.0, 0.0)),
    ("RightFoot", "RightLeg", (0.0, -43.0, 0.0)),
    ("RightToeBase", "RightFoot", (0.0, -8.0, 14.0)),
)
"""Name, parent, offset in cm; y up, looking along z, in a T-pose."""


def write_example(path: str | Path, seconds: float = 4.0) -> None:
    """Write a BVH file of somebody who marches on the spot, at 60 Hz."""
    text = bvh_of_a_walk(frames=round(60 * seconds) + 1, fps=60.0)
    write_atomically(Path(path), lambda handle: handle.write(text.encode()))


def bvh_of_a_walk(frames: int = 60, fps: float = 30.0, prefix: str = "") -> str:
    """The text of such a file; ``prefix`` stands before every joint's name."""
    lines = ["HIERARCHY", *_joint("", "", prefix), "MOTION", f"Frames: {frames}", f"Frame Time: {1 / fps:.6f}"]
    time = np.arange(frames) / fps
    order = _order("")
    for moment in time:
        phase = 2 * np.pi * moment
        angles = {name: np.zeros(3) for name in order}  # Z, X, Y as the file has them, in degrees
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            swing = sign * np.sin(phase)
            angles[f"{side}UpLeg"][1] = -20 * swing - 10
            angles[f"{side}Leg"][1] = 25 + 15 * np.cos(phase) * sign
            angles[f"{side}Foot"][1] = -15 + 5 * swing
            angles[f"{side}Arm"][0] = -70 * sign
            angles[f"{side}ForeArm"][2] = -sign * (30 + 10 * swing)
        numbers = [0.0, 93.0 + np.cos(2 * phase), 0.0]
        numbers += [value for name in order for value in angles[name]]
        lines.append(" ".join(f"{number:.5f}" for number in numbers))
    return "\n".join(lines) + "\n"


def _order(parent: str) -> list[str]:
    return [name for bone, above, _ in BONES if above == parent for name in (bone, *_order(bone))]


def _joint(parent: str, indent: str, prefix: str) -> list[str]:
    lines = []
    for name, above, offset in BONES:
        if above != parent:
            continue
        places = "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
        lines += [f"{indent}{'JOINT' if parent else 'ROOT'} {prefix}{name}", f"{indent}{{"]
        lines += [f"{indent}  OFFSET " + " ".join(map(str, offset))]
        lines += [f"{indent}  CHANNELS {'3 Zrotation Xrotation Yrotation' if parent else places}"]
        inside = _joint(name, indent + "  ", prefix)
        lines += inside or [f"{indent}  End Site", f"{indent}  {{", f"{indent}    OFFSET 0 0 5", f"{indent}  }}"]
        lines += [f"{indent}}}"]
    return lines
