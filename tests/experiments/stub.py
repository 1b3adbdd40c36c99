"""Stands for a cell's program in tests of what runs cells: does within a moment what the clip's name says."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from pfmhr.experiments.cell import obey_starter

spec, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
clip = spec["motions"][0]["place"]
what = Path(clip).name
steps, attempts = out / "metrics.jsonl", out / "attempts"


def stop(code: str, message: str) -> NoReturn:
    print(json.dumps({"error": {"code": code, "message": message}}))
    sys.exit(2)


def saved(*_: Any) -> NoReturn:
    with (out / "interrupted").open("a") as note:
        note.write("once\n")
    sys.exit(130)


def train(first: int) -> None:
    """Ten steps, each a line of metrics; going on where the last attempt stopped."""
    for step in range(first, 10):
        with steps.open("a") as log:
            log.write(json.dumps({"step": 10 * (step + 1), "process": os.getpid()}) + "\n")
        while step == 4 and not (out / "go").exists() and what == "waits":
            time.sleep(0.02)


obey_starter()
signal.signal(signal.SIGINT, saved)
attempt = len(attempts.read_text().split()) + 1 if attempts.exists() else 1
with attempts.open("a") as tried:
    tried.write(f"{os.getpid()}\n")
print(f"{what}, attempt {attempt}", file=sys.stderr)
if what == "refused":
    stop("not_found", "no such motion")
if what == "fails" or (what == "fails_once" and attempt == 1):
    stop("unexpected", "the disk is on fire")
done = len(steps.read_text().splitlines()) if steps.exists() else 0
if what == "dies_once" and attempt == 1:
    done = train(done) or 0
    os.kill(os.getpid(), signal.SIGKILL)
train(done)
seed = spec["tracker"]["seed"]
curve = [{"samples": 0, "success": 0.0}, {"samples": 100, "success": 1.0}]
final = {"random": {"success": 0.9, "position_error": 0.02, "rotation_error": 0.1}}
result = {"samples_to_80": 80 + seed, "samples": 100, "grid": 10, "seconds": 6.0, "final": final, "evaluations": curve}
told = {"clip": clip, "place": os.getcwd(), "omp": os.environ["OMP_NUM_THREADS"]}
(out / "result.json").write_text(json.dumps({**result, **told}))
