"""The tree reads like the paper: imports only point left, and poses never wait for torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pfmhr

PACKAGE = Path(pfmhr.__file__).parent
ORDER = (
    *("text", "errors", "spatial", "extension", "lazy", "layout", "foreign", "files", "resuming", "robots"),
    *("motion", "provenance", "parallel", "retarget", "corpus", "inputs", "learning"),
    *("prior", "score", "distance", "reward", "sim"),
    *("results", "tracking", "bench", "studies", "experiments"),
    *("viewer", "report", "cli"),
)


def imported_parts(file: Path) -> set[str]:
    """The parts of the package a file imports from, at any depth."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("pfmhr.")}


def test_imports_only_point_left() -> None:
    for file in PACKAGE.rglob("*.py"):
        part = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        assert part in ORDER, f"{part} has no place in the order yet"
        right = {name for name in imported_parts(file) if ORDER.index(name) > ORDER.index(part)}
        assert not right, f"{file.name} in {part} imports {right}"


def test_reading_poses_does_not_load_torch() -> None:
    code = (
        "import sys, pfmhr; pfmhr.Robot, pfmhr.Motion, pfmhr.PoseCorpus; "
        "import pfmhr.cli.commands; print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_public_names_are_there() -> None:
    for name in pfmhr.__all__:
        assert getattr(pfmhr, name).__name__ == name
