"""Ctrl-C that waits for the end of what is under way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interruption:
    """Whether Ctrl-C has been pressed."""

    pressed = False

    def check(self) -> None:
        """Raise what Ctrl-C would have raised, at a moment when nothing is half done."""
        if self.pressed:
            raise KeyboardInterrupt


@contextmanager
def deferred_interruption() -> Iterator[Interruption]:
    """Hold back the first Ctrl-C until :meth:`Interruption.check`; a second one is obeyed at once."""
    waiting = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield waiting  # signals reach the main thread only
        return
    before = signal.getsignal(signal.SIGINT)

    def wait(_signal: int, _frame: Any) -> None:
        waiting.pressed = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, wait)
    try:
        yield waiting
    finally:
        signal.signal(signal.SIGINT, before)
