"""A tracker's numbers from JSON, and any of them changed by its name: ``agent.discount=0.95``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pfmhr.errors import InputError, unknown_name
from pfmhr.foreign import as_dataclass
from pfmhr.reward.configuring import carried_over, with_changes
from pfmhr.tracking.config import ModulatorConfig, TrackerConfig
from pfmhr.tracking.older import modern_config


def with_settings(config: TrackerConfig, settings: Sequence[str]) -> TrackerConfig:
    """The same tracker with ``section.name=value`` changed, in order; values as in JSON, names without quotes."""
    of_modulator: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign:
            raise InputError("not a setting", expected="section.name=value", got=setting, code="bad_config")
        path = name.strip().split(".")
        if path[0] == "modulator" and len(path) > 1 and path[1] not in _OF_ANY_MODULATOR:
            of_modulator[path[-1]] = _read(text.strip())
        elif path == ["modulator", "kind"]:
            config = replace(config, modulator=_of_kind(config.modulator, str(_read(text.strip()))))
        else:
            config = _changed(config, path, text.strip(), setting)
    return replace(config, modulator=_with_single(config.modulator, of_modulator)) if of_modulator else config


_OF_ANY_MODULATOR = ("kind", "prior", "fade")


def _of_kind(config: ModulatorConfig, kind: str) -> ModulatorConfig:
    """The same config of another kind of modulator, with the settings that both have."""
    return replace(config, kind=kind, settings=carried_over(config.settings, kind))


def _with_single(config: ModulatorConfig, changes: Mapping[str, Any]) -> ModulatorConfig:
    """Settings of the kind itself, together: one may fit only with another."""
    if config.kind == "pdf":  # whose settings had longer names
        changes = {name.removeprefix("pdf_"): value for name, value in changes.items()}
    return replace(config, settings=with_changes(config.kind, config.settings, changes))


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
    try:
        return as_dataclass(type(config), {**asdict(config), path[0]: _read(text)}, "settings", "bad_config")
    except InputError as error:
        if error.what.startswith(("settings is", "unknown entry")):  # of another kind, not out of its range
            expected = _in_words(get_type_hints(type(config))[path[0]])
            raise InputError("a value of another kind", expected=expected, got=setting, code="bad_config") from None
        raise


def _read(text: str) -> Any:
    """A JSON value; anything that is none is a text, numbers that are not finite among it."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except ValueError:
        return text


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("not finite")
    return number


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
        return as_dataclass(TrackerConfig, modern_config(content), "the tracker's config", "bad_run")
    except InputError as error:
        raise error.at(where, code="bad_run") from None
