"""What a directory holds: a run or an artefact, and of which kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.foreign import read_json
from pfmhr.layout import CONFIG, RUN

MARKS = {"a tracker": "motions", "a prior": "prior", "a distance field": "network", "pairs": "poses"}
"""What a run makes, by a setting that runs of no other kind have."""
FORMATS = {"pfmhr-prior": "a prior", "pfmhr-distance": "a distance field"}
"""What a trained network is, by the format its config states."""


def kind_here(directory: Path) -> str | None:
    """What a directory holds, finished or not; None if it is nothing of ours."""
    run = _read(directory / RUN)
    return kind_of(run) if run is not None else kind_of_config(_read(directory / CONFIG))


def read_run(directory: Path) -> dict[str, Any]:
    """Settings of the run in a directory; none if there is none that can be read."""
    about = _read(directory / RUN)
    return about if isinstance(about, dict) else {}


def kind_of(about: Any) -> str:
    """What a run makes, by what it says about itself."""
    settings = about if isinstance(about, dict) else {}
    return next((kind for kind, mark in MARKS.items() if mark in settings), "something else")


def kind_of_config(content: Any) -> str | None:
    """What a config is of; None if it is not ours."""
    return FORMATS.get(str(content.get("format"))) if isinstance(content, dict) else None


def _read(path: Path) -> Any:
    """What a file says, None if nothing: whoever needs it to be readable says so."""
    try:
        return read_json(path, "bad_run")
    except (FileNotFoundError, InputError):
        return None
