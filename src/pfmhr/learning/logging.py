"""Metrics of a run: JSON lines for programs, TensorBoard for people. Both survive kill and resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.files import disk_errors, make_folder, write_atomically
from pfmhr.foreign import parse_json, read_file

METRICS = "metrics.jsonl"


class RunLog:
    """Appends metrics; on a resumed run, what was logged after the checkpoint is dropped first."""

    def __init__(self, directory: Path, step: int) -> None:
        make_folder(directory)
        self._path = directory / METRICS
        self._drop_after(step)
        with disk_errors(self._path):
            self._file = self._path.open("a")
        self._board = _board(directory / "tensorboard", step)

    def write(self, step: int, **values: float) -> None:
        """One line of named numbers."""
        with disk_errors(self._path):
            self._file.write(json.dumps({"step": step, **values}) + "\n")
            self._file.flush()
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Flush everything."""
        with disk_errors(self._path):
            self._file.close()  # writes once more what could not be written
        if self._board is not None:
            self._board.close()

    def _drop_after(self, step: int) -> None:
        if not self._path.exists():
            return
        kept = [json.dumps(line) + "\n" for line in read_metrics(self._path.parent) if line["step"] <= step]
        write_atomically(self._path, lambda handle: handle.write("".join(kept).encode()))


def read_metrics(directory: Path) -> list[dict[str, Any]]:
    """All complete lines of a run's metrics; a line cut short by a kill is passed over."""
    path = directory / METRICS
    try:
        text = read_file(path, growing=True) if path.exists() and path.stat().st_size else b""
        return [line for line in map(_line, text.splitlines()) if line is not None]
    except InputError as error:
        raise error.at(path, code="bad_run") from None


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        line = parse_json(text, "bad_run")
    except InputError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("step"), int) else None


def _board(directory: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None  # metrics.jsonl has everything
    return SummaryWriter(str(directory), purge_step=step + 1)  # hides what is at it or later
