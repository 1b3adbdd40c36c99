"""The process of one cell: trains what a spec file says, ending with whoever started it.

A worker that is killed cannot stop its cell. The cell would go on alone and hold the lock of the directory in
which the next attempt has to go on. So it listens to its standard input, of which the worker holds the other end:
when that is gone, however it went, the cell goes too. Everything up to its last checkpoint is kept.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

from pfmhr.errors import InputError


def obey_starter() -> None:
    """Take interruptions, and leave at once when the other end of the standard input is closed."""
    # Ray's workers, and what a script starts in the background, are deaf to Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def listen() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


def run_cell(spec: Path, out: Path, threads: int) -> int:
    """Train the run of a spec file into ``out``; returns an exit code, with what went wrong as JSON on stdout."""
    try:
        import torch

        from pfmhr.provenance import provenance
        from pfmhr.tracking.spec import RunSpec

        torch.set_num_threads(threads)
        RunSpec.read(spec).train(out, threads, made_by=provenance())
    except KeyboardInterrupt:
        return 130
    except InputError as error:
        return _fail(error.code, str(error))
    except Exception as error:
        traceback.print_exc()
        return _fail("unexpected", f"unexpected {type(error).__name__}: {error}")
    return 0


def _fail(code: str, message: str) -> int:
    print(json.dumps({"error": {"code": code, "message": " ".join(message.split())}}))
    return 2


def main() -> int:
    """``SPEC OUT THREADS``."""
    obey_starter()
    spec, out, threads = sys.argv[1:]
    return run_cell(Path(spec), Path(out), int(threads))


if __name__ == "__main__":
    sys.exit(main())
