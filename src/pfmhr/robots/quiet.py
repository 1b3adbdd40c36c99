"""MuJoCo's warnings: by itself it prints them, and writes MUJOCO_LOG.TXT into whatever folder is the current one."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco


@contextmanager
def no_log_file() -> Iterator[None]:
    """MuJoCo neither prints nor writes a file inside, unless someone else listens to its warnings.

    What it warns of, such as NaN in a file, the caller looks for.
    """
    before = mujoco.get_mju_user_warning()
    silence()
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def silence() -> None:
    """The same for the rest of the process, for simulations.

    A function of C, since one of Python would make the threads of a rollout or a compiler wait for each other; this
    one takes no lock and changes nothing.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(ctypes.pythonapi.Py_IsInitialized)
