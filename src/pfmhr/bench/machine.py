"""Where and with what a number was measured."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pfmhr
from pfmhr.motion.checks.paths import available_cores


def provenance() -> dict[str, Any]:
    """The command, versions and machine of this run, to stand beside its results."""
    return {
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "pfmhr": pfmhr.__version__,
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "cores": available_cores(),
        "processor": _processor(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
