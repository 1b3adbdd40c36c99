"""What several commands share."""

from __future__ import annotations

from typing import Any


def given(changes: dict[str, Any]) -> dict[str, Any]:
    """The options that were named on the command line; the others keep their defaults."""
    return {name: value for name, value in changes.items() if value is not None}


def use_threads(threads: int | None) -> None:
    """Let torch compute with so many threads: all cores we may use unless said."""
    import torch

    from pfmhr.motion.checks.paths import available_cores

    torch.set_num_threads(threads or available_cores())
