"""Manners of every command: help with examples that are real, one message per error, plain text where nobody looks."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from pfmhr.cli import console, main
from pfmhr.cli.commands import all_commands, find, overview
from pfmhr.cli.parsing import bind, option_names
from pfmhr.errors import unknown_name
from pfmhr.motion.embedded import CLIPS, embedded_motion
from pfmhr.robots import Robot

Capture = pytest.CaptureFixture[str]
COMMANDS = all_commands()
every_command = pytest.mark.parametrize("name", COMMANDS)
WITHOUT_JSON = {"demo", "completion", "view"}
"""They print for people or for a shell."""


def examples(name: str) -> list[list[str]]:
    """The words of every example of a command, as a shell would pass them on."""
    lines = (inspect.getdoc(COMMANDS[name].function) or "").splitlines()
    called = [line.strip().replace("-m pfmhr", "pfmhr") for line in lines if re.match(r"\s+(pfmhr|torchrun)\b", line)]
    words = [shlex.split(line.partition(">")[0]) for line in called]
    return [each[each.index("pfmhr") + 1 :] for each in words]


def refused(arguments: list[str], capsys: Capture) -> str:
    """The one line that wrong use is answered with."""
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("pfmhr: ") and shown.err.count("\n") == 1
    assert "Traceback" not in shown.err
    return shown.err


def test_the_overview_fits_a_terminal_and_is_aligned() -> None:
    lines = overview().splitlines()
    assert max(map(len, lines)) <= 80
    listed = [line for line in lines if line.startswith("  ")]
    assert [re.split(r"\s{2,}", line.strip())[0] for line in listed] == list(COMMANDS)
    starts = {line.index(COMMANDS[name].summary) for name, line in zip(COMMANDS, listed, strict=True)}
    assert len(starts) == 1


def test_one_word_of_two_lists_what_may_follow(capsys: Capture) -> None:
    assert main(["corpus"]) == main(["corpus", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "corpus subset" in shown and "prior train" not in shown


def test_the_overview_waits_for_nothing_heavy() -> None:
    heavy = ("torch", "numpy", "scipy", "mujoco", "matplotlib", "rich", "tyro", "ray")
    code = f"import sys; from pfmhr.cli import main; main(['--help']); print([n for n in {heavy} if n in sys.modules])"
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        times.append(time.perf_counter() - begun)
        assert done.stdout.splitlines()[-1] == "[]"
    assert min(times) < 1.0


@every_command
def test_help_shows_usage_and_an_example(name: str, capsys: Capture) -> None:
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert main(["help", *name.split()]) == 0
    assert capsys.readouterr().out == shown
    assert shown.startswith(f"usage: pfmhr {name} ")
    assert any(line.strip().startswith(f"pfmhr {name}") for line in shown.splitlines())
    sentences = [line for line in shown.splitlines() if line[:1].isalpha()]
    assert max(map(len, sentences)) <= 80


@every_command
def test_examples_are_real(name: str) -> None:
    assert examples(name)
    for words in examples(name):
        command, rest = find(words)
        assert command is COMMANDS[name]
        bind(command, rest)  # raises where an option or a value does not exist


@every_command
def test_a_wrong_option_is_one_message(name: str, capsys: Capture) -> None:
    message = refused([*name.split(), "--no-such-option", "3"], capsys)
    assert "unknown option '--no-such-option'" in message and f"See `pfmhr {name} --help`" in message
    assert ", ".join(option_names(COMMANDS[name])) in message


@every_command
def test_help_says_every_default(name: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """As people write it; what is None is told in words."""
    monkeypatch.setenv("COLUMNS", "120")
    main([*name.split(), "--help"])
    lines = [line.strip("│ ") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    entries = re.split(r"\n(?=-)", "\n".join(lines))
    for entry in (" ".join(entry.split()) for entry in entries):
        assert "None" not in entry and (not re.search(r"default: \d{4,}", entry) or "--port" in entry)
        if re.match("(-[a-z] [A-Z]+, )?--[a-z][^ ]* [A-Z{\\[]", entry):
            assert "default: " in entry or "(required)" in entry, entry


@every_command
def test_results_can_be_had_as_json(name: str) -> None:
    assert ("--json" in option_names(COMMANDS[name])) is (name not in WITHOUT_JSON)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("trak train", "unknown command 'trak'. Did you mean 'track'? Available: check, convert, retarget, corpus"),
        ("corpus bild", "unknown command of 'pfmhr corpus': 'bild'. Did you mean 'build'? Available: build, add"),
        ("--robot g1 check", "the command comes first, then '--robot'"),
        ("check a.csv --fsp 3", "unknown option '--fsp'. Did you mean '--fps'?"),
        ("check a.csv --fsp=3", "unknown option '--fsp'. Did you mean '--fps'?"),
        ("prior train", "missing: CORPUS, --out. See `pfmhr prior train --help`"),
        ("prior train --stepz 3", "unknown option '--stepz'. Did you mean '--steps'?"),
        ("prior train c -o p --preset smal", "'smal'. Did you mean 'small'? Available: tiny, small, paper. See"),
        ("prior train c -o p --steps many", "cannot read --steps (expected INT, got many)"),
        ("prior train c -o p --steps=many", "cannot read --steps (expected INT, got many)"),
        ("prior train c -o p --threads 0", "--threads must be at least 1 (got 0)"),
        ("prior train c -o", "missing value for argument '-o/--out'. Expected 1 values. See"),
        ("track train x -o r --trim 1", "missing value for argument '--trim'. Expected 2 values. See"),
        (
            "track train x -o r --modulator pdff",
            "'pdff'. Did you mean 'pdf'? Available: none, pfm, recon, pdf, random, shuffled, or your own as package",
        ),
        ("track train x -o r --samples 0", "samples must be at least 1 (got 0)"),
        ("track train x -o r --alpha 2 --p-good 0.1", "--alpha, --p-good would change nothing without a modulator"),
        (
            "track train x -o r --modulator random --prior f",
            "--prior would change nothing with modulator random",
        ),
        ("track train x -o r --prior g1-small --set modulator.kind=none", "--prior would change nothing without"),
        (
            "track train x -o r --prior g1-small --set modulator.pdf_bad=1",
            "pdf_bad would change nothing with modulator pfm",
        ),
        (
            "track train x -o r --reward deepmimic --set adversary.learning_rate=0.1",
            "adversary.learning_rate would change nothing with reward deepmimic",
        ),
        ("study extension x --batch-size 1000", "--batch-size (expected a multiple of 64, got 1000)"),
        ("bench sim --threads 0", "--threads must be at least 1"),
        ("track train x -o r --modulator pdf --prior f --pooled", "--pooled would change nothing with modulator pdf"),
        ("track eval r --horizon 0", "--horizon must be positive"),
        ("bench score --batch 0", "--batch must be at least 1"),
        ("prior eval p c --poses -3", "--poses must be at least 1 (got -3)"),
        ("study data-scale c --transitions -5", "--transitions must be at least 1 (got -5)"),
        ("doctor now", "one word too many: 'now'"),
        ("completion tcsh", "'tcsh'. Available: bash, zsh, fish. See `pfmhr completion --help`"),
    ],
)
def test_wrong_use_is_told_with_what_would_be_right(line: str, told: str, capsys: Capture) -> None:
    assert told in refused(line.split(), capsys)


@pytest.mark.parametrize("name", [name for name in COMMANDS if "--seed" in option_names(COMMANDS[name])])
def test_a_seed_below_zero_is_refused_by_every_command(name: str, capsys: Capture) -> None:
    """On the first of its examples, before anything is looked for."""
    assert "--seed must be 0 or more (got -1)" in refused([*examples(name)[0], "--seed", "-1"], capsys)


def test_the_nearest_name_is_guessed_only_when_it_is_near() -> None:
    assert "Did you mean 'left_knee'? Available: left_knee, waist." in str(
        unknown_name("joint", "left_kne", ["left_knee", "waist"])
    )
    assert "Did you mean" not in str(unknown_name("joint", "head", ["left_knee", "waist"]))


def test_an_error_with_json_is_one_object_too(tmp_path: Path, capsys: Capture) -> None:
    absent = str(tmp_path / "absent.csv")
    assert main(["check", absent, "--json"]) == 2
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert (error["code"], error["where"]) == ("not_found", absent)
    assert shown.err == f"pfmhr: {error['message']}\n"
    assert main(["check", absent, "--jsn"]) == 2  # not the option, not the object
    assert capsys.readouterr().out == ""


def broken(error: BaseException) -> Callable[[], NoReturn]:
    def fail() -> NoReturn:
        raise error

    return fail


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_nobody_foresaw_is_one_message_and_debug_anywhere_shows_more(
    place: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("pfmhr.cli.doctor._facts", broken(RuntimeError("two\nlines")))
    assert main(["doctor", "--json"]) == 2
    shown = capsys.readouterr()
    told = "unexpected RuntimeError: two lines. With --debug it shows where it came from."
    assert shown.err == f"pfmhr: {told}\n"
    assert json.loads(shown.out)["error"] | {"fix": ""} == {"code": "unexpected", "message": told, "fix": ""}
    words = ["doctor", "--json"]
    words.insert(place, "--debug")
    assert main(words) == 2
    shown = capsys.readouterr()
    assert "Traceback" in shown.err and shown.err.endswith(f"pfmhr: {told}\n")


def test_an_interruption_is_one_line_and_130(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("pfmhr.cli.doctor._facts", broken(KeyboardInterrupt()))
    assert main(["doctor"]) == 130
    shown = capsys.readouterr()
    assert shown.err == "pfmhr: interrupted; the same command goes on where it can\n" and shown.out == ""


@pytest.mark.parametrize(
    "words", [["--help"], ["prior", "train", "--help"], ["completion", "bash"], ["check", "--fly"]]
)
def test_a_reader_that_has_gone_is_met_with_silence(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    # Of a wrong option nothing goes to stdout; there it is stderr that nobody reads.
    where = {"stderr": writing} if "--fly" in words else {"stdout": writing, "stderr": subprocess.PIPE}
    done = subprocess.run([sys.executable, "-m", "pfmhr", *words], **where, text=True)
    os.close(writing)
    assert done.returncode == 141 and not done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_behind_stdout_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "pfmhr"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("pfmhr: ") and "No space left on device" in done.stderr


def test_another_pipe_that_breaks_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pfmhr.cli.doctor._facts", broken(BrokenPipeError("the encoder has gone")))
    assert main(["doctor"]) == 2
    assert "the encoder has gone" in capfd.readouterr().err


class Terminal(io.StringIO):
    """Where text would be coloured."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("variable", "coloured"), [("", True), ("1", False)])
