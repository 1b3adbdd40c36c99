"""Small C functions that are compiled with the package, each with a numpy twin for where they were not."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path


@cache
def load_library(path: Path) -> ctypes.CDLL | None:
    """A compiled library beside its source, or None where the package was built without a C compiler."""
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None
