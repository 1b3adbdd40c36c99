"""Accounts of a search as stored figures: ``python -m tests.fuzz.figures accounts.json --before older.json``.

``older.json`` is the account of the same generators on an older version: what they find there shows that they can.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from pfmhr.files import write_json
from pfmhr.provenance import provenance
from tests.fuzz.arrays import LIMIT
from tests.fuzz.batch import MEMORY
from tests.fuzz.kinds import MODULES

MENDED = Path(__file__).with_name("test_mended.py")
KINDS_OF_FINDINGS = {
    "too slow": "longer than five seconds",
    "the process ended": "the process ended, or did not hear that its time was over",
    "MemoryError": "more memory than there was",
    "Warning": "a warning of a library",
    "cannot be printed": "a message with control characters",
    "a message of": "a message without bounds",
    "loaded, but": "loaded as nonsense",
    "stdout": "something printed",
    "leaves a file": "a file left behind",
    "a valid file": "a valid file refused",
    "unforeseen": "a failure that nobody foresaw, as a message",
}


def sort_of(finding: str) -> str:
    """What kind of finding it is; another error than ours by its name."""
    start = finding.partition("[")[0][:400]
    known = next((said for mark, said in KINDS_OF_FINDINGS.items() if mark in start), None)
    name = re.match(r"\w+", start)
    return known or f"another error: {name[0] if name else start[:20]}"


def figures(account: dict[str, Any]) -> dict[str, Any]:
    """One kind's account without what names places on a machine."""
    seconds = account["seconds"]
    return {
        **{name: account[name] for name in ("cases", "loaded", "refused", "unchanged")},
        "found": len({case for case, _ in account["found"]}),
        "findings": dict(Counter(sort_of(what) for _, what in account["found"]).most_common()),
        "seconds": round(seconds, 1),
        "slowest_seconds": round(account["slowest"], 2),
        "slowest_case": account["slowest_case"],
        "peak_megabytes": account["peak_mb"],
        "changes": dict(sorted(account["changes"].items())),
        "refusals": dict(sorted(account["codes"].items(), key=lambda entry: -entry[1])),
    }


def mended() -> list[str]:
    """What was found and mended: each has a test that says so."""
    tests = [node for node in ast.parse(MENDED.read_text()).body if isinstance(node, ast.FunctionDef)]
    return [node.name.removeprefix("test_").replace("_", " ") for node in tests if node.name.startswith("test_")]


def _read(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Figures by kind, in the order of the kinds."""
    read = {name: figures(each) for path in paths for name, each in json.loads(path.read_text()).items()}
    return {name: read[name] for name in MODULES if name in read}


def _row(name: str, kind: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """A line of the documentation's table."""
    return {
        "kind": name,
        "cases": f"{kind['cases']:,}",
        "loaded": f"{kind['loaded']:,}",
        "refused": f"{kind['refused']:,}",
        "broke": kind["found"],
        "slowest s": kind["slowest_seconds"],
        "most MB": kind["peak_megabytes"],
        "broke before": f"{before['found']} of {before['cases']:,}" if before else "–",
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.figures", description=__doc__)
    parser.add_argument("accounts", type=Path, nargs="+", help="of a kind that is in several the last one counts")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--before", type=Path, nargs="*", default=[])
    parser.add_argument("--version-before", help="the commit that was searched before")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--note", help="how this was measured, where that is not plain")
    options = parser.parse_args()
    now, older = _read(options.accounts), _read(options.before)
    kept = ("cases", "loaded", "refused", "found", "findings", "slowest_seconds", "peak_megabytes")
    cases = sum(kind["cases"] for kind in now.values())
    command = f"python -m tests.fuzz.run --kind all --cases {cases // max(len(now), 1)} --seed {options.seed}"
    content = {
        **{**provenance(), "command": command},
        "note": options.note,
        "limits": {"seconds": 5, "megabytes": MEMORY // 2**20, "unpacked_megabytes": LIMIT // 2**20},
        "cases": cases,
        "found": sum(kind["found"] for kind in now.values()),
        "rows": [_row(name, kind, older.get(name)) for name, kind in now.items()],
        "kinds": now,
        "mended": mended(),
        "before": {
            "commit": options.version_before,
            "cases": sum(kind["cases"] for kind in older.values()),
            "found": sum(kind["found"] for kind in older.values()),
            "kinds": {name: {key: kind[key] for key in kept} for name, kind in older.items()},
        },
    }
    write_json(options.output, content)


if __name__ == "__main__":
    main()
