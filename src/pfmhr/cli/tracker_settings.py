"""Options of ``pfmhr track train``, made from the dataclasses of a run: names, types, words and defaults are theirs."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import tyro

from pfmhr.reward import available as modulators
from pfmhr.reward.available import MODULATORS
from pfmhr.reward.configuring import owners_of_settings, places_of
from pfmhr.tracking.config import AdversaryConfig, AgentConfig, EnvironmentConfig, ModulatorConfig
from pfmhr.tracking.rewards import available as rewards
from pfmhr.tracking.rewards.available import REWARDS
from pfmhr.tracking.run_options import RunOptions, default_of, default_of_setting, place_of, shown

NONE = "none"
"""What is written for a setting that is None."""
_WORDS = {int: "INT", float: "FLOAT", str: "STR", bool: "True|False"}
_NAMES = {
    "reward": (tuple(REWARDS), rewards.CHOICES, rewards.HELP),
    "modulator": (tuple(MODULATORS), modulators.CHOICES, modulators.HELP),
}
"""Choices that are names of a table: the names, how they are shown, and what each is."""


@dataclass(frozen=True)
class _Readable:
    """How words on a command line become a value."""

    kind: Any
    metavar: str


def _readable(hint: Any) -> _Readable:
    """For numbers, words and lists of them the type itself; for anything else a text in JSON."""
    inner = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) in (Union, UnionType) and len(inner) < len(get_args(hint)):
        found = _readable(inner[0])
        return _Readable(Literal[NONE] | found.kind, f"{found.metavar}|{NONE}")  # type: ignore[operator]
    if get_origin(hint) is Literal:
        return _Readable(hint, "|".join(map(str, inner)))
    if get_origin(hint) is tuple and all(each in (*_WORDS, Ellipsis) for each in inner):
        many = inner[-1] is Ellipsis
        return _Readable(hint, f"{_WORDS[inner[0]]}..." if many else " ".join(_WORDS[each] for each in inner))
    return _Readable(hint, _WORDS[hint]) if hint in _WORDS else _Readable(str, "JSON")


def _option(name: str, readable: _Readable, help: str, default: str) -> tuple[str, Any, Any]:
    """A field that is None unless it is given, with help that tells what happens then."""
    text = "; ".join([*filter(None, [help.rstrip(".")]), f"default: {default}"])
    about = tyro.conf.arg(help=text, metavar=readable.metavar, help_behavior_hint="")
    return name, Annotated[readable.kind | None, about], field(default=None)


def _section(kind: type, place: str, leave: Iterable[str] = ()) -> type:
    """The settings of a section of a tracker's config, without those to ``leave`` out."""
    hints, words = get_type_hints(kind), _words_below(kind)
    made: list[Any] = []
    for each in fields(kind):
        groups = [part for part in (hints[each.name], *get_args(hints[each.name])) if is_dataclass(part)]
        if groups:
            group = _section(groups[0], f"{place}.{each.name}")  # type: ignore[arg-type]
            made.append((each.name, group, field(default_factory=group)))
        elif each.name not in leave:
            default = default_of_setting(f"{place}.{each.name}", usual=each.default)
            made.append(_option(each.name, _readable(hints[each.name]), words.get(each.name, ""), default))
    return make_dataclass(kind.__name__, made, frozen=True)


def _run_options() -> type:
    """The choices of a run, as options of the same names."""
    hints, words, made = get_type_hints(RunOptions), _words_below(RunOptions), []
    for each in fields(RunOptions):
        readable, help = _readable(hints[each.name]), words[each.name]
        if each.name in _NAMES:
            names, metavar, meanings = _NAMES[each.name]
            readable, help = _Readable(Literal[names] | str, metavar), f"{help.rstrip('.')}: {meanings}"
        elif each.default is None:
            (kind,) = [part for part in get_args(hints[each.name]) if part is not NoneType]
            readable = _readable(kind)
        if hints[each.name] is bool:
            made.append((each.name, Annotated[bool, tyro.conf.arg(help=help)], field(default=False)))
        else:
            made.append(_option(each.name, readable, help, default_of(each.name) or shown(each.default)))
    return make_dataclass("Options", made, frozen=True)


def _modulation(leave: Iterable[str]) -> type:
    """The single settings of all modulators of the table, without those to ``leave`` out."""
    fade = _words_below(ModulatorConfig)["fade"]
    made = [_option("fade", _readable(int | None), fade, default_of_setting("modulator.fade"))]
    for name, owner in owners_of_settings().items():
        if name not in leave:
            kinds = ", ".join(row.name for row in MODULATORS.values() if name in places_of(row.settings))
            help = f"of modulator {kinds}: {_words_below(owner)[name]}"
            readable = _readable(get_type_hints(owner)[name])
            made.append(_option(name, readable, help, default_of_setting(f"modulator.{name}")))
    return make_dataclass("ModulatorConfig", made, frozen=True)


def _words_below(kind: type) -> dict[str, str]:
    """What is written below each field of a dataclass, in one line."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for named, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(named, ast.AnnAssign) and isinstance(below, ast.Expr):
            assert isinstance(named.target, ast.Name)
            found[named.target.id] = " ".join(str(ast.literal_eval(below.value)).split())
    return found


_SHORT = {place_of(each.name).removeprefix("modulator.") for each in fields(RunOptions)}
"""Settings of modulators that have options of their own."""
_SINGLE = {"fade", *owners_of_settings()}
"""Settings of modulators by their last names."""
Options = _run_options()
Environment = _section(EnvironmentConfig, "environment", leave=("environments", "actions"))
Agent = _section(AgentConfig, "agent")
Adversary = _section(AdversaryConfig, "adversary")
Modulation = _modulation(leave=_SHORT)


def options_of(options: Any) -> RunOptions:
    """The choices that were made on the command line; the others are the usual ones."""
    given = {each.name: getattr(options, each.name) for each in fields(options)}
    return RunOptions(**{name: value for name, value in given.items() if value is not None})


def changes_of(place: str, section: Any) -> list[str]:
    """Settings of a section that were given, as ``section.name=value``."""
    found = []
    for each in fields(section):
        value, name = getattr(section, each.name), f"{place}.{each.name}"
        if is_dataclass(value):
            found += changes_of(name, value)
        elif value is not None:
            written = value if _is_json(section, each.name) else json.dumps(value)
            found.append(f"{name}={'null' if value == NONE else written}")
    return found


def _is_json(section: Any, name: str) -> bool:
    (about,) = get_type_hints(type(section), include_extras=True)[name].__metadata__
    return about.metavar.startswith("JSON")


def as_options(settings: Iterable[str]) -> str:
    """How settings of ``--set`` are written as options: ``agent.discount=0.95`` → ``--agent.discount 0.95``."""
    named = {place_of(each.name): each.name for each in fields(RunOptions) if place_of(each.name)}
    named |= {"modulator.kind": "modulator", "modulator.prior": "prior", "environment.actions": "actions"}
    written = []
    for setting in settings:
        place, _, value = setting.partition("=")
        section, *inside = place.strip().split(".")
        if section == "modulator" and inside:  # single settings go by their last names; pdf's were longer once
            place = f"modulator.{inside[-1].removeprefix('pdf_')}"
        if section == "modulator" and place not in named and place.rpartition(".")[2] not in _SINGLE:
            written.append(f"--modulator-settings {inside[-1]}={value.strip()}")
            continue
        option = named.get(place.strip(), place.strip()).replace("_", "-")
        written.append(f"--{option} {' '.join(value.strip().strip('[]').replace('null', NONE).split(','))}")
    return " ".join(written)
