"""Results as plain data and back. Entries that a dataclass does not have are ignored; missing ones are told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from pfmhr.errors import InputError
from pfmhr.foreign import read_json

Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The command that wrote a result, the versions it used and the machine it ran on, as far as the file says."""

    command: str = ""
    pfmhr: str | None = None
    commit: str | None = None
    python: str | None = None
    numpy: str | None = None
    mujoco: str | None = None
    torch: str | None = None
    rsl_rl_lib: str | None = None
    cores: int | None = None
    processor: str | None = None

    @property
    def machine(self) -> str:
        """Revision, cores and processor, as far as they are known."""
        known = [f"revision {self.commit or self.pfmhr}"] if self.commit or self.pfmhr else []
        known += [f"{self.cores} cores"] if self.cores else []
        return ", ".join([*known, *([self.processor] if self.processor else [])])


def from_json(kind: type[Kind], content: object, where: Path, code: str = "bad_result") -> Kind:
    """Plain data from a file at ``where`` as a dataclass; its types are checked all the way down."""
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"incomplete result: {error}", where=where, code=code) from None
    except RecursionError:
        raise InputError("result nested too deep", where=where, code=code) from None


def read_record(kind: type[Kind], path: Path, code: str = "bad_result") -> Kind:
    """What a JSON file holds, as a dataclass."""
    return from_json(kind, read_json(path, code), path, code)


def to_json(record: object) -> dict[str, object]:
    """A dataclass as plain data for JSON."""
    return msgspec.to_builtins(record)
