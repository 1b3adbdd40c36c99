"""Ctrl-C waits until nothing is half done."""

from __future__ import annotations

import os
import signal

import pytest

from pfmhr.learning.interruption import deferred_interruption


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_waits_for_the_check() -> None:
    before = signal.getsignal(signal.SIGINT)
    with deferred_interruption() as interruption:
        interruption.check()
        press()
        reached = True
    assert reached and signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        interruption.check()


def test_the_second_is_obeyed_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), deferred_interruption():
        press()
        press()
        pytest.fail("still here")
