"""From words to a call: tyro reads the options, and what is wrong with them becomes one short message."""

from __future__ import annotations

import inspect
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import is_dataclass
from functools import partial, wraps
from typing import Any

import tyro

from pfmhr.cli.commands import Command
from pfmhr.cli.signature import option_names, options_of
from pfmhr.errors import InputError, unknown_name


def bind(command: Command, words: Sequence[str]) -> Callable[[], int]:
    """The call that a command line asks for, not yet made. Asked for help, it prints that and leaves."""
    function = command.function

    @wraps(function)
    def call(*values: Any, **named: Any) -> partial[int]:
        return partial(function, *values, **named)

    page = _Page(sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    try:
        with _our_errors(command, words), redirect_stdout(page):
            bound = tyro.cli(
                call,
                prog=f"pfmhr {command.name}",
                # The whole docstring up to its arguments: tyro by itself would leave the examples out.
                description=(inspect.getdoc(function) or "").split("\nArgs:", 1)[0].strip(),
                args=list(words),
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit:
        if page.getvalue():
            print(_fit(page.getvalue()), end="")
        raise
    _refuse_negative_seed(bound)
    return bound


def _refuse_negative_seed(call: partial[int]) -> None:
    """Generators disagree about seeds below zero: here they are refused for all commands, for shared options too."""
    groups = [vars(value) for value in (*call.args, *call.keywords.values()) if is_dataclass(value)]
    for options in (call.keywords, *groups):
        seed = options.get("seed")
        if seed is not None and seed < 0:
            raise InputError("--seed must be 0 or more", got=seed, code="bad_seed")


class _Page(io.StringIO):
    """What tyro prints; it colours only what says that it is a terminal."""

    encoding = "utf-8"  # type: ignore[assignment]  # otherwise tyro draws its boxes in ASCII

    def __init__(self, coloured: bool) -> None:
        super().__init__()
        self._coloured = coloured

    def isatty(self) -> bool:
        """Whether colours are welcome."""
        return self._coloured


def _fit(page: str) -> str:
    """Break the sentences above the options to the terminal's width; examples stay whole, to be copied."""
    width = shutil.get_terminal_size().columns
    lines = page.splitlines()
    return "".join((textwrap.fill(line, width) if line[:1].isalpha() else line) + "\n" for line in lines)


def _our_errors(command: Command, words: Sequence[str]) -> AbstractContextManager[None]:
    """While this is open, what tyro rejects is raised as an error of ours."""
    try:
        from tyro import _errors as tyro_errors
    except ImportError:  # an internal part of tyro; without it, its own box is printed and the exit code is still 2
        return nullcontext()

    def refuse(event: Any) -> None:
        error = _error(command, event, words)
        if error is not None:
            hint = f"See `pfmhr {command.name} --help`."
            fix = hint if error.fix is None else f"{error.fix} {hint}"
            raise InputError(error.what, expected=error.expected, got=error.got, fix=fix, code="usage")

    return tyro_errors.on_parse_error(refuse)


def _error(command: Command, event: Any, words: Sequence[str]) -> InputError | None:
    """What one of tyro's events says; None for one that we do not know."""
    # An unknown option comes first: tyro may take its value for something else, and complain about that.
    known = option_names(command.function)
    for word in words:
        option = word.split("=")[0]
        if re.match("--?[a-zA-Z]", option) and option.replace("_", "-") not in known:
            return unknown_name("option", option, known)
    match type(event).__name__:
        case "UnrecognizedArgs":
            return InputError(f"one word too many: '{event.tokens[0]}'")
        case "MissingArgs":
            return InputError(f"missing: {', '.join(_name(each.arg) for each in event.missing_arguments)}")
        case "InvalidChoice":
            return unknown_name(f"value for {_name(event.argument)}:", event.value, _choices(command, event))
        case "BadValue" | "InstantiationFailure" if event.argument is not None:
            argument = event.argument
            expected = str(argument.lowered.metavar).replace("{None}|", "").strip("{}")
            got = " ".join(_after(argument.lowered.name_or_flags, words)) or None
            return InputError(f"cannot read {_name(argument)}", expected=expected, got=got)
        case "InstantiationFailure":
            return InputError(" ".join(str(event.message).split()))
    return None


def _choices(command: Command, event: Any) -> Sequence[str]:
    """In the order we declared them, which tyro does not keep."""
    flags = set(event.argument.lowered.name_or_flags)
    declared = [option.choices for option in options_of(command.function) if flags & set(option.names)]
    return declared[0] if declared else event.choices


def _name(argument: Any) -> str:
    flags = argument.lowered.name_or_flags
    return str(argument.lowered.metavar) if argument.is_positional() else max(flags, key=len)


def _after(flags: Sequence[str], words: Sequence[str]) -> list[str]:
    """The words given to an option."""
    found: list[str] = []
    for place, word in enumerate(words):
        flag, _, value = word.partition("=")
        if flag in flags:
            rest = [value] if value else list(words[place + 1 :])
            stop = next((index for index, each in enumerate(rest) if each.startswith("--")), len(rest))
            found = rest[: min(stop, 3)]
    return found
