"""The local engine: processes that live as long as the map, each with one item at a time and one thread."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from pfmhr.motion.checks.paths import available_cores
from pfmhr.parallel.mapping import AHEAD, KILLED, UNEXPECTED, Outcome, attempt

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: tuple[int, int] | None = None
    """Index and attempt of the item it has."""


def run(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    workers: int | None,
    attempts: int,
    first_missing: Callable[[], int],
) -> Generator[Outcome[Any]]:
    """Outcomes as they come; no item starts that is too far ahead of the first one missing."""
    count = min(workers or available_cores(), len(items))
    waiting = deque((index, 1) for index in range(len(items)))
    pool: list[_Worker] = []
    missing = len(items)
    try:
        while missing:
            pool = [worker for worker in pool if worker.process.is_alive() or worker.task]
            while len(pool) < min(count, missing):
                pool.append(_start(work))
            for worker in pool:
                if worker.task is None and waiting and waiting[0][0] < first_missing() + AHEAD * count:
                    _give(worker, waiting.popleft(), items)
            for worker in _ready(pool):
                outcome = _outcome(worker)
                if outcome.code in (UNEXPECTED, KILLED) and outcome.attempts < attempts:
                    waiting.appendleft((outcome.index, outcome.attempts + 1))
                    continue
                missing -= 1
                yield outcome
    finally:
        for worker in pool:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()


def _start(work: Callable[[Any], Any]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    with _one_thread():
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _give(worker: _Worker, task: tuple[int, int], items: Sequence[Any]) -> None:
    worker.task = task
    with suppress(OSError):  # it has died: that is noticed when it is waited for
        worker.pipe.send((task, items[task[0]]))


def _ready(pool: list[_Worker]) -> list[_Worker]:
    """Workers that have answered or died; waits for the first."""
    busy = [worker for worker in pool if worker.task is not None]
    ready = set(wait([part for worker in busy for part in (worker.pipe, worker.process.sentinel)]))
    return [worker for worker in busy if worker.pipe in ready or worker.process.sentinel in ready]


def _outcome(worker: _Worker) -> Outcome[Any]:
    assert worker.task is not None
    (index, number), worker.task = worker.task, None
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"
        return Outcome(index, None, f"its process ended with {how}", KILLED, number)


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """What a worker does until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the one who asks, who ends us
    while True:
        try:
            (index, number), item = pipe.recv()
        except (EOFError, OSError):
            return
        outcome = attempt(work, index, item, number)
        try:
            pipe.send(outcome)
        except Exception as error:  # what was returned cannot be sent
            pipe.send(Outcome(index, None, f"unexpected {type(error).__name__}: {error}", UNEXPECTED, number))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes started in here compute on one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
