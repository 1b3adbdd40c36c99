"""Completion: what a shell offers at each place of a command line."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pfmhr.cli.commands import all_commands
from pfmhr.cli.completion import SCRIPTS
from pfmhr.cli.signature import option_names

Complete = Callable[[str], list[str]]
FIRST_WORDS = list(dict.fromkeys(name.split()[0] for name in all_commands()))


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
    """What bash offers for the last word of a line, by the function it calls on TAB."""
    script = folder.parent / "pfmhr.bash"
    script.write_text(SCRIPTS["bash"](all_commands()))
    code = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pfmhr; '
        '[ "${#COMPREPLY[@]}" = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"'
    )

    def complete(line: str) -> list[str]:
        command = ["bash", "-c", code, "bash", str(script), *line.split(" ")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
        assert done.stderr == ""
        return done.stdout.splitlines()

    return complete


FILES = ["corpora", "walk two.csv", "walk.csv"]
LINES: list[tuple[str, list[str]]] = [
    ("pfmhr ", FIRST_WORDS),
    ("pfmhr co", ["convert", "corpus", "completion"]),
    ("pfmhr corpus ", ["build", "add", "subset", "info"]),
    ("pfmhr corpus s", ["subset"]),
    ("pfmhr corpus subset --s", ["--size", "--stratify", "--seed"]),
    ("pfmhr corpus subset -", option_names(all_commands()["corpus subset"].function)),
    ("pfmhr check w", ["walk two.csv", "walk.csv"]),
    ("pfmhr check walk.csv c", ["corpora"]),
    ("pfmhr corpus build new ", FILES),
    ("pfmhr prior train corpora --preset ", ["tiny", "small", "paper"]),
    ("pfmhr prior train corpora --preset p", ["paper"]),
    ("pfmhr prior train corpora --linears-per-block ", ["1", "2"]),
    ("pfmhr prior train corpora --steps ", []),
    ("pfmhr prior train corpora -o c", ["corpora"]),
    ("pfmhr prior train corpora --compile c", ["corpora"]),
    ("pfmhr study timestep --data corpora w", ["walk two.csv", "walk.csv"]),
    ("pfmhr study timestep --data corpora --cl", ["--clips"]),
    ("pfmhr corpus build new --category-from ", ["folder", "metadata", *FILES]),
    ("pfmhr bench score --bfloat16 ", ["True", "False"]),
    ("pfmhr doctor ", ["--json", "--help", "--debug"]),
    ("pfmhr completion ", ["bash", "zsh", "fish"]),
    ("pfmhr fly ", []),
]


@pytest.mark.parametrize(("line", "offered"), LINES, ids=[line for line, _ in LINES])
def test_bash_offers_what_may_stand_there(line: str, offered: list[str], in_bash: Complete) -> None:
    assert sorted(in_bash(line)) == sorted(offered)


def test_bash_binds_the_function_to_the_command(folder: Path) -> None:
    code = 'eval "$1"; complete -p pfmhr'
    done = subprocess.run(["bash", "-c", code, "bash", SCRIPTS["bash"](all_commands())], capture_output=True, text=True)
    assert done.stdout == "complete -F _pfmhr pfmhr\n" and done.stderr == ""


def test_zsh_runs_the_function_made_for_bash() -> None:
    script = SCRIPTS["zsh"](all_commands())
    assert script.startswith("#compdef pfmhr\n") and "bashcompinit" in script
    assert script.endswith(SCRIPTS["bash"](all_commands()))
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def test_fish_has_a_line_for_every_option() -> None:
    script = SCRIPTS["fish"](all_commands())
    lines = script.splitlines()
    for name, command in all_commands().items():
        own = [line for line in lines if f"'__pfmhr_in {name}'" in line]
        named = {f"--{line.split(' -l ')[1].split()[0]}" for line in own if " -l " in line}
        assert named == {option for option in option_names(command.function) if option.startswith("--")}
    assert any("__pfmhr_in prior train" in line and line.endswith("-a 'tiny small paper'") for line in lines)
    if shutil.which("fish"):
        asked = f"{script}\ncomplete -C 'pfmhr corpus b'"
        done = subprocess.run(["fish", "--no-config", "-c", asked], capture_output=True, text=True, check=True)
        assert done.stdout.split("\t")[0] == "build"
