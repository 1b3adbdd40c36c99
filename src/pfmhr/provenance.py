"""Where and with what a number was measured."""

from __future__ import annotations

import platform
import subprocess
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import pfmhr
from pfmhr.motion.checks.paths import available_cores


def provenance() -> dict[str, Any]:
    """The command, versions and machine of this run, to stand beside its results."""
    return {
        "command": _command(),
        "pfmhr": pfmhr.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
        **_versions("numpy", "mujoco", "torch", "rsl-rl-lib"),
        "cores": available_cores(),
        "processor": _processor(),
    }


def _versions(*packages: str) -> dict[str, str]:
    """Of those that are installed."""
    found = {}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            found[package.replace("-", "_")] = metadata.version(package)
    return found


def _command() -> str:
    """The command line, without what changes no result: where it is written, and how errors are shown."""
    program = Path(sys.argv[0]).name
    words = ["pfmhr" if program == "__main__.py" else program, *sys.argv[1:]]  # python -m pfmhr is the same command
    words = [word for word in words if word != "--debug"]
    if "--output" in words:
        place = words.index("--output")
        del words[place : place + 2]
    return " ".join(words)


def _commit() -> str | None:
    """The revision of the source tree this runs from, None for an installed package."""
    here = Path(pfmhr.__file__).parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(here), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # or it is somebody else's tree, with us in its environment
        return git("rev-parse", "--short", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
