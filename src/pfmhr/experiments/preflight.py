"""What cells will need, looked for before any is run: a missing file should not be found after hours of training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.experiments.cells import Done
from pfmhr.experiments.matrix import Cell
from pfmhr.layout import HUB

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
    priors = {str(dict(cell.options).get("prior", "")) for cell in cells}
    missing = sorted(prior for prior in priors if _is_path(prior) and not (place / prior).is_dir())
    if missing:
        fix = "Train them first, as experiments/priors.sh does, or run the command where they are."
        raise InputError("priors are not there", where=place, got=_listed(missing), fix=fix, code="not_found")


def require_same_priors(cells: Sequence[Cell], done: Sequence[Done], place: Path) -> None:
    """Refuse cells whose prior is not what finished runs of that name had: no report would take them together.

    Args:
        place: where commands are run.
    """
    known = {run.cell.settings["prior"]: run.result.prior_sha256 for run in done if "prior" in run.cell.settings}
    wanted = {cell.settings["prior"]: cell for cell in cells if "prior" in cell.settings}
    for prior, cell in wanted.items():
        there, here = known.get(prior), _prior_hash(cell, place) if known.get(prior) else None
        if there and here and here != there:
            raise InputError(
                "this is not the prior that finished runs were trained with",
                where=prior,
                expected=there[:8],
                got=here[:8],
                fix="Bring that prior here, or give the runs another folder with -o and do not reuse those.",
                code="exists",
            )


def _prior_hash(cell: Cell, place: Path) -> str:
    from pfmhr.tracking.config import ModulatorConfig  # with it comes torch, which what starts cells does without
    from pfmhr.tracking.modulation import prior_hash

    prior = cell.settings["prior"]
    where = str(place / prior) if _is_path(prior) else prior
    return prior_hash(ModulatorConfig(kind=cell.settings.get("modulator", "pfm"), prior=where))


def _is_path(prior: str) -> bool:
    """Whether it is a path, and not a bundled prior's name or a repository of Hugging Face."""
    return "/" in prior and not prior.startswith(HUB)


def _listed(paths: Iterable[str]) -> str:
    named = list(paths)
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    return ", ".join(named[:SHOWN]) + more
