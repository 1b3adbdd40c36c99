"""Search for files that break a reader: ``python -m tests.fuzz.run --kind npz --cases 20000 --seed 3``.

Each batch is a process of its own. A batch that dies is a finding; the search goes on behind the case that killed it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz.batch import Account, bound_memory, in_memory, run_case
from tests.fuzz.kinds import MODULES, kind_of

BATCH = 2000
ROOT = Path(__file__).parents[2]


def search(names: list[str], seed: int, first: int, count: int) -> dict[str, Account]:
    """Cases ``first`` to ``first + count`` of each kind, in one process; again from behind a case that ended it."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        out = Path(folder) / "account.json"
        command = [sys.executable, "-m", "tests.fuzz.batch", str(out), ",".join(names), *map(str, (seed, first, count))]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", str(ROOT / "src"))]))
        about = {
            **os.environ,
            "PYTHONPATH": path,
            "PFMHR_FUZZ_BATCH": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
        }
        with open(Path(folder) / "stdout", "wb") as stdout:
            done = subprocess.run(command, env=about, cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, text=True)
        read = json.loads(out.read_text()) if out.exists() else {}
        accounts = {name: _account(content) for name, content in read.items()}
        if done.returncode == 0:
            return accounts
        where = out.with_suffix(".at")
        if not where.exists() or (done.returncode > 0 and "Timeout (" not in done.stderr):
            raise RuntimeError(done.stderr)  # no case is to blame, but the search itself
        died, name = int(where.read_text()), next(name for name in names if name not in accounts)
    lost = Account(found=[(died, f"the process ended with {done.returncode}: {done.stderr[-1500:]}")])
    before = search([name], seed, first, died - first)[name] if died > first else Account()
    left = first + count - died - 1
    after = search([name], seed, died + 1, left)[name] if left else Account()
    accounts[name] = add(add(before, lost), after)
    rest = names[names.index(name) + 1 :]
    return {**accounts, **(search(rest, seed, first, count) if rest else {})}


def _account(content: dict[str, Any]) -> Account:
    found = [(int(case), str(what)) for case, what in content["found"]]
    return Account(
        **{**content, "changes": Counter(content["changes"]), "codes": Counter(content["codes"]), "found": found}
    )


def add(one: Account, other: Account) -> Account:
    """Two accounts of one kind as one."""
    slower = one if one.slowest >= other.slowest else other
    return Account(
        **{
            name: getattr(one, name) + getattr(other, name)
            for name in ("cases", "loaded", "refused", "unchanged", "seconds")
        },
        slowest=slower.slowest,
        slowest_case=slower.slowest_case,
        peak_mb=max(one.peak_mb, other.peak_mb),
        changes=one.changes + other.changes,
        codes=one.codes + other.codes,
        found=one.found + other.found,
    )


def show(name: str, seed: int, case: int, keep: Path) -> None:
    """Make one case again, keep its files and say what comes of it."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as scratch:
        kind = kind_of(name, Path(scratch))
        bound_memory()
        keep.mkdir(parents=True, exist_ok=True)
        changes, verdict = run_case(name, kind, seed, case, keep)
        print(f"{name} {seed} {case}: {', '.join(changes) or 'unchanged'}\n{verdict.outcome} {verdict.detail}")
        print(f"{verdict.seconds:.3f} s, files in {keep}")
        if verdict.outcome != "loaded":
            kind.read(keep)  # with its traceback


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--kind", choices=[*MODULES, "all"], default="all")
    parser.add_argument("--cases", type=int, default=1000, help="of each kind (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="show this case again, and keep its files")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "pfmhr-fuzz")
    parser.add_argument("--output", type=Path, help="where the account goes, as JSON")
    options = parser.parse_args()
    names = list(MODULES) if options.kind == "all" else [options.kind]
    if options.only is not None:
        show(names[0], options.seed, options.only, options.keep / names[0])
        return 0
    accounts: dict[str, Account] = {}
    for name in names:
        account = Account()
        for first in range(0, options.cases, BATCH):
            account = add(account, search([name], options.seed, first, min(BATCH, options.cases - first))[name])
        accounts[name] = account
        print(f"{name:12} {account.cases} cases, {account.loaded} loaded, {account.refused} refused, "
              f"{len(account.found)} found, {account.cases / max(account.seconds, 1e-9):.0f}/s, slowest "
              f"{account.slowest:.2f} s ({account.slowest_case}), {account.peak_mb} MB", flush=True)  # fmt: skip
        for case, what in account.found[:200]:
            print(f"  {case}: {what}")
        if options.output:
            options.output.write_text(json.dumps({each: vars(known) for each, known in accounts.items()}, indent=1))
    return int(any(account.found for account in accounts.values()))


if __name__ == "__main__":
    sys.exit(main())
