"""Settings of a modulator from plain data, one by one or all at once; and the modulator they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, get_type_hints

from pfmhr.errors import InputError
from pfmhr.foreign import as_dataclass
from pfmhr.reward.available import MODULATORS, Ingredients, modulator_kind, require_modulator

if TYPE_CHECKING:
    from pfmhr.reward.modulators import Modulator


class OwnSettings(dict[str, Any]):
    """Settings of a user's own modulator as they were given; they are checked when it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(sorted(self.items())))


def settings_of(name: str, given: Any) -> Any:
    """Settings for a modulator: its usual ones for None, from plain data, or as they are."""
    if name not in MODULATORS:
        require_modulator(name)
        return OwnSettings(given or {}) if given is None or isinstance(given, Mapping) else given
    kind = MODULATORS[name].settings
    if given is None or isinstance(given, Mapping):
        return as_dataclass(kind, dict(given or {}), f"the settings of modulator {name}", "bad_config")
    if type(given) is not kind:
        what, got = f"settings of another modulator than {name}", type(given).__name__
        raise InputError(what, expected=kind.__name__, got=got, code="bad_config")
    return given


def with_changes(name: str, settings: Any, changes: Mapping[str, Any]) -> Any:
    """The same settings of modulator ``name`` with single ones changed, each by its last name, such as ``alpha``."""
    content = dict(settings) if isinstance(settings, Mapping) else asdict(settings)
    if name not in MODULATORS:
        return OwnSettings({**content, **changes})
    places = places_of(MODULATORS[name].settings)
    refuse_idle(name, {change: change for change in changes})
    for change, value in changes.items():
        inside = content
        for part in places[change][:-1]:
            inside = inside[part]
        inside[places[change][-1]] = value
    return settings_of(name, content)


def carried_over(settings: Any, name: str) -> Any:
    """Settings of modulator ``name`` that are those of another one, as far as both have them."""
    usual = settings_of(name, None)
    if isinstance(settings, Mapping) or isinstance(usual, Mapping):
        return usual
    old, shared = places_of(type(settings)), places_of(type(usual))
    return with_changes(name, usual, {each: _at(settings, old[each]) for each in old if each in shared})


def places_of(settings: type) -> dict[str, tuple[str, ...]]:
    """Where each single setting lies, by its last name: ``alpha`` → ``("ramp", "alpha")``."""
    found: dict[str, tuple[str, ...]] = {}
    hints = get_type_hints(settings)
    for field in fields(settings):
        kind = hints[field.name]
        inner = places_of(kind) if isinstance(kind, type) and is_dataclass(kind) else {field.name: ()}
        for name, place in inner.items():
            found[name] = (field.name, *place)
    return found


def owners_of_settings() -> dict[str, type]:
    """The dataclass that has each single setting of the modulators of the table, by the setting's last name.

    Where several have one of that name, it is that of the first row.
    """
    found: dict[str, type] = {}
    for row in MODULATORS.values():
        for name, place in places_of(row.settings).items():
            owner = row.settings
            for part in place[:-1]:
                owner = get_type_hints(owner)[part]
            stated = next(kind for kind in owner.__mro__ if name in get_annotations(kind))
            found.setdefault(name, stated)
    return found


def refuse_idle(name: str, given: Mapping[str, str]) -> None:
    """Refuse settings without effect: they would make the same modulator under another name.

    ``given``: as the user wrote it → last name of a setting, ``prior`` or ``fade``.
    """
    if name not in MODULATORS:
        return  # only the class itself knows; it refuses what it does not have when it is made
    row = MODULATORS[name]
    heeded = {*places_of(row.settings), *(("prior",) if row.needs != "nothing" else ())}
    heeded |= {"fade"} if name != "none" else set()
    idle = [written for written, setting in given.items() if setting not in heeded]
    if idle:
        what = "without a modulator" if name == "none" else f"with modulator {name}"
        raise InputError(f"{', '.join(idle)} would change nothing {what}", code="bad_config")


def make_modulator(name: str, given: Ingredients, settings: Any = None) -> Modulator:
    """A modulator by its name; ``settings`` as :func:`settings_of` takes them."""
    kind = modulator_kind(name)
    if kind.needs != "nothing" and not given.prior:
        what = {"prior": "prior", "field": "distance field"}[kind.needs]
        raise InputError(f"modulator '{name}' needs a {what}", fix="Name one with --prior.", code="bad_config")
    chosen = settings_of(name, settings)
    if isinstance(chosen, OwnSettings):
        chosen = as_dataclass(kind.settings, dict(chosen), f"the settings of {name}", "bad_config")
    return kind.make(given, chosen)


def _at(settings: Any, place: tuple[str, ...]) -> Any:
    for part in place:
        settings = getattr(settings, part)
    return settings
