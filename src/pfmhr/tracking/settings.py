"""A tracker's numbers from JSON, and any of them changed by its name: ``agent.discount=0.95``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import as_dataclass
from pfmhr.tracking.config import TrackerConfig


def with_settings(config: TrackerConfig, settings: Sequence[str]) -> TrackerConfig:
    """The same tracker with ``section.name=value`` changed, in order; values as in JSON, names without quotes."""
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign:
            raise InputError("not a setting", expected="section.name=value", got=setting, code="bad_config")
        config = _changed(config, name.strip().split("."), text.strip(), setting)
    return config


def _changed(config: Any, path: Sequence[str], text: str, setting: str) -> Any:
    known = [field.name for field in fields(config)]
    if path[0] not in known:
        raise unknown_name(f"setting of {type(config).__name__}", path[0], known)
    inside = getattr(config, path[0])
    if len(path) == 2 and isinstance(inside, dict):
        return replace(config, **{path[0]: inside | {path[1]: _read(text)}})
    if len(path) > 1 and not is_dataclass(inside):
        raise InputError(f"'{path[0]}' has no settings inside", got=setting, code="bad_config")
    if len(path) > 1:
        return replace(config, **{path[0]: _changed(inside, path[1:], text, setting)})
    if is_dataclass(inside):
        names = ", ".join(f"{path[0]}.{field.name}" for field in fields(inside))
        raise InputError(
            f"'{path[0]}' is a group of settings", got=setting, fix=f"Available: {names}.", code="bad_config"
        )
    kind = get_type_hints(type(config))[path[0]]
    value = _read(text)
    if not _fits(kind, value):
        raise InputError("a value of another kind", expected=_in_words(kind), got=setting, code="bad_config")
    return replace(config, **{path[0]: built(kind, value)})


def _read(text: str) -> Any:
    """A JSON value; anything that is none is a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _fits(kind: Any, value: Any) -> bool:
    origin, options = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in options
    if origin in (Union, UnionType):
        return any(_fits(option, value) for option in options)
    if origin is dict:
        return isinstance(value, dict)
    if origin is tuple:
        counted = options[-1] is not Ellipsis
        return (
            isinstance(value, list)
            and (not counted or len(value) == len(options))
            and all(_fits(options[0], part) for part in value)
        )
    if is_dataclass(kind):
        return isinstance(value, dict) and _fits_inside(kind, value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _fits_inside(kind: Any, values: dict[str, Any]) -> bool:
    kinds = get_type_hints(kind)
    missing = {field.name for field in fields(kind) if field.default is MISSING} - set(values)
    return not missing and all(name in kinds and _fits(kinds[name], value) for name, value in values.items())


def _in_words(kind: Any) -> str:
    origin, options = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(map(str, options))
    if origin in (Union, UnionType):
        return " or ".join(_in_words(option) for option in options)
    if origin is tuple:
        return f"a list such as [1, 2] of {_in_words(options[0])}"
    if is_dataclass(kind):
        names = ", ".join(f'"{field.name}": {_in_words(get_type_hints(kind)[field.name])}' for field in fields(kind))
        return f"{{{names}}}"
    words: dict[Any, str] = {
        float: "a number",
        int: "a whole number",
        bool: "true or false",
        str: "a text",
        type(None): "null",
    }
    return words.get(kind) or kind.__name__


def plain_config(config: TrackerConfig) -> dict[str, Any]:
    """A config as it is stored; settings of a reward of one's own are there if it has any."""
    plain = json.loads(json.dumps(asdict(config)))
    if not plain["reward_settings"]:
        del plain["reward_settings"]
    return plain


def tracker_config_from_json(content: Any, where: Path | None = None) -> TrackerConfig:
    """A config as :func:`dataclasses.asdict` and JSON left it, in the file ``where``."""
    try:
        return as_dataclass(TrackerConfig, content, "the tracker's config", "bad_run")
    except InputError as error:
        raise error.at(where, code="bad_run") from None


def built(kind: Any, content: Any) -> Any:
    """Dataclasses from dictionaries, tuples from lists, all the way down."""
    if content is None:
        return None
    options = [option for option in get_args(kind) if option is not type(None)]
    if get_origin(kind) in (Union, UnionType):
        return built(options[0], content)
    if get_origin(kind) is tuple:
        return tuple(built(options[0], part) for part in content)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        unknown = set(content) - set(hints)
        if unknown:
            raise InputError("unknown settings of a tracker", got=", ".join(sorted(unknown)), code="bad_run")
        return kind(**{name: built(hints[name], value) for name, value in content.items()})  # type: ignore[operator]
    return float(content) if kind is float else content  # 1 and 1.0 are the same setting
