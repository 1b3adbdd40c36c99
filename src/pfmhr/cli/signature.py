"""The options of a command, read from its function's signature: for completion, and for guesses at misspelt names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

EVERYWHERE = ("--help", "--debug")
"""Options that every command has."""


@dataclass(frozen=True)
class Option:
    """An option or, without names, a positional argument."""

    names: tuple[str, ...]
    choices: tuple[str, ...]
    files: bool
    """Whether a file's name may stand here."""
    values: Literal["none", "one", "many"]


def options_of(function: Callable[..., Any]) -> list[Option]:
    """All options and positional arguments of a command."""
    hints = get_type_hints(function, include_extras=True)
    return [option for name in inspect.signature(function).parameters for option in _options(name, hints[name])]


def option_names(function: Callable[..., Any]) -> list[str]:
    """Every way to write an option of this command."""
    return [*(name for option in options_of(function) for name in option.names), *EVERYWHERE]


def _options(name: str, hint: Any) -> Iterator[Option]:
    kind, remarks = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
    if is_dataclass(kind):
        inner = get_type_hints(kind, include_extras=True)
        prefix = next((remark.name for remark in remarks if getattr(remark, "name", None) is not None), name)
        for field in fields(kind):
            yield from _options(f"{prefix}.{field.name}" if prefix else field.name, inner[field.name])
        return
    aliases = [alias for remark in remarks for alias in getattr(remark, "aliases", None) or ()]
    positional = any(remark is tyro.conf.Positional for remark in remarks)
    names = () if positional else (f"--{name.replace('_', '-')}", *aliases)
    parts = list(_parts(kind))
    words = tuple(str(word) for part in parts if get_origin(part) is Literal for word in get_args(part))
    if bool in parts and len(parts) > 1:  # left open unless said: takes a word, unlike a flag
        words += ("True", "False")
    many = any(get_origin(part) is tuple for part in _alternatives(kind))
    values = "none" if parts == [bool] else "many" if many else "one"
    yield Option(names, words, Path in parts or str in parts, values)


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _parts(kind: Any) -> Iterator[Any]:
    """The simple types a value may have, alone or in a tuple."""
    for each in _alternatives(kind):
        if get_origin(each) is tuple:
            for part in get_args(each):
                yield from _parts(part)
        elif each is not Ellipsis:
            yield each
