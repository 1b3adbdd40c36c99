"""What the names of joints tell people."""

from __future__ import annotations

from collections.abc import Sequence

from pfmhr.errors import InputError
from pfmhr.text import printable


def words(joint_name: str) -> str:
    """A joint's name for reading: ``left_hip_pitch_joint`` → left hip pitch."""
    return printable(joint_name.removesuffix("_joint").replace("_", " "))


def require_same_joints(
    theirs: Sequence[str], ours: Sequence[str], what: str, owner: str, where: object = None, fix: str = ""
) -> None:
    """Refuse joints that are not exactly ours in this order; ``what`` has theirs and ``owner`` ours."""
    if tuple(theirs) == tuple(ours):
        return
    same = sorted(theirs) == sorted(ours)
    raise InputError(
        f"{what} is for {'the same joints in another order' if same else 'other joints'}",
        where=where,
        expected=f"{owner}: {_brief(ours)}",
        got=_brief(theirs),
        fix=fix or None,
        code="wrong_robot",
    )


def _brief(joint_names: Sequence[str]) -> str:
    """Joints for a message: the first three and how many there are."""
    more = ", …" if len(joint_names) > 3 else ""
    return f"{', '.join(joint_names[:3])}{more} ({len(joint_names)} joints)"


def limbs(joint_names: tuple[str, ...]) -> dict[str, list[int]]:
    """Joints by the part of the body their names tell, in order; nameless parts are "body"."""
    leg, arm = ("hip", "knee", "ankle", "leg", "foot"), ("shoulder", "elbow", "wrist", "arm", "hand")
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(joint_names):
        side = next((side for side in ("left", "right") if side in name.lower()), "")
        part = next((part for part, keys in (("leg", leg), ("arm", arm)) if any(key in name for key in keys)), "body")
        groups.setdefault(f"{side} {part}".strip(), []).append(index)
    return groups
