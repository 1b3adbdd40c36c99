"""The process of one cell: the command ``pfmhr``, ending with whoever started it.

A worker that is killed cannot stop its cell. The cell would go on alone and hold the lock of the directory in
which the next attempt has to go on. So it listens to its standard input, of which the worker holds the other end:
when that is gone, however it went, the cell goes too. Everything up to its last checkpoint is kept.
"""

from __future__ import annotations

import os
import runpy
import signal
import threading


def obey_starter() -> None:
    """Take interruptions, and leave at once when the other end of the standard input is closed."""
    # Ray's workers, and what a script starts in the background, are deaf to Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def listen() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


if __name__ == "__main__":
    obey_starter()
    runpy.run_module("pfmhr", run_name="__main__", alter_sys=True)  # the command line lies right of us: no import
