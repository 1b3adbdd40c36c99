"""Completion: what a shell offers at each place of a command line."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pfmhr.cli import main
from pfmhr.cli.commands import all_commands
from pfmhr.cli.parsing import option_names

Complete = Callable[[str], list[str]]
COMMANDS = all_commands()
FIRST_WORDS = list(dict.fromkeys(name.split()[0] for name in COMMANDS))


def script(shell: str) -> str:
    """What `pfmhr completion` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["completion", shell]) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shell stands: a file, a folder, and a name with a space in it."""
    place = tmp_path_factory.mktemp("here")
    (place / "walk.csv").touch()
    (place / "walk two.csv").touch()
    (place / "corpora").mkdir()
    return place


@pytest.fixture(scope="module")
def in_bash(folder: Path) -> Complete:
    """What bash offers for the last word of a line, by the function it calls on TAB; files where that has nothing."""
    path = folder.parent / "pfmhr.bash"
    path.write_text(script("bash"))
    code = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pfmhr; '
        '[ "${#COMPREPLY[@]}" != 0 ] || COMPREPLY=("files:"); printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def complete(line: str) -> list[str]:
        command = ["bash", "-c", code, "bash", str(path), *line.split(" ")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment)
        assert done.stderr == ""
        return done.stdout.splitlines()

    return complete


FILES = ["files:"]
"""Left to bash itself, which completes the names of files."""
LINES: list[tuple[str, list[str]]] = [
    ("pfmhr ", ["-h", "--help", *FIRST_WORDS]),
    ("pfmhr co", ["convert", "corpus", "completion"]),
    ("pfmhr corpus ", ["-h", "--help", "build", "add", "subset", "info"]),
    ("pfmhr corpus s", ["subset"]),
    ("pfmhr corpus subset --s", ["--size", "--stratify", "--seed"]),
    ("pfmhr check w", FILES),
    ("pfmhr check walk.csv ", FILES),
    ("pfmhr corpus build new ", FILES),
    ("pfmhr prior train corpora --preset ", ["tiny", "small", "paper"]),
    ("pfmhr prior train corpora --preset p", ["paper"]),
    ("pfmhr prior train corpora -o c", ["corpora"]),
    ("pfmhr prior train corpora --compile c", FILES),
    ("pfmhr study timestep --data corpora w", FILES),
    ("pfmhr study timestep --data corpora --cl", ["--clips"]),
    ("pfmhr completion --h", ["--help"]),
]


@pytest.mark.parametrize(("line", "offered"), LINES, ids=[line for line, _ in LINES])
def test_bash_offers_what_may_stand_there(line: str, offered: list[str], in_bash: Complete) -> None:
    assert sorted(in_bash(line)) == sorted(offered)


@pytest.mark.parametrize("name", ["corpus subset", "track train", "demo"])
def test_bash_offers_every_option_of_a_command(name: str, in_bash: Complete) -> None:
    assert {*in_bash(f"pfmhr {name} -")} - {"-h"} == {*option_names(COMMANDS[name])} - {"--debug"}


def test_bash_falls_back_to_files() -> None:
    code = 'eval "$1"; complete -p pfmhr'
    done = subprocess.run(["bash", "-c", code, "bash", script("bash")], capture_output=True, text=True)
    assert done.stdout == "complete -o default -F _pfmhr pfmhr\n" and done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_know_every_command_and_option(shell: str) -> None:
    told = script(shell)
    for name, command in COMMANDS.items():
        assert all(f"'{word}'" in told for word in (*name.split(), *option_names(command)) if word != "--debug"), name
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=told, text=True, check=True)
