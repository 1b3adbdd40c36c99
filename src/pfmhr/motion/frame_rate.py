"""Frame rates that a csv does not hold but its surroundings state."""

from __future__ import annotations

import math
import re
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.foreign import read_toml

FOLDER_FILE = "motions.toml"
"""A folder may state the rate of the csv files below it: ``fps = 60``."""

KNOWN_SETS = {"lafan1": 30.0, "lafan": 30.0, "g1_moves": 60.0, "g1-moves": 60.0}
"""Published data sets by the name of the folder they come in."""

HIGHEST_RATE = 10_000.0
"""Hz: no clip is resampled beyond this, and no controller is that fast; physics takes some 1,000 steps a second."""

# Not the second half of a version: v1.30fps tells nothing.
_IN_NAME = re.compile(r"(?<![0-9.])([0-9]{2,5}(?:\.[0-9]+)?)[ _-]?(?:hz|fps)(?![a-z0-9])", re.IGNORECASE)


def require_rate(rate: float, what: str = "frame rate") -> float:
    """The rate, if it is one."""
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"impossible {what}", expected="a positive number of Hz", got=rate, code="bad_fps")
    return rate


def stated_nearby(path: Path) -> tuple[float, str] | None:
    """The rate and where it was found: the file's own name, a motions.toml above it, a known set's folder."""
    if (rate := _in_name(path)) is not None:
        return rate, "file name"
    for folder in path.absolute().parents:
        if (rate := _in_name(folder)) is not None:
            return rate, f"folder name '{folder.name}'"
        settings = folder / FOLDER_FILE
        if settings.is_file():
            return _from_settings(settings), str(settings)
        for name, fps in KNOWN_SETS.items():
            if folder.name.lower().startswith(name):
                return fps, f"folder name '{folder.name}'"
    return None


def _in_name(path: Path) -> float | None:
    """The rate that a name states; of two nobody knows which it is."""
    rates = sorted({float(found) for found in _IN_NAME.findall(path.name)})
    if len(rates) > 1:
        got, fix = " and ".join(f"{rate:g} Hz" for rate in rates), "Say which it is with --fps."
        raise InputError("the name states several frame rates", where=path, got=got, fix=fix, code="bad_fps")
    return rates[0] if rates else None


def _from_settings(path: Path) -> float:
    fps = read_toml(path, "bad_settings").get("fps")
    if not isinstance(fps, (int, float)) or isinstance(fps, bool) or not 0 < fps < math.inf:
        raise InputError("no frame rate in it", where=path, expected="fps = <Hz>", got=fps, code="bad_settings")
    return float(fps)
