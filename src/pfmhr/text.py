"""Text and values that come from outside, made safe to print: control characters escaped, length bounded."""

from __future__ import annotations

import json
import re
import reprlib
from typing import Any

LONGEST = 300
"""Characters of one foreign value that a message shows."""


def printable(text: str) -> str:
    """The text with everything a terminal could obey escaped as in a Python literal.

    Letters of any script stay as they are; control characters, escapes, line ends, marks that turn the direction of
    writing, and bytes that are no text become ``\\x1b``, ``\\n``, ``\\u202e`` and the like.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def shown(value: object, most: int = LONGEST) -> str:
    """A value from outside as at most ``most`` printable characters, whatever it is and however it nests."""
    text = printable(_brief(value))
    return text if len(text) <= most else f"{text[: most - 20].rstrip()}… ({len(text):,} characters)"


def json_text(content: Any) -> str:
    """Plain data as indented JSON in which nothing but line ends could move a cursor."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return re.sub(r"[^\x20-\x7e\n]", _escaped_in_json, text)


def _escaped_in_json(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


class _Brief(reprlib.Repr):
    """Containers by their first parts: one that holds itself, or shares its parts, may unfold without end."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxtuple, self.maxlist, self.maxdict, self.maxset = 4, 12, 12, 12, 12
        self.maxstring = self.maxother = 2 * LONGEST


_BRIEF = _Brief()
_CONTAINERS = (list, tuple, dict, set, frozenset)


def _brief(value: Any) -> str:
    try:
        return _BRIEF.repr(value) if isinstance(value, _CONTAINERS) else str(value)
    except (RecursionError, ValueError):  # nested too deep; a number of too many digits
        return f"a {type(value).__name__} too large to show"


def duration(seconds: float) -> str:
    """A time in seconds, minutes, or hours and minutes."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(0, round(seconds))} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"
