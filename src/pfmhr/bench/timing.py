"""Timing several works fairly."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median


def interleaved(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each, measured in turns so that a slow moment of the machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}
