"""Changes to plain data: dictionaries, lists, numbers and texts, whatever they will be written as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz.drafts import Change

Spot = tuple[Any, Any]
"""A container and the key or index of one of its parts."""


@dataclass(frozen=True)
class Raw:
    """Text that goes into a document as it is, for what no value could say."""

    text: str


TEXTS = (
    *(
        "",
        "text",
        "None",
        "False",
        "nan",
        "1",
        "clean",
        "cpu",
        "g1",
        "add",
        "embedded:walk",
        "/dev/zero",
        "../x",
        "a/b",
    ),
    *("\x1b[2J\x1b]0;owned\x07", "line\nline\r", "\u202egnp.exe", "\0", "\ud800", "é", "機", "١٢", "x" * 6000),
    *("{}", "%s", "{0.__class__}", "hf:a/b", "C:\\", "\ufeff", "🤖" * 50),
)
NUMBERS = (
    *(0, 1, -1, 2, 7, 255, 65_536, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**310),
    *(0.0, -0.0, 0.5, 1.0, 1e-320, 1e-45, 1e-9, 1e9, 3e38, 4e38, 1e200, 1.7e308),
    *(float("nan"), float("inf"), float("-inf")),
)
CONTAINERS: tuple[Callable[[], Any], ...] = (
    list, dict, lambda: [[]], lambda: [None], lambda: {"": None}, lambda: [1.0, "a"], lambda: {"a": {"b": [{}]}},
    lambda: [0] * 3000, lambda: {str(number): number for number in range(300)}, lambda: [[[[[[[[1]]]]]]]],
)  # fmt: skip
KEYS = ("", "x", "name", "version", "\x1b[31m", "__class__", "é", "x" * 5000, "poses\n", "state", "tensor")


def odd_value(random: Random) -> Any:
    """Something that does not belong where it is put."""
    kind = random.randrange(8)
    if kind < 3:
        return random.choice(NUMBERS)
    if kind < 5:
        return random.choice(TEXTS)
    return random.choice((None, True, False)) if kind < 7 else random.choice(CONTAINERS)()


def spot(random: Random, tree: Any) -> Spot | None:
    """Some part of the tree; each level is as likely as the next."""
    found: Spot | None = None
    while isinstance(tree, (dict, list)) and tree:
        key = random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
        found, tree = (tree, key), tree[key]
        if random.random() < 0.3:
            break
    return found


def _on_spot(name: str, change: Callable[[Random, Any], Any]) -> Change:
    def changed(random: Random, tree: Any) -> Any:
        place = spot(random, tree)
        if place is None:
            return change(random, tree)
        container, key = place
        container[key] = change(random, container[key])
        return tree

    changed.__name__ = name
    return changed


def _in_list(random: Random, value: Any) -> Any:
    return random.choice(([value], [[value]], [value, value], {"value": value}))


def _out_of_container(random: Random, value: Any) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    return random.choice(value) if isinstance(value, list) and value else value


def _longer(random: Random, value: Any) -> Any:
    times = random.choice((2, 3, 50, 1000))
    if isinstance(value, dict):
        return {f"{key}{turn}": part for turn in range(min(times, 50)) for key, part in value.items()}
    if isinstance(value, (list, str)) and len(value) * times < 20_000:
        return value * times
    return [value] * (times if not isinstance(value, str) or len(value) < 1000 else 3)


def _shorter(random: Random, value: Any) -> Any:
    return value[: random.randint(0, len(value))] if isinstance(value, (list, str)) else value


def _other_number(random: Random, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return random.choice(NUMBERS)
    near = (
        value + 1,
        value - 1,
        -value,
        str(value),
        [value],
        bool(value),
        value * 10,
        value * 10 ** random.randint(1, 40),
    )
    return random.choice(near if abs(value) > 1e300 else (*near, float(value), value * 1e6, value * 1e-6))


def _other_text(random: Random, value: Any) -> Any:
    odd = random.choice(TEXTS)
    return random.choice((odd, f"{value}{odd}", odd + str(value))) if isinstance(value, str) else odd


def lost_entry(random: Random, tree: Any) -> Any:
    if place := spot(random, tree):
        del place[0][place[1]]
    return tree


def added_entry(random: Random, tree: Any) -> Any:
    place = spot(random, tree)
    container = tree if place is None or random.random() < 0.5 else place[0]
    if isinstance(container, dict):
        container[random.choice(KEYS)] = odd_value(random)
    elif isinstance(container, list):
        container.insert(random.randint(0, len(container)), odd_value(random))
    return tree


def renamed_entry(random: Random, tree: Any) -> Any:
    place = spot(random, tree)
    if place is not None and isinstance(place[0], dict):
        key = str(place[1])
        new = random.choice((*KEYS, key.upper(), key + "s", key[:-1]))
        place[0][new] = place[0].pop(place[1])
    return tree


def exchanged_entries(random: Random, tree: Any) -> Any:
    here, there = spot(random, tree), spot(random, tree)
    if here is not None and there is not None:
        one, other = here[0][here[1]], there[0][there[1]]
        if id(here[0]) not in _containers(other) and id(there[0]) not in _containers(one):
            here[0][here[1]], there[0][there[1]] = other, one
    return tree


def _containers(tree: Any) -> set[int]:
    """Ids of the containers in a tree, each looked at once: parts may be shared."""
    seen: set[int] = set()
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (dict, list)) and id(part) not in seen:
            seen.add(id(part))
            waiting += part.values() if isinstance(part, dict) else part
    return seen


def tree_changes(odd: Sequence[Callable[[Random], Any]] = ()) -> tuple[Change, ...]:
    """Changes to a tree, with further kinds of odd values that its format can hold."""

    def replaced(random: Random, _: Any) -> Any:
        return random.choice((odd_value, odd_value, *odd))(random)

    return (
        _on_spot("odd_value", replaced),
        _on_spot("odd_value", replaced),
        _on_spot("in_list", _in_list),
        _on_spot("out_of_container", _out_of_container),
        _on_spot("longer", _longer),
        _on_spot("shorter", _shorter),
        _on_spot("other_number", _other_number),
        _on_spot("other_number", _other_number),
        _on_spot("other_text", _other_text),
        lost_entry,
        added_entry,
        renamed_entry,
        exchanged_entries,
    )
