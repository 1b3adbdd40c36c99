"""Packages whose public names are imported on first use, so that what needs no torch never waits for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attributes(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package; ``homes`` says which module defines each public name."""

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'; it has {', '.join(sorted(homes))}")

    return find
