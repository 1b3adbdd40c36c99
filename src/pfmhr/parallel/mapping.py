"""The map itself: what is given back, in which order, and what an engine has to do."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pfmhr.errors import InputError
from pfmhr.parallel.journal import Journal

Item = TypeVar("Item")
Result = TypeVar("Result")
Engine = Literal["local", "ray"]
"""Processes on this machine, or tasks of a Ray cluster."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What became of one item."""

    index: int
    """Its place among the items."""
    result: Result | None
    """None if it failed, or if that is what the work returned."""
    error: str = ""
    """Why it failed; empty if it did not."""
    code: str = ""
    """The code of an :class:`InputError`, "unexpected" for another exception, "killed" for a process that died."""
    attempts: int = 1

    @property
    def failed(self) -> bool:
        """Whether the work was not done."""
        return bool(self.code)


def map_in_order(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    engine: Engine = "local",
    workers: int | None = None,
    attempts: int = 2,
) -> Generator[Outcome[Result]]:
    """Do the work for every item, several at once; outcomes come in the order of the items.

    ``work`` and the items go to other processes: both have to be picklable, and what ``work`` caches in itself stays
    with its process. An :class:`InputError` is final. Any other exception, and a process that dies, costs an attempt of
    its item and no other's. Closed before its end, or interrupted, it ends what is running.

    Args:
        workers: how many at once; as many as there are cores unless given. A Ray cluster that is there decides itself.
        attempts: how often an item is tried.
    """
    if not items:
        return
    waiting: dict[int, Outcome[Result]] = {}
    wanted = 0
    outcomes = _engine(engine)(work, items, workers, attempts, lambda: wanted)
    try:
        for outcome in outcomes:
            waiting[outcome.index] = outcome
            while wanted in waiting:
                yield waiting.pop(wanted)
                wanted += 1
    finally:
        outcomes.close()


def map_resumed(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    keys: Sequence[str],
    journal: Journal,
    engine: Engine = "local",
    workers: int | None = None,
    attempts: int = 2,
) -> Iterator[Outcome[Result]]:
    """The same, but what the journal has of an earlier run is not done again.

    Results have to be plain data, as they are written down as JSON. Failed items are tried again.

    Args:
        keys: what each item is called in the journal; an item that changes needs another key.
    """
    if len(set(keys)) != len(items):
        raise InputError("every item needs a key of its own", expected=len(items), got=len(set(keys)))
    left = [index for index, key in enumerate(keys) if key not in journal]
    fresh = map_in_order(work, [items[index] for index in left], engine, workers, attempts)
    try:
        for index, key in enumerate(keys):
            if key in journal:
                yield Outcome(index, journal[key])
                continue
            outcome = next(fresh)
            if not outcome.failed:
                journal.record(key, outcome.result)
            yield Outcome(index, outcome.result, outcome.error, outcome.code, outcome.attempts)
    finally:
        fresh.close()


def _engine(name: Engine) -> Callable[..., Generator[Outcome[Any]]]:
    if name == "local":
        from pfmhr.parallel.processes import run

        return run
    if name == "ray":
        from pfmhr.parallel.cluster import run

        return run
    raise InputError("unknown engine", expected="local or ray", got=name, code="unknown_name")


AHEAD = 64
"""Items per worker that may be done before the first that is not: it bounds what waits in memory."""


def attempt(work: Callable[[Any], Any], index: int, item: Any, number: int) -> Outcome[Any]:
    """One try; whatever it raises becomes an outcome."""
    try:
        return Outcome(index, work(item), attempts=number)
    except InputError as error:
        return Outcome(index, None, str(error), error.code, number)
    except Exception as error:
        return Outcome(index, None, f"unexpected {type(error).__name__}: {error}", UNEXPECTED, number)


UNEXPECTED, KILLED = "unexpected", "killed"
"""Codes of failures that another attempt may not meet."""
