"""The Ray engine: one task per item, wherever the cluster has a free core."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pfmhr.errors import InputError
from pfmhr.motion.checks.paths import available_cores
from pfmhr.parallel.mapping import AHEAD, KILLED, UNEXPECTED, Outcome, attempt


def run(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    workers: int | None,
    attempts: int,
    first_missing: Callable[[], int],
) -> Generator[Outcome[Any]]:
    """Like the local engine; all machines of the cluster have to see the files of the items."""
    with connected(workers or available_cores()) as ray:
        most = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        task = ray.remote(num_cpus=1, max_retries=0)(attempt)
        shared = ray.put(work)
        waiting = deque((index, 1) for index in range(len(items)))
        running: dict[Any, tuple[int, int]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < most and waiting[0][0] < first_missing() + most:
                    index, number = waiting.popleft()
                    running[task.remote(shared, index, items[index], number)] = (index, number)
                ended, _ = ray.wait(list(running), num_returns=1)
                for reference in ended:
                    outcome = _outcome(ray, reference, *running.pop(reference))
                    if outcome.code in (UNEXPECTED, KILLED) and outcome.attempts < attempts:
                        waiting.appendleft((outcome.index, outcome.attempts + 1))
                    else:
                        yield outcome
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _outcome(ray: Any, reference: Any, index: int, number: int) -> Outcome[Any]:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        return Outcome(index, None, " ".join(str(error).split()), KILLED, number)


@contextmanager
def connected(workers: int) -> Iterator[Any]:
    """Ray, connected: what was connected before stays so, what was running before runs on."""
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise InputError("this engine needs Ray", fix="`pip install 'pfm-hr[ray]'`.", code="missing_extra") from None
    if ray.is_initialized():
        yield ray
        return
    _connect(ray, workers)
    try:
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any, workers: int) -> None:
    """To the cluster of RAY_ADDRESS, or to one that runs on this machine, or to a new one of ``workers`` cores."""
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    address = os.environ.get("RAY_ADDRESS", "")
    host = re.fullmatch(r"(?:ray://)?\[?(.+?)\]?:(\d+)", address)
    try:
        if host:  # Ray itself would go on trying for minutes
            socket.create_connection((host[1], int(host[2])), timeout=10.0).close()
        ray.init(address="auto", **quiet)
    except OSError as error:
        if address:
            what = f"cannot reach the Ray cluster of RAY_ADDRESS: {error}"
            raise InputError(what, where=address, code="not_found") from error
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody outside is told
        try:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        except Exception as failure:  # it raises no type of its own when its parts are not up within seconds
            fix = "On a busy machine it may take another attempt, or use --engine local."
            raise InputError(f"Ray did not start: {failure}", fix=fix, code="ray") from failure
