"""How values are read and how defaults are shown: rules for tyro, through its registry of constructors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
    UnsupportedTypeAnnotationError,
)

from pfmhr.errors import InputError

Settings = TypeVar("Settings")
Flat = Annotated[Settings, tyro.conf.arg(name="")]
"""A dataclass whose settings are options of the command itself: ``--steps``, not ``--training.steps``."""
NO_HINT = tyro.conf.arg(help_behavior_hint="")
"""For options that are None by default: their help says in words what happens then."""


def value_rules(presets: Mapping[str, Any]) -> ConstructorRegistry:
    """The rules for one command; ``presets`` are the settings it may start from, by name."""
    registry = ConstructorRegistry()
    registry.primitive_rule(_number)
    registry.primitive_rule(_optional)
    asking = False

    def settings(info: StructTypeInfo) -> StructConstructorSpec | None:
        nonlocal asking
        if asking or not is_dataclass(info.type):
            return None
        asking = True  # what follows is tyro's own rule
        try:
            spec = ConstructorRegistry.get_struct_spec(info)
        finally:
            asking = False
        if not isinstance(spec, StructConstructorSpec):
            return None
        parts = {name: part for name, whole in presets.items() if (part := _part(whole, info.type)) is not None}
        return replace(spec, fields=tuple(_field(each, parts, info.markers) for each in spec.fields))

    registry.struct_rule(settings)
    return registry


def shown(value: object) -> str:
    """A default as people write it: 2,000,000, or 512 256."""
    if isinstance(value, tuple | list):
        return " ".join(map(shown, value)) or "none"
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _number(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """Whole numbers and others, with an error that says what was expected."""
    kind: Any = info.type
    if kind not in (int, float):
        return None
    metavar = kind.__name__.upper()

    def read(words: list[str]) -> Any:
        try:
            return kind(words[0])
        except ValueError:
            raise InputError("cannot read a value", expected=metavar, got=words[0], code="usage") from None

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=read,
        is_instance=lambda value: isinstance(value, kind) and not isinstance(value, bool),
        str_from_instance=lambda value: [shown(value)],
    )


def _optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """``X | None`` is read as X: None is what an option is that nobody gave, and no word means it."""
    kinds = get_args(info.type)
    if get_origin(info.type) not in (Union, UnionType) or NoneType not in kinds or len(kinds) != 2:
        return None
    (kind,) = (each for each in kinds if each is not NoneType)
    spec = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kind, info.markers))
    if isinstance(spec, UnsupportedTypeAnnotationError):
        return None
    return replace(
        spec,
        is_instance=lambda value: value is None or spec.is_instance(value),
        str_from_instance=lambda value: [] if value is None else spec.str_from_instance(value),
    )


def _field(field: StructFieldSpec, parts: Mapping[str, Any], markers: tuple[Any, ...]) -> StructFieldSpec:
    """A setting with its hint: nothing for None, one default per preset where presets differ."""
    if field.default in (tyro.MISSING, tyro.MISSING_NONPROP):
        return field
    kind, inner = field.type, next(filter(_is_settings, get_args(field.type)), None)
    if inner is not None and is_dataclass(field.default):
        return replace(field, type=inner)  # settings that may be absent, and are not
    if not is_dataclass(kind) and (inner is not None or not _readable(kind, markers)):
        return replace(field, type=Annotated[kind, tyro.conf.Suppress])  # no words make such a value
    values = {name: getattr(part, field.name) for name, part in parts.items()}
    if any(value is True for value in (field.default, *values.values())):
        kind = Annotated[kind, tyro.conf.FlagConversionOff]  # a flag would be called --no-… in one preset only
    if not is_dataclass(field.type) and len(set(map(repr, values.values()))) > 1:
        hint = ", ".join(f"{name} {shown(value)}" for name, value in values.items())
        return replace(field, type=Annotated[kind, tyro.conf.arg(help_behavior_hint=f"(default: {hint})")])
    return replace(field, type=Annotated[kind, NO_HINT] if field.default in (None, (), "") else kind)


def _is_settings(kind: object) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def _readable(kind: Any, markers: tuple[Any, ...]) -> bool:
    spec = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kind, set(markers)))
    return isinstance(spec, PrimitiveConstructorSpec)


def _part(whole: Any, kind: type) -> Any:
    """The settings of this kind within others; None where there are none."""
    if type(whole) is kind:
        return whole
    inside = (getattr(whole, field.name) for field in fields(whole)) if is_dataclass(whole) else ()
    found = (_part(part, kind) for part in inside)
    return next((part for part in found if part is not None), None)


def with_presets(**presets: Mapping[str, Any]) -> Callable[[Settings], Settings]:
    """Mark a command whose option ``--preset`` decides the defaults of a settings parameter.

    ``with_presets(config={"cpu": DistanceConfig(), "paper": PAPER})`` stands above the command's function.
    """

    def mark(function: Settings) -> Settings:
        function.presets = presets  # type: ignore[attr-defined]
        return function

    return mark
