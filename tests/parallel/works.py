"""Works for the tests of the map; other processes import them."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError


@dataclass(frozen=True)
class Work:
    """Squares numbers; texts ask for something else."""

    folder: Path

    def __call__(self, item: Any) -> Any:
        """Each call leaves a file, so that calls can be counted across processes."""
        with (self.folder / f"{item}.calls").open("a") as handle:
            handle.write(".")
        calls = (self.folder / f"{item}.calls").stat().st_size
        match item:
            case "refused":
                raise InputError("not this one", code="test")
            case "raises":
                raise RuntimeError("broken")
            case "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            case "dies once" if calls == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            case "slow":
                time.sleep(0.5)
            case "unsendable":
                return lambda: None
            case "threads":
                return os.environ.get("OMP_NUM_THREADS")
            case int():
                return item * item
        return item

    def calls(self, item: Any) -> int:
        """How often an item was tried."""
        path = self.folder / f"{item}.calls"
        return path.stat().st_size if path.exists() else 0
