"""Cells as tasks of a Ray cluster, one core each: one that is there already, or one made on this machine."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell
from pfmhr.experiments.processes import PATIENCE, ROUND, Outcome, Setting, lost, run_cells


def run_on_ray(cells: Sequence[Cell], setting: Setting, workers: int) -> Generator[list[Outcome]]:
    """Like :func:`run_cells`, wherever the cluster has a free core; ``workers`` if we have to make one.

    A cell that fails is tried again by its task. A task whose worker dies is begun anew by Ray, and its cell
    goes on from the last checkpoint. Closed before its end, tasks are cancelled, and their cells save and stop.
    """
    if not cells:
        return
    with _cluster(workers) as ray:
        task = ray.remote(num_cpus=1, max_retries=setting.attempts - 1)(run_one)
        waiting = {task.remote(cell, setting): cell for cell in cells}
        try:
            while waiting:
                ended, _ = ray.wait(list(waiting), num_returns=1, timeout=ROUND)
                yield [_outcome(ray, each, waiting.pop(each), setting) for each in ended]
        finally:
            for each in waiting:
                ray.cancel(each)
            if waiting:
                ray.wait(list(waiting), num_returns=len(waiting), timeout=PATIENCE)


def run_one(cell: Cell, setting: Setting) -> Outcome:
    """One cell in this process's child, until it is finished or has failed for good."""
    (outcome,) = [outcome for outcomes in run_cells([cell], setting, workers=1) for outcome in outcomes]
    return outcome


def _outcome(ray: Any, ended: Any, cell: Cell, setting: Setting) -> Outcome:
    try:
        return ray.get(ended)
    except ray.exceptions.RayError as error:  # a worker that died once too often takes its cell with it, no other
        return lost(cell, setting, " ".join(str(error).split()))


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
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
