"""Things of the user's own, named as ``package.module:Class`` wherever a name of ours is accepted."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from pfmhr.errors import InputError, unknown_name

OWN = "package.module:Class"
"""How something of the user's own is named."""


def is_own(name: str) -> bool:
    """Whether a name has the form ``package.module:Class``; nothing is imported."""
    module, colon, inside = name.partition(":")
    parts = [*module.split("."), *inside.split(".")]
    return bool(colon) and all(part.isidentifier() for part in parts)


def resolve(name: str, what: str, available: Iterable[str] = ()) -> Callable[..., Any]:
    """Import the class or function that ``package.module:Class`` names.

    Importing runs the module's code: call this with names that the user wrote, when the thing is about to be used,
    and never merely to read a file.

    Args:
        name: as the user wrote it. what: the kind of thing, for messages: "modulator".
        available: the names of ours that are accepted in the same place; an error lists them.
    """
    if not is_own(name):
        raise unknown_name(what, name, [*available, f"or your own as {OWN}"])
    module_name, _, inside = name.partition(":")
    module = _import(module_name, name, what)
    found: Any = module
    for part in inside.split("."):
        if not hasattr(found, part):
            raise unknown_name(f"name in {found.__name__}", part, _callables(found)).at(f"{what} {name}")
        found = getattr(found, part)
    if not callable(found):
        got = type(found).__name__
        raise InputError("not a class or function", where=f"{what} {name}", got=got, code="bad_extension")
    return found


def _import(module: str, name: str, what: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _broken(error, name, what) from error
        fix = "Install the package, or put the folder of the file on PYTHONPATH."
        missing = f"there is no module '{error.name}'"
        raise InputError(missing, where=f"{what} {name}", fix=fix, code="unknown_name") from error
    except Exception as error:  # whatever the user's module raises
        raise _broken(error, name, what) from error


def _broken(error: Exception, name: str, what: str) -> InputError:
    got = f"{type(error).__name__}: {error}"
    return InputError("its module cannot be imported", where=f"{what} {name}", got=got, code="bad_extension")


def _callables(found: Any) -> list[str]:
    """Public classes and functions of a module or class."""
    return [name for name, value in vars(found).items() if callable(value) and not name.startswith("_")]
