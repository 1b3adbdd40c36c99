"""What several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pfmhr.errors import InputError


def given(changes: dict[str, Any]) -> dict[str, Any]:
    """The options that were named on the command line; the others keep their defaults."""
    return {name: value for name, value in changes.items() if value is not None}


def use_threads(threads: int | None) -> None:
    """Let torch compute with so many threads: all cores we may use unless said."""
    import torch

    from pfmhr.motion.checks.paths import available_cores

    torch.set_num_threads(threads or available_cores())


@contextmanager
def tracking_extra() -> Iterator[None]:
    """What is missing for tracking, said so that one knows what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        fix = "`pip install 'pfm-hr[tracking]'`."
        raise InputError(f"tracking needs {error.name}", fix=fix, code="missing_extra") from error
