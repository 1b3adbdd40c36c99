"""Cells as processes: killed ones go on, failed ones are tried again, and an interruption lets them save."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pfmhr.errors import InputError
from pfmhr.experiments.matrix import Cell, budget_of
from pfmhr.files import make_folder, write_json
from pfmhr.foreign import parse_json, read_json

RESULT, METRICS, BEGUN = "result.json", "metrics.jsonl", "run.json"
"""Files of a tracking run. Their names are repeated here because with their homes comes torch, and nothing here
computes: not what starts cells, and not the workers of a cluster."""
LOG, CELL, FAILED, SPEC = "console.log", "cell.json", "failed.json", "spec.json"
ROUND = 5.0
"""Seconds after which outcomes are handed on even if there are none: time to show progress."""
PATIENCE = 600.0
"""Seconds that interrupted cells have for the end of their iteration and its checkpoint, which is minutes for thousands
of environments; another Ctrl-C ends the wait."""
_CELL = (
    "import sys; sys.path[:] = [place for place in sys.path if place]; "
    "from pfmhr.experiments.cell import main; sys.exit(main())"
)
"""What a cell's Python runs: with ``-m`` it would take modules from the folder we are run in, such as a random.py."""
PASSING = ("unexpected", "locked", "")
"""Codes of errors that another attempt may not meet; the others come from settings and files."""


@dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    cell: Cell
    finished: bool
    said: str = ""
    """Why a cell failed."""


@dataclass(frozen=True)
class Setting:
    """How and where cells are run."""

    folder: Path
    """Of all runs; one that every machine sees."""
    attempts: int
    place: Path
    """Where commands are run: paths in the matrix are relative to it."""
    data: Path | None = None
    """Where its clips are, if not there. What a run is does not depend on it."""
    program: tuple[str, ...] = ()
    """What is called with a cell's spec file, directory and threads; :mod:`pfmhr.experiments.cell` if empty."""

    def start(self, cell: Cell, attempt: int) -> Attempt:
        """A process of its own for a cell, on one thread."""
        out = self.folder / cell.name
        make_folder(out)
        if is_summary(out):  # of fewer samples, with no checkpoint to go on from
            (out / RESULT).unlink()
        write_json(out / CELL, cell.settings)
        cell.spec(self.data).write(out / SPEC)
        (out / FAILED).unlink(missing_ok=True)
        said = tempfile.TemporaryFile()  # noqa: SIM115  read and closed when the process has ended
        program = self.program or (sys.executable, "-c", _CELL)
        with (out / LOG).open("a") as log:
            process = subprocess.Popen(
                [*program, str(out / SPEC), str(out), "1"],
                stdin=subprocess.PIPE,  # held open for as long as we live; see cell.py
                stdout=said,
                stderr=log,
                cwd=self.place,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C reaches us alone, and cells once, through us
            )
        return Attempt(cell, attempt, process, said, out)


@dataclass(frozen=True)
class Attempt:
    """A cell that is running."""

    cell: Cell
    number: int
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    out: Path

    def outcome(self) -> tuple[Outcome, bool]:
        """What became of it, and whether another attempt may do better."""
        if self.process.stdin:
            self.process.stdin.close()
        code = self.process.returncode
        error = self._error()
        self.said.close()
        if code == 0 and (self.out / RESULT).exists():
            return Outcome(self.cell, True), False
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        said = error.get("message") or f"{how}; {self._last_line() or 'it said nothing'}"
        return Outcome(self.cell, False, f"{said} (attempt {self.number})"), error.get("code", "") in PASSING

    def _error(self) -> dict[str, Any]:
        self.said.seek(0)
        try:
            return parse_json(self.said.read(), "bad_run")["error"]
        except (InputError, KeyError, TypeError):
            return {}

    def _last_line(self) -> str:
        lines = (self.out / LOG).read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def run_cells(cells: Sequence[Cell], setting: Setting, workers: int) -> Generator[list[Outcome]]:
    """Run cells, so many at once; yields outcomes as they come, at least an empty list every few seconds.

    Closed before its end, or interrupted, it lets what is running save and stop.
    """
    waiting = deque((cell, 1) for cell in cells)
    running: list[Attempt] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(setting.start(*waiting.popleft()))
            ended = _ended(running)
            running = [each for each in running if each not in ended]
            outcomes = []
            for attempt in ended:
                outcome, again = attempt.outcome()
                if again and not outcome.finished and attempt.number < setting.attempts:
                    waiting.appendleft((attempt.cell, attempt.number + 1))
                else:
                    outcomes.append(outcome if outcome.finished else lost(outcome.cell, setting, outcome.said))
            yield outcomes
    finally:
        _stop(running)


def lost(cell: Cell, setting: Setting, said: str) -> Outcome:
    """A cell that failed for good, with the reason left in its folder for reports."""
    make_folder(setting.folder / cell.name)
    write_json(setting.folder / cell.name / FAILED, {"said": said})
    return Outcome(cell, False, said)


def _ended(running: Sequence[Attempt]) -> list[Attempt]:
    """Wait for the first to end, but not for long."""
    until = time.monotonic() + ROUND
    while True:
        ended = [each for each in running if each.process.poll() is not None]
        if ended or time.monotonic() > until:
            return ended
        time.sleep(0.1)


def _stop(running: Sequence[Attempt]) -> None:
    """Interrupt cells as Ctrl-C would; those that do not end in time are killed and lose a few iterations."""
    for each in running:
        each.process.send_signal(signal.SIGINT)
    until = time.monotonic() + PATIENCE
    try:
        for each in running:
            each.process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        pass
    finally:
        for each in running:
            each.process.kill()
            each.process.wait()
            each.outcome()


def is_summary(run: Path) -> bool:
    """Whether there is no more of a run than what a stored report told of it."""
    try:
        result = read_json(run / RESULT, "bad_run")
        return isinstance(result, dict) and result.get("summary") is not None
    except FileNotFoundError:
        return False


def is_finished(cell: Cell, run: Path) -> bool:
    """Whether the run of a cell has a result, of as many samples as it is to have by now."""
    path = run / RESULT
    try:
        result = read_json(path, "bad_run")
    except FileNotFoundError:
        return False
    return is_long_enough(cell, result, path)


def is_long_enough(cell: Cell, result: Any, path: Path) -> bool:
    """Whether a result, read from ``path``, is of as many samples as the cell is to have by now."""
    try:
        return int(result["samples"]) >= cell.budget
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"incomplete result: {error}", where=path, code="bad_run") from error


def require_same(cells: Sequence[Cell], folder: Path) -> None:
    """Refuse a folder in which a cell of the same name was begun with other settings; it may get more samples.

    One that failed before it began, by a setting that was wrong, has nothing to be mixed with.
    """
    for cell in cells:
        path = folder / cell.name / CELL
        if not path.exists() or not any((path.parent / name).exists() for name in (BEGUN, METRICS, RESULT)):
            continue
        before = read_json(path, "bad_run")
        if not isinstance(before, dict):
            raise InputError("not the settings of a cell", where=path, expected="a JSON object", code="bad_run")
        now = json.loads(json.dumps(cell.settings))
        longer = budget_of(before) <= cell.budget
        apart = [
            f"{key}: {before.get(key)} → {now.get(key)}"
            for key in {**before, **now}
            if before.get(key) != now.get(key) and not (key == "samples" and longer)
        ]
        if apart:
            raise InputError(
                f"cell {cell.name} was begun with other settings",
                where=folder,
                got="; ".join(apart),
                fix="Give the method or skill another name, or the runs another folder with -o.",
                code="exists",
            )
