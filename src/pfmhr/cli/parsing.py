"""From words to a call: tyro reads the options, and what is wrong with them becomes one short message."""

from __future__ import annotations

import inspect
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import is_dataclass
from functools import partial
from itertools import takewhile
from typing import Annotated, Any, get_type_hints

import tyro
from tyro.extras import SubcommandApp

from pfmhr.cli.commands import Command, all_commands
from pfmhr.cli.values import NO_HINT, value_rules
from pfmhr.errors import InputError, unknown_name

EVERYWHERE = "--debug"
"""An option that every command has, and that no help page lists."""
_ONE_BOX, _ONE_LINE = 120, 10_000
"""Columns in which tyro writes options below one another, and errors without a break: such pages are read here."""


def bind(command: Command, words: Sequence[str]) -> Callable[[], int]:
    """The call that a command line asks for, not yet made. Asked for help, it prints that and leaves."""
    helping = bool({"-h", "--help"} & set(words))
    page, refusal = _Page(sys.stdout.isatty() and not os.environ.get("NO_COLOR")), _Page(coloured=False)
    try:
        with redirect_stdout(page), redirect_stderr(refusal), nullcontext() if helping else _columns(_ONE_LINE):
            bound = _read(command, words)
    except SystemExit as stop:
        if stop.code:
            raise _error(command, words, refusal.getvalue(), stop) from None
        print(_fit(page.getvalue()), end="")
        raise
    _refuse_negative_seed(bound)
    return bound


def option_names(command: Command) -> list[str]:
    """Every way to write an option of this command, as its help page lists them."""
    page = _Page(coloured=False)
    with redirect_stdout(page), _columns(_ONE_BOX), suppress(SystemExit):
        _read(command, ["--help"])
    listed = re.findall(r"^│ (-.*?)(?:  |│$)", page.getvalue(), flags=re.MULTILINE)
    names = [name for entry in listed for name in re.findall(r"(?:^|, )(--?[a-z][\w.-]*)", entry)]
    return [*(name for name in names if name not in ("-h", "--help")), "--help", EVERYWHERE]


def completion_script(shell: str) -> str:
    """What makes a shell complete all commands; tyro writes it."""
    page = _Page(coloured=False)
    with redirect_stdout(page), suppress(SystemExit):
        _tree().cli(prog="pfmhr", args=["--tyro-print-completion", shell], config=_CONFIG, registry=value_rules({}))
    return page.getvalue()


_CONFIG = (tyro.conf.FlagCreatePairsOff,)


def _read(command: Command, words: Sequence[str]) -> partial[int]:
    presets = getattr(command.function, "presets", {})
    return _tree(command, words).cli(
        prog="pfmhr",
        args=[*command.name.split(), *words],
        config=_CONFIG,
        registry=value_rules({name: part for versions in presets.values() for name, part in versions.items()}),
    )


def _tree(asked: Command | None = None, words: Sequence[str] = ()) -> SubcommandApp:
    """All commands as nested subcommands; if one is asked for, only that one's module is imported."""
    tree, groups = SubcommandApp(), dict[str, SubcommandApp]()
    for name, command in all_commands().items():
        *above, last = name.split()
        if above and above[0] not in groups:
            groups[above[0]] = SubcommandApp()
            tree.command(name=above[0], help=f"commands of {above[0]}")(groups[above[0]])  # type: ignore[arg-type]
        call = _unbound(command.function, words) if asked in (None, command) else _elsewhere
        help = _page_text(command.function) if command is asked else command.summary
        (groups[above[0]] if above else tree).command(name=last, help=help)(call)
    return tree


def _elsewhere() -> None:
    """Stands for a command that is not asked for."""


def _page_text(function: Callable[..., int]) -> str:
    """The whole docstring up to its arguments: tyro by itself would leave the examples out."""
    return (inspect.getdoc(function) or "").split("\nArgs:", 1)[0].strip()


