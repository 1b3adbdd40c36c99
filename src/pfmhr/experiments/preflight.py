"""What cells will need, looked for before any is run: a missing file should not be found after hours of training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell

SHOWN = 5
"""Missing files that are named; the others are counted."""


def require_files(cells: Sequence[Cell], place: Path, data: Path | None) -> None:
    """Refuse cells whose clips, or whose prior's folder, are not there.

    Args:
        place: where commands are run. data: folder of the clips, if not there.
    """
    clips = {place / path for cell in cells for path in cell.clips(data)}
    missing = [str(path) for path in sorted(clips) if not path.exists()]
    if missing:
        fix = "Name the folder of the clips with --data; docs/motion-files.md says where to get motions."
        raise InputError("clips are not there", where=place, got=_listed(missing), fix=fix, code="not_found")
    # A name without a slash may be one of a bundled prior, which the run itself knows.
    priors = {str(prior) for cell in cells if "/" in str(prior := dict(cell.options).get("prior", ""))}
    missing = sorted(prior for prior in priors if not (place / prior).is_dir())
    if missing:
        fix = "Train them first, as experiments/priors.sh does, or run the command where they are."
        raise InputError("priors are not there", where=place, got=_listed(missing), fix=fix, code="not_found")


def _listed(paths: Iterable[str]) -> str:
    named = list(paths)
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return ", ".join(named[:SHOWN]) + more
