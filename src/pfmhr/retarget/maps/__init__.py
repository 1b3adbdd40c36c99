"""Which joint is which: the built-in maps, and maps from files."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import as_dataclass, read_toml
from pfmhr.retarget.maps.guessing import as_toml, guess, plain
from pfmhr.retarget.parts import JOINTS, REQUIRED_JOINTS, SEGMENTS

BUILT_IN = ("cmu", "lafan1", "bandai_namco", "mixamo", "mimickit", "smpl")
"""Names of the maps that come with the package, in the order in which they are tried."""


@dataclass(frozen=True)
class SkeletonMap:
    """How to read one kind of human skeleton."""

    joints: dict[str, str]
    """The name of each of :data:`JOINTS` in the file."""
    rest: str | int = "auto"
    """Where a T-pose is: "auto" (nowhere: the motion shows how joints are turned), "first-frame" (frame 0, which is no
    part of the motion), "zero" (all joints at 0), or the number of a frame."""
    up: Literal["x", "y", "z"] = "y"
    """Which axis of a BVH file points up."""
    metres: float = 0.01
    """The unit of length in m. Only physical time depends on it."""
    hands: bool = True
    """Whether wrists hold data."""
    turns: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Turns of segments since that T-pose which the motion does not share: rotation vectors in degrees."""

    def __post_init__(self) -> None:
        for known, given, what in ((JOINTS, self.joints, "joint"), (SEGMENTS, self.turns, "segment")):
            for name in given:
                if name not in known:
                    raise unknown_name(what, name, known)
        missing = [name for name in REQUIRED_JOINTS if name not in self.joints]
        if missing:
            raise InputError("the map lacks joints", expected=", ".join(missing), code="bad_map")
        require_rest(self.rest)

    def columns(self, names: tuple[str, ...]) -> dict[str, int] | None:
        """Where each joint stands among ``names``; None unless all that are required are there."""
        place: dict[str, int] = {}
        for index, name in enumerate(names):
            place.setdefault(plain(name), index)
        found = {role: place[plain(name)] for role, name in self.joints.items() if plain(name) in place}
        return found if all(role in found for role in REQUIRED_JOINTS) else None


def require_rest(rest: str | int) -> None:
    """Refuse what says of no pose that it is the T-pose."""
    named = rest in ("auto", "first-frame", "zero")
    numbered = isinstance(rest, int) and not isinstance(rest, bool) and rest >= 0
    if not named and not numbered:
        expected = "auto, first-frame, zero or the number of a frame"
        raise InputError("unknown rest pose", expected=expected, got=rest, code="bad_config")


def load_map(name_or_path: str | Path) -> SkeletonMap:
    """A built-in map by its name, or one from a toml file."""
    text = str(name_or_path)
    if text in BUILT_IN:
        path = Path(str(files("pfmhr.retarget.maps") / f"{text}.toml"))
    else:
        path = Path(name_or_path)
        if not path.exists() and path.suffix != ".toml":
            raise unknown_name("map", text, [*BUILT_IN, "or a toml file"])
    try:
        return as_dataclass(SkeletonMap, read_toml(path, "bad_map"), "the map", "bad_map")
    except FileNotFoundError:
        raise InputError("no such map", where=path, code="not_found") from None
    except InputError as error:
        raise error.at(path) from error


def find_map(names: tuple[str, ...]) -> SkeletonMap:
    """The built-in map that fits these joints.

    Raises:
        InputError: none fits; it lists the joints and says, as the text of a map, which might be which.
    """
    fitting = [(len(columns), each) for each in map(load_map, BUILT_IN) if (columns := each.columns(names)) is not None]
    if fitting:
        return max(fitting, key=lambda pair: pair[0])[1]  # of equals the first: toes tell some apart
    guessed = guess(names)
    missing = [role for role in REQUIRED_JOINTS if role not in guessed]
    lacking = f" It does not know: {', '.join(missing)}." if missing else ""
    raise InputError(
        "unknown skeleton",
        expected=f"joints of one of the maps {', '.join(BUILT_IN)}",
        got=", ".join(names),
        fix=f"Name the joints in a toml file and pass it with --map. A guess:{lacking} {as_toml(guessed)}",
        code="unknown_skeleton",
    )


def require_columns(skeleton: SkeletonMap, names: tuple[str, ...]) -> dict[str, int]:
    """Where each joint of a map stands among ``names``."""
    columns = skeleton.columns(names)
    if columns is None:
        known = {plain(name) for name in names}
        missing = [
            f"{role} = {skeleton.joints[role]}" for role in REQUIRED_JOINTS if plain(skeleton.joints[role]) not in known
        ]
        what = "the map names joints that the file lacks"
        raise InputError(what, expected=", ".join(missing), got=", ".join(names), code="unknown_skeleton")
    return columns
