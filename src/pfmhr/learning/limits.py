"""Numbers with which nothing could be trained, refused before anything is written."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import torch

from pfmhr.errors import InputError

_FLOAT = 4


def require_numbers(
    config: Any,
    at_least_one: Sequence[str] = (),
    positive: Sequence[str] = (),
    not_negative: Sequence[str] = (),
    shares: Sequence[str] = (),
    finite: Sequence[str] = (),
) -> None:
    """Refuse settings outside their ranges, by their names; NaN and infinity are in none of them.

    Of several numbers, of which there is at least one, each has to fit; None is a setting that is not made.
    """
    ranges: list[tuple[Sequence[str], str, Callable[[Any], bool]]] = [
        (at_least_one, "at least 1", lambda value: 1 <= value < math.inf),
        (positive, "above 0", lambda value: 0 < value < math.inf),
        (not_negative, "0 or more", lambda value: 0 <= value < math.inf),
        (shares, "from 0 to 1", lambda value: 0 <= value <= 1),
        (finite, "finite", math.isfinite),
    ]
    for names, expected, fits in ranges:
        for name in names:
            value = getattr(config, name)
            numbers = value if isinstance(value, tuple) else [] if value is None else [value]
            if value == () or not all(map(fits, numbers)):
                raise InputError(f"{name} must be {expected}", got=value, code="bad_config")


def require_memory(batch_size: int, numbers: int, world: int = 1) -> None:
    """Refuse a batch that cannot fit: ``numbers`` is the least a step holds per pose, in floats.

    A batch may be larger than the corpus, for its rows are drawn with replacement; memory is what bounds it.
    """
    most = _memory() // (_FLOAT * numbers) * world
    if batch_size > most:
        raise InputError(
            "a batch does not fit into memory",
            expected=f"at most {most:,} poses",
            got=f"{batch_size:,}",
            fix="Lower --batch-size.",
            code="bad_config",
        )


def _memory() -> int:
    """Bytes of the GPU that would be used, or of the machine."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
