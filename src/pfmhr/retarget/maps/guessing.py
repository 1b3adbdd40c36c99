"""Guesses at which joint is which, from its name. They are shown, and not used unless a person agrees."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pfmhr.retarget.parts import SIDES

_WORDS = {
    "hip": ("upleg", "upperleg", "thigh", "hip", "femur"),
    "knee": ("lowleg", "lowerleg", "leg", "knee", "shin", "calf", "tibia"),
    "ankle": ("foot", "ankle"),
    "toe": ("toebase", "toe", "ball"),
    "shoulder": ("uparm", "upperarm", "arm", "humerus", "shoulder"),
    "elbow": ("forearm", "lowarm", "lowerarm", "elbow", "radius"),
    "hand": ("hand", "wrist"),
}
"""Words for a joint of a side, the surest first."""
_MIDDLE = {
    "hips": ("hips", "pelvis", "hip", "root"),
    "chest": ("spine2", "chest", "upperchest", "spine1", "torso", "thorax", "spine"),
    "neck": ("neck", "neck1", "head"),
}


def plain(name: str) -> str:
    """A joint's name without a prefix such as ``mixamorig:``."""
    return name.rsplit(":", 1)[-1]


def guess(names: Iterable[str]) -> dict[str, str]:
    """Roles and the names that could fill them; not all need be found."""
    left = {name: _bare(name) for name in names}
    found: dict[str, str] = {}
    for role, words in _MIDDLE.items():
        match = _first(words, list(left.items()))
        if match:
            found[role] = match
    for side in SIDES:
        ours = [(name, rest) for name in left if (rest := _without_side(name, side)) is not None]
        for role, words in _WORDS.items():
            match = _first(words, [pair for pair in ours if pair[0] not in found.values()])
            if match:
                found[f"{side}_{role}"] = match
    return found


def as_toml(joints: dict[str, str]) -> str:
    """Guesses as they stand in a map."""
    return "[joints] " + "; ".join(f'{role} = "{name}"' for role, name in joints.items())


def _first(words: Iterable[str], names: list[tuple[str, str]]) -> str | None:
    return next((name for word in words for name, bare in names if bare == word), None)


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", plain(name).lower()).removesuffix("joint")


def _without_side(name: str, side: str) -> str | None:
    """The name without its side, None if it is of another."""
    text = plain(name)
    letter = side[0]
    patterns = (
        rf"(?i){side}",
        rf"^(?i:{letter})(?=[_. ])|(?<=[_. ])(?i:{letter})$",
        rf"^{letter.upper()}(?=[A-Z])|^{letter}(?=[A-Z])",
    )
    for pattern in patterns:
        rest, count = re.subn(pattern, "", text, count=1)
        if count:
            return _bare(rest)
    return None