def test_colours_are_left_out_when_asked(variable: str, coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", variable)
    for show in (lambda: console.print_table("", ["name"], [["value"]]), lambda: main(["doctor", "--help"])):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        show()
        assert ("\x1b[" in terminal.getvalue()) is coloured


def test_a_pipe_gets_no_colours(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console.print_table("title", ["name"], [["value"]])
    console.remark("beside")
    main(["doctor", "--help"])
    shown = capsys.readouterr()
    assert "value" in shown.out and "\x1b[" not in shown.out + shown.err


def test_json_holds_finite_numbers_only(capsys: Capture) -> None:
    console.print_json({"a": [1.5, float("nan")], "b": {"c": (float("inf"), True)}})
    assert json.loads(capsys.readouterr().out) == {"a": [1.5, None], "b": {"c": [None, True]}}


LINES = """
check walk.csv --fps 50
convert walk.csv walk.npz --fps 50 --to-fps 30
corpus build corpus clips/squat.npz clips/march.npz clips/turn.npz
corpus add corpus clips/bow.npz
corpus subset corpus half --size 50
corpus info corpus --verify
prior train corpus -o prior --preset tiny --steps 2 --batch-size 64
prior extend prior corpus -o more --steps 2 --batch-size 64
prior eval prior corpus --poses 20
prior sample prior -o poses.npz --count 3
prior info prior
score walk.npz --prior prior -o scores
calibrate walk.npz --prior prior -o walk.calibration.npz
distance train corpus -o field --pairs.count 300 --steps 2 --batch-size 64
study perturbation --prior prior --data walk.npz --transitions 20 -o studies
study extension clips --steps 2 --batch-size 64
doctor
""".strip().splitlines()


def test_with_json_stdout_is_exactly_one_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, g1: Robot
) -> None:
    """Also the second time, when trainings say that they are done."""
    monkeypatch.chdir(tmp_path)
    embedded_motion("walk", g1).write(Path("walk.csv"))
    Path("clips").mkdir()
    for clip in CLIPS:
        embedded_motion(clip, g1).write(Path(f"clips/{clip}.npz"))
    again = [line for line in LINES if line.startswith(("prior train", "distance train", "study shared"))]
    for line in [*LINES, *again]:
        assert main([*line.split(), "--json"]) == 0, line
        assert isinstance(json.loads(capsys.readouterr().out), dict), line


def test_progress_without_a_terminal_says_how_long_it_will_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resumed at 100 of 1,000, then 100 more in 30 s: the rest takes eight times that. So it does of the next run."""
    clock = iter([0.0, 30.0, 300.0, 900.0, 930.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with console.training_bar("training") as progress:
        for done in (100, 200, 1000, 100, 200):
            progress(done, 1000, "success 50 %")
    assert capsys.readouterr().err.splitlines() == [
        "training 100/1,000: success 50 %",
        "training 200/1,000: success 50 %, 4 min left",
        "training 1,000/1,000: success 50 %",
        "training 100/1,000: success 50 %",
        "training 200/1,000: success 50 %, 4 min left",
    ]
