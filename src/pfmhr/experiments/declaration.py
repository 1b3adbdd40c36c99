"""The tables of an experiment's toml file: their keys are those of a run, and a few of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import as_dataclass
from pfmhr.tracking.run_options import RunOptions

Table = TypeVar("Table")
Actions = Literal["residual", "absolute"]
RUN_KEYS = tuple(each.name for each in fields(RunOptions) if each.name not in ("seed", "actions"))
"""Choices of a run that every table may make; seeds and action spaces are for the matrix to declare."""


@dataclass(frozen=True)
class Experiment:
    """Keys at the top level, besides those of a run."""

    methods: dict[str, dict[str, Any]]
    skills: dict[str, dict[str, Any]]
    name: str | None = None
    data: str = ""
    actions: tuple[Actions, ...] | None = None
    plain: str | None = None
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        _require_some(self, "methods", "skills", "actions", "seeds")


@dataclass(frozen=True)
class Skill:
    """Keys of a skill's table, besides those of a run."""

    motion: str | tuple[str, ...]
    seeds: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _require_some(self, "motion", "seeds")

    @property
    def motions(self) -> tuple[str, ...]:
        """Its clips."""
        return (self.motion,) if isinstance(self.motion, str) else self.motion


@dataclass(frozen=True)
class Method:
    """Keys of a method's table, besides those of a run."""

    skills: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _require_some(self, "skills")


def _require_some(table: Any, *names: str) -> None:
    """Refuse empty lists and tables, and seeds below zero."""
    for name in names:
        value = getattr(table, name)
        if value is not None and not value:
            raise InputError(f"{name}: nothing in it", expected="at least one", code="bad_experiment")
        if name == "seeds" and any(seed < 0 for seed in value or ()):
            raise InputError("seeds must be 0 or more", got=value, code="bad_experiment")


def read_table(path: Path, what: str, content: Any, kind: type[Table]) -> tuple[Table, dict[str, Any]]:
    """A table's own keys, and its choices of a run as they were written; both checked.

    Args:
        path: the file. what: the table's name, for errors.
    """
    if not isinstance(content, dict):
        raise InputError(f"{what} is not a table", where=path, code="bad_experiment")
    own_keys = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    for key in content:
        if key not in own_keys and key not in RUN_KEYS:
            error = unknown_name(f"key of {what}:", key, [*own_keys, *RUN_KEYS])
            raise InputError(error.what, where=path, fix=error.fix, code="bad_experiment")
    own = {key: value for key, value in content.items() if key in own_keys}
    run = {key: value for key, value in content.items() if key not in own_keys}
    try:
        as_dataclass(RunOptions, run, what, "bad_experiment")
        return as_dataclass(kind, own, what, "bad_experiment"), run
    except InputError as error:
        raise error.at(path, code="bad_experiment") from error.__cause__


def refuse_unknown_skills(path: Path, what: str, named: tuple[str, ...] | None, skills: Mapping[str, Any]) -> None:
    """A method is run on skills of its own matrix."""
    if unknown := sorted(set(named or ()) - set(skills)):
        expected, got = ", ".join(skills), ", ".join(unknown)
        raise InputError(f"{what}: no such skills", where=path, expected=expected, got=got, code="bad_experiment")
