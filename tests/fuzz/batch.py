"""A batch of cases in a process of its own: bounded memory, a folder in memory, an account on its way out."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.judging import Verdict, judge
from tests.fuzz.kinds import Kind, kind_of
from tests.fuzz.places import lay

MEMORY = 3 * 2**29
"""Bytes of address space beyond what the process has when it begins."""


@dataclass
class Account:
    """What a batch of one kind came to."""

    cases: int = 0
    loaded: int = 0
    refused: int = 0
    unchanged: int = 0
    """Cases without any change; all of them load, or are findings."""
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_case: int = -1
    peak_mb: int = 0
    """Resident memory above what the process began with."""
    changes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, case: int, changes: tuple[str, ...], verdict: Verdict) -> None:
        """Count one case."""
        self.cases += 1
        self.unchanged += not changes
        self.changes.update(set(changes))
        self.seconds += verdict.seconds
        if verdict.seconds > self.slowest:
            self.slowest, self.slowest_case = verdict.seconds, case
        if verdict.outcome == "loaded":
            self.loaded += 1
        elif verdict.outcome == "refused" and changes:
            self.refused += 1
            self.codes[verdict.detail] += 1
        else:
            detail = verdict.detail if changes else f"a valid file: {verdict.detail}"
            self.found.append((case, f"{detail} [{', '.join(changes)}]"))


def run_case(
    name: str, kind: Kind, seed: int, case: int, folder: Path, seconds: float = 5.0
) -> tuple[tuple[str, ...], Verdict]:
    """Make one case and judge it; the same seed and number make the same case."""
    files, changes = kind.make(Random(f"{name} {seed} {case}"))
    lay({**dict.fromkeys(kind.names, "nothing"), **files}, folder)
    return changes, judge(kind.read, folder, seconds)


def run_batch(name: str, seed: int, first: int, count: int, at: Path | None = None) -> Account:
    """Cases ``first`` to ``first + count``; the number of the present one is kept in the file ``at``."""
    account = Account()
    with tempfile.TemporaryDirectory(dir=in_memory()) as scratch:
        base, folder = Path(scratch) / "valid", Path(scratch) / "case"
        base.mkdir()
        folder.mkdir()
        kind = kind_of(name, base)
        start = _resident()
        number = os.open(at or os.devnull, os.O_CREAT | os.O_WRONLY)
        for case in range(first, first + count):
            os.pwrite(number, b"%020d" % case, 0)
            account.add(case, *run_case(name, kind, seed, case, folder))
        os.close(number)
    account.peak_mb = max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - start) // 2**20
    return account


def _warm_up(name: str, folder: Path) -> None:
    """Read one valid file: what is imported on the way comes before memory is bounded and time is taken."""
    kind = kind_of(name, folder)
    files = next(files for files, changes in map(kind.make, map(Random, range(1000))) if not changes)
    lay(files, folder)
    kind.read(folder)


def in_memory() -> str | None:
    """Where files cost no disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def bound_memory(more: int = MEMORY) -> None:
    """From now on this process gets no more than that much address space beyond what it has."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main(arguments: list[str]) -> None:
    """Run ``kind seed first count`` for each kind of a list; accounts go to the file named first."""
    out, names, seed, first, count = Path(arguments[0]), arguments[1].split(","), *map(int, arguments[2:5])
    with tempfile.TemporaryDirectory(dir=in_memory()) as elsewhere:
        os.chdir(elsewhere)  # what libraries leave in the current folder is seen
        for name in names:
            _warm_up(name, Path(tempfile.mkdtemp(dir=elsewhere)))
        bound_memory()
        before = set(os.listdir("."))
        accounts: dict[str, Any] = {}
        for name in names:
            account = run_batch(name, seed, first, count, out.with_suffix(".at"))
            for left in sorted(set(os.listdir(".")) - before):
                account.found.append((-1, f"leaves a file in the current folder: {left}"))
                before.add(left)
            accounts[name] = vars(account)
            out.write_text(json.dumps(accounts))
        os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1:])
