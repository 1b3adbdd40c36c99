"""How a case comes about: a valid start, then stages of changes, each stage in the language of its layer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Change = Callable[[Random, Any], Any]
"""Takes a draft, gives the changed one; its name is what the statistics call it."""
VALID_SHARE = 0.05
"""Of the cases that many stay as they are and must load: a reader that refuses everything is found out."""
MOST_CHANGES = 4


@dataclass(frozen=True)
class Stage:
    """Changes of one layer, and how the layer becomes the next one."""

    weight: float
    changes: tuple[Change, ...]
    then: Callable[[Any], Any] = lambda draft: draft


def develop(random: Random, start: Any, stages: Sequence[Stage]) -> tuple[Any, tuple[str, ...]]:
    """The start after one to four changes (sometimes none), and their names."""
    count = 0 if random.random() < VALID_SHARE else random.randint(1, MOST_CHANGES)
    drawn = random.choices(range(len(stages)), [stage.weight for stage in stages], k=count)
    names: list[str] = []
    draft = start
    for number, stage in enumerate(stages):
        for _ in range(drawn.count(number)):
            change = random.choice(stage.changes)
            draft = change(random, draft)
            names.append(change.__name__)
        draft = stage.then(draft)
    return draft, tuple(names)


def at(part: str, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The same changes, made to one part of a draft that is a dictionary."""

    def inside(change: Change) -> Change:
        @functools.wraps(change)
        def changed(random: Random, draft: dict[str, Any]) -> dict[str, Any]:
            return {**draft, part: change(random, draft[part])}

        return changed

    return tuple(map(inside, changes))


def then(part: str, encode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """One part of a draft in its next form."""
    return lambda draft: {**draft, part: encode(draft[part])}
