"""JSON and TOML: bounded, never too deep, and turned into dataclasses whose types are checked."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign.opening import read_file, read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

Kind = TypeVar("Kind")

MAX_DOCUMENT_BYTES = 64 * 2**20
"""Default limit of a JSON file: in memory it may take twenty times its size."""
MAX_TOML_BYTES, MAX_DOTS = 2**20, 256
"""Limits of a TOML file and of one line of it: the time its parser takes grows with the square of a dotted key."""


def read_json(path: Path, code: str, max_bytes: int = MAX_DOCUMENT_BYTES) -> Any:
    """What a JSON file holds.

    Raises:
        FileNotFoundError: it is not there; the caller knows what was expected.
        InputError: of this ``code``, for anything that is no JSON.
    """
    try:
        return parse_json(read_file(path, max_bytes), code)
    except InputError as error:
        raise error.at(path) from error.__cause__


def parse_json(text: bytes | str, code: str) -> Any:
    """A JSON document, or an error of this ``code`` without a place."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"unreadable JSON: {error}", code=code) from error
    except RecursionError:
        raise InputError("unreadable JSON: nested too deep", code=code) from None


def read_toml(path: Path, code: str) -> dict[str, Any]:
    """What a TOML file holds; raises as :func:`read_json` does."""
    text = read_text(path, MAX_TOML_BYTES)
    if any(line.count(".") > MAX_DOTS for line in text.splitlines()):
        what = "not a settings file: a key of too many parts"
        raise InputError(what, where=path, expected=f"at most {MAX_DOTS} dots in a line", code=code)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # no TOML, or a number of thousands of digits
        raise InputError(f"not valid TOML: {error}", where=path, code=code) from error
    except RecursionError:
        raise InputError("not valid TOML: nested too deep", where=path, code=code) from None


def as_dataclass(kind: type[Kind], content: Any, what: str, code: str) -> Kind:
    """Plain data as a dataclass, checked all the way down; entries it does not know are refused.

    Numbers are never made of texts or truth values, nor whole numbers of others. ``what`` names the content in errors.
    """
    _refuse_unknown(kind, content, what, code)
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, InputError):  # a value that the dataclass itself refuses
            raise error.__cause__ from None
        raise InputError(f"{what} is incomplete or wrong: {error}", code=code) from None
    except RecursionError:
        raise InputError(f"{what} is nested too deep", code=code) from None
    except UnicodeError:
        raise InputError(f"{what} holds text that is no Unicode", code=code) from None


def _refuse_unknown(kind: Any, content: Any, what: str, code: str) -> None:
    if not isinstance(content, dict):
        return  # its kind is told with the others
    known, hints = [field.name for field in fields(kind)], get_type_hints(kind)
    for name, value in content.items():
        if name not in known:
            error = unknown_name(f"entry of {what}:", str(name), known)
            raise InputError(error.what, fix=error.fix, code=code)
        for inner in _dataclasses_in(hints[name]):
            for part in value if isinstance(value, list) else (value,):
                _refuse_unknown(inner, part, f"{what}, {name}", code)


def _dataclasses_in(hint: Any) -> list[Any]:
    """Those that a type is made of, as ``tuple[Box, ...] | None`` is of ``Box``."""
    return [hint] if is_dataclass(hint) else [found for part in get_args(hint) for found in _dataclasses_in(part)]