def _unbound(function: Callable[..., int], words: Sequence[str]) -> Callable[..., partial[int]]:
    """A function of the same options that only binds them; ``--preset`` among the words decides its defaults."""

    def call(*values: Any, **named: Any) -> partial[int]:
        return partial(function, *values, **named)

    presets: Mapping[str, Mapping[str, Any]] = getattr(function, "presets", {})
    hints, parameters = get_type_hints(function, include_extras=True), []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if parameter.default is None or parameter.default == () or parameter.default is parameter.empty:
            hint = Annotated[hint, NO_HINT]
        default = presets.get(parameter.name, {}).get(_preset(words), parameter.default)
        parameters.append(parameter.replace(annotation=hint, default=default))
    call.__name__ = function.__name__
    call.__doc__ = re.sub(r"\n {8,}", " ", inspect.getdoc(function) or "")  # completion wants one line per option
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _preset(words: Sequence[str]) -> str:
    """What ``--preset`` says; nothing if it is not there."""
    for place, word in enumerate(words):
        option, _, value = word.partition("=")
        if option == "--preset":
            return value or "".join(words[place + 1 : place + 2])
    return ""


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


@contextmanager
def _columns(count: int) -> Iterator[None]:
    """Let pages be so wide, by the variable that says it everywhere."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(count)
    try:
        yield
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)


def _fit(page: str) -> str:
    """Break the sentences above the options to the terminal's width; examples stay whole, to be copied."""
    width = shutil.get_terminal_size().columns
    lines = page.splitlines()
    return "".join((textwrap.fill(line, width) if line[:1].isalpha() else line) + "\n" for line in lines)


def _error(command: Command, words: Sequence[str], box: str, stop: BaseException) -> InputError:
    """What is wrong with a command line, from what tyro printed about it."""
    error = _unknown_option(command, words) or _refused_value(box, stop) or _told(box)
    hint = f"See `pfmhr {command.name} --help`."
    fix = hint if error.fix is None else f"{error.fix} {hint}"
    return InputError(error.what, where=error.where, expected=error.expected, got=error.got, fix=fix, code=error.code)


def _unknown_option(command: Command, words: Sequence[str]) -> InputError | None:
    """It comes first: tyro may take its value for something else, and complain about that."""
    known = option_names(command)
    for word in words:
        option = word.split("=")[0]
        if re.match("--?[a-zA-Z]", option) and option.replace("_", "-") not in known:
            error = unknown_name("option", option, known)
            return InputError(error.what, fix=error.fix, code="usage")
    return None


def _refused_value(box: str, stop: BaseException) -> InputError | None:
    """The error of ours that made tyro stop: a number that is none, or settings that contradict each other."""
    error: BaseException | None = stop
    while error is not None and not isinstance(error, InputError):
        error = error.__context__
    option = re.search(r"Error parsing (?:\S*/)?(--[\w.-]+|[A-Z]+)", box)
    if error is None or error.what != "cannot read a value" or option is None:
        return error
    return InputError(f"cannot read {option[1]}", expected=error.expected, got=error.got, code=error.code)


def _told(box: str) -> InputError:
    """tyro's own words, in one line, without its frame and the help of options."""
    lines = [re.sub("[│╭╮╰╯─]", "", line) for line in box.splitlines()]
    said = list(takewhile(str.strip, lines[1:]))
    text = " ".join(" ".join(said).split())
    if choice := re.match(r"invalid choice '(.*)' for argument '(?:.*/)?(.*?)'. Expected one of \((.*)\)", text):
        error = unknown_name(f"value for {choice[2]}:", choice[1], re.findall("'(.*?)'", choice[3]))
        return InputError(error.what, fix=error.fix, code="usage")
    if text.startswith("Missing from"):
        missing = [line.strip() for line in said if re.match(" {5}[^ ]", line)]
        text = f"missing: {', '.join((re.findall(r'--[^ ]+', each) or [each])[-1] for each in missing)}"
    text = re.sub("^Unrecognized options: (.*)", r"one word too many: '\1'", text)
    return InputError(f"{text[:1].lower()}{text[1:].rstrip('.')}" or "wrong use", code="usage")
