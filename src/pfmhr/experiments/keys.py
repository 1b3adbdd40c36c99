"""Keys of a matrix's toml file, and what may stand behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pfmhr.extension import is_own
from pfmhr.tracking.rewards.available import CHOICES, REWARDS


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(kind: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(kind, value))


_Kind = tuple[Callable[[Any], bool], str]
Kinds = dict[str, _Kind]
"""By key what fits it, and how that is said."""


def _one_of(*names: str) -> _Kind:
    return names.__contains__, ", ".join(names)


_TEXT: _Kind = (_text, "a text")
_WHOLE: _Kind = (lambda value: _whole(value) and value > 0, "a whole number of at least 1")
_POSITIVE: _Kind = (lambda value: _number(value) and value > 0, "a number above 0")
_SHARE: _Kind = (lambda value: _number(value) and 0 <= value <= 1, "a number from 0 to 1")
_SEEDS: Kinds = {"seeds": (lambda value: _list_of(_whole, value), "a list of whole numbers")}
_SET: Kinds = {"set": (lambda value: _list_of(_text, value), 'a list of "section.name=value"')}
SHARED: Kinds = {
    "preset": _one_of("cpu", "paper"),
    "environments": _WHOLE,
    "episodes": _WHOLE,
    "evaluate_every": _WHOLE,
    **_SET,
}
TOP: Kinds = {
    "name": _TEXT,
    "data": _TEXT,
    "actions": (lambda value: _list_of(("residual", "absolute").__contains__, value), "residual, absolute or both"),
    "plain": _TEXT,
    "methods": (lambda value: isinstance(value, dict) and bool(value), "[methods.NAME] tables"),
    "skills": (lambda value: isinstance(value, dict) and bool(value), "[skills.NAME] tables"),
    **_SEEDS,
    **SHARED,
}
METHOD: Kinds = {
    **{"prior": _TEXT, "reward": (lambda value: value in REWARDS or is_own(value), CHOICES)},
    "modulator": _one_of("pfm", "recon", "pdf", "random", "shuffled"),
    **{"t_eval": _SHARE, "p_good": _SHARE, "p_bad": _SHARE},
    "alpha": (lambda value: _number(value) and value >= 0, "a number of at least 0"),
    **_SET,
    "pooled": (lambda value: isinstance(value, bool), "true or false"),
    "skills": (lambda value: _list_of(_text, value), "a list of skills of the matrix"),
}
SKILL: Kinds = {
    "motion": (lambda value: _text(value) or _list_of(_text, value), "a file or a list of files"),
    "samples": _WHOLE,
    "trim": (lambda value: _list_of(_number, value) and len(value) == 2, "[start, stop] in s"),
    "fps": _POSITIVE,
    "horizon": (lambda value: _list_of(_number, value), "a list of s"),
    **_SEEDS,
    **_SET,
}
