"""What the names of joints tell people."""

from __future__ import annotations

from pfmhr.text import printable


def words(joint_name: str) -> str:
    """A joint's name for reading: ``left_hip_pitch_joint`` → left hip pitch."""
    return printable(joint_name.removesuffix("_joint").replace("_", " "))


def limbs(joint_names: tuple[str, ...]) -> dict[str, list[int]]:
    """Joints by the part of the body their names tell, in order; nameless parts are "body"."""
    leg, arm = ("hip", "knee", "ankle", "leg", "foot"), ("shoulder", "elbow", "wrist", "arm", "hand")
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(joint_names):
        side = next((side for side in ("left", "right") if side in name.lower()), "")
        part = next((part for part, keys in (("leg", leg), ("arm", arm)) if any(key in name for key in keys)), "body")
        groups.setdefault(f"{side} {part}".strip(), []).append(index)
    return groups
