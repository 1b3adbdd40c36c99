"""The one error type for everything that comes from outside: files, arguments, arrays."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Something given to us cannot be used.

    The message answers, in this order: what is wrong, where, what was expected, what was found,
    and what to do about it. The command line prints it as it is and exits with 2.

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

    def _message(self) -> str:
        head = f"{self.where}: {self.what}" if self.where is not None else self.what
        facts = []
        if self.expected is not None:
            facts.append(f"expected {self.expected}")
        if self.got is not None:
            facts.append(f"got {self.got}")
        sentence = head if not facts else f"{head} ({', '.join(facts)})"
        return sentence if self.fix is None else f"{sentence}. {self.fix}"

    def at(self, where: object) -> InputError:
        """The same error with a place attached, unless it already has one."""
        if self.where is not None:
            return self
        return InputError(self.what, where=where, expected=self.expected, got=self.got, fix=self.fix, code=self.code)


def unknown_name(kind: str, name: str, known: Iterable[object]) -> InputError:
    """An error for a name we do not have, listing the ones we do, the nearest first."""
    names = [str(each) for each in known]
    near = get_close_matches(name, names, n=1, cutoff=0.7)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    return InputError(f"unknown {kind} '{name}'", fix=f"{guess}Available: {', '.join(names)}.", code="unknown_name")
