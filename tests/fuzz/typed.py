"""Is what was loaded what its types promise? Numbers finite, containers filled with what they say."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def ill_typed(value: Any, hint: Any, name: str = "") -> str | None:
    """What does not fit its type, with its name; None if all does."""
    origin, options = get_origin(hint), get_args(hint)
    if hint is Any:
        return None
    if is_dataclass(hint):
        return _of_fields(value, hint, name)
    if origin in (Union, UnionType):
        return None if any(ill_typed(value, each) is None for each in options) else f"{name}: {value!r:.80}"
    if origin is Literal:
        return None if value in options and not isinstance(value, bool) else f"{name}: {value!r:.80}"
    if origin is tuple:
        if not isinstance(value, tuple):
            return f"{name} is a {type(value).__name__}"
        kinds = options if options[-1] is not Ellipsis else (options[0],) * len(value)
        if len(kinds) != len(value):
            return f"{name}: {len(value)} parts of {len(kinds)}"
        return _first(
            ill_typed(part, each, f"{name}.{place}")
            for place, (part, each) in enumerate(zip(value, kinds, strict=True))
        )
    if origin is dict:
        parts = [(f"{name} key", each, options[0]) for each in value] + [
            (f"{name}.{k}", v, options[1]) for k, v in value.items()
        ]
        return _first(ill_typed(part, each, at) for at, part, each in parts)
    return _plain(value, hint, name)


def _plain(value: Any, hint: Any, name: str) -> str | None:
    if hint is float:
        fits = isinstance(value, (float, int)) and not isinstance(value, bool) and math.isfinite(value)
    elif hint is int:
        fits = isinstance(value, int) and not isinstance(value, bool)
    else:
        fits = isinstance(value, hint) if isinstance(hint, type) else True
    return None if fits else f"{name}: {value!r:.80}"


def _of_fields(value: Any, hint: Any, name: str) -> str | None:
    if not isinstance(value, hint):
        return f"{name} is a {type(value).__name__}"
    hints = get_type_hints(hint, localns={"Path": Path})
    return _first(
        ill_typed(getattr(value, field.name), hints[field.name], f"{name}.{field.name}") for field in fields(value)
    )


def _first(complaints: Any) -> str | None:
    return next((complaint for complaint in complaints if complaint is not None), None)
