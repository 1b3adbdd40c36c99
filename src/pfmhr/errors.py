"""The one error type for everything that comes from outside: files, arguments, arrays."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from pfmhr.text import LONGEST, shown

LONGEST_PART = 4096
"""Characters of what, where, expected and fix: room for the longest path and for a list of names."""


class InputError(ValueError):
    """Something given to us cannot be used.

    The message answers, in this order: what is wrong, where, what was expected, what was found,
    and what to do about it. The command line prints it as it is and exits with 2. Every part is bounded and
    free of control characters, whatever was given.

    Attributes:
        code: short stable identifier of the fault, such as ``lfs_pointer``, for machine readers.
    """

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        expected: object = None,
        got: object = None,
        fix: str | None = None,
        code: str = "bad_input",
    ) -> None:
        self.code = code
        self.what = what
        self.where = where
        self.expected = expected
        self.got = got
        self.fix = fix
        super().__init__(self._message())

    @property
    def facts(self) -> dict[str, str]:
        """Where, expected, got and fix, as far as they are known, as text that can be printed."""
        parts = {"where": self.where, "expected": self.expected, "got": self.got, "fix": self.fix}
        longest = {"got": LONGEST}
        known = {name: value for name, value in parts.items() if value is not None}
        return {name: shown(value, longest.get(name, LONGEST_PART)) for name, value in known.items()}

    def _message(self) -> str:
        facts = self.facts
        what = shown(" ".join(str(self.what).split()), LONGEST_PART)  # what libraries say has lines
        head = f"{facts['where']}: {what}" if "where" in facts else what
        found = ", ".join(f"{name} {facts[name]}" for name in ("expected", "got") if name in facts)
        sentence = f"{head} ({found})" if found else head
        return f"{sentence}. {facts['fix']}" if "fix" in facts else sentence

    def at(self, where: object, code: str | None = None) -> InputError:
        """The same error with a place attached, unless it already has one; with ``code``, under that one."""
        place = where if self.where is None else self.where
        known = self.code if code is None else code
        return InputError(self.what, where=place, expected=self.expected, got=self.got, fix=self.fix, code=known)


def unknown_name(kind: str, name: str, known: Iterable[object]) -> InputError:
    """An error for a name we do not have, listing the ones we do, the nearest first."""
    names = [str(each) for each in known]
    near = get_close_matches(name, names, n=1, cutoff=0.7)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    return InputError(f"unknown {kind} '{name}'", fix=f"{guess}Available: {', '.join(names)}.", code="unknown_name")
