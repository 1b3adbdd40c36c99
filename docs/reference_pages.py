"""Pages of the reference, made from the package itself whenever the documentation is built."""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pfmhr
from pfmhr.cli import main
from pfmhr.cli.commands import COMMANDS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.test_structure import ORDER

FOLDER = Path(__file__).resolve().parent / "reference"
PACKAGE = Path(pfmhr.__file__).parent
COLUMNS = "90"
"""Width of the help texts."""


def write_reference() -> None:
    """Write docs/reference: the public names, one page per part of the tree, and all commands."""
    pages = {"python": public_page(), "commands": command_page()}
    pages |= {f"pfmhr.{part}": part_page(part) for part in parts()}
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = FOLDER / f"{name}.rst"
        if not path.exists() or path.read_text() != text:  # an unchanged page need not be built again
            path.write_text(text)


def parts() -> list[str]:
    """Parts of the package, leftmost first: each imports only from those before it."""
    return [part for part in ORDER if (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").exists()]


def modules(part: str) -> list[str]:
    """Dotted names of a part's modules, packages before what is in them."""
    folder = PACKAGE / part
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    names = [".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in files]
    return sorted(name.removesuffix(".__init__") for name in names)


def public_page() -> str:
    """The names of ``from pfmhr import …``: all of it in a table, then one by one; and where everything else is."""
    names = "\n".join(f"   {name}" for name in pfmhr.__all__)
    options = "   :members:\n   :inherited-members: ABC, BaseException\n"
    classes = "\n".join(f"\n{_heading(name, '-')}\n.. autoclass:: pfmhr.{name}\n{options}" for name in pfmhr.__all__)
    tree = "\n".join(f"   pfmhr.{part}" for part in parts())
    return (
        f"{_heading('Python', '=')}\n.. currentmodule:: pfmhr\n\n"
        "These names are kept stable. Poses are radians in the robot's joint order; tensors come back on the device\n"
        f"they came on, and numpy arrays are accepted.\n\n.. autosummary::\n   :nosignatures:\n\n{names}\n{classes}\n"
        f"{_heading('Everything else', '-')}\n"
        "One page per part of the tree, in the order in which they build on one another.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{tree}\n"
    )


def part_page(part: str) -> str:
    """All modules of one part."""
    public = {getattr(pfmhr, name).__module__: name for name in pfmhr.__all__}
    sections = []
    for name in modules(part):
        # What a package only passes on is described where it is made.
        members = "" if _is_package(name) and not _defines(name) else "   :members:\n   :ignore-module-all:\n"
        hidden = f"   :exclude-members: {public[name]}\n" if name in public else ""
        title = "" if name == f"pfmhr.{part}" else f"\n{_heading(name, '-')}"
        note = f"\n:class:`pfmhr.{public[name]}` is among the :doc:`public names <python>`.\n" if name in public else ""
        sections.append(f"{title}\n.. automodule:: {name}\n{members}{hidden}{note}")
    return _heading(f"pfmhr.{part}", "=") + "\n".join(sections)


def command_page() -> str:
    """Every command's own help, by groups."""
    lines = [_heading("Commands", "=")]
    lines.append("What ``pfmhr COMMAND --help`` prints.\n")
    lines.append((inspect.getdoc(main) or "").partition("\n\n")[2] + "\n")
    for group, commands in COMMANDS.items():
        lines.append(_heading(group[:1].upper() + group[1:], "-"))
        for command in commands:
            shown = "\n".join(f"   {line}".rstrip() for line in command_help(command.name).splitlines())
            lines.append(f"{_heading(f'pfmhr {command.name}', '~')}\n.. code-block:: text\n\n{shown}\n")
    return "\n".join(lines)


def command_help(name: str) -> str:
    """What ``--help`` of a command prints, without colours."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    output = StringIO()
    try:
        with redirect_stdout(output):
            main([*name.split(), "--help"])
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    return re.sub(r"\x1b\[[0-9;]*m", "", output.getvalue()).strip("\n")


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def _is_package(name: str) -> bool:
    return (PACKAGE.parent / name.replace(".", "/") / "__init__.py").exists()


def _defines(name: str) -> bool:
    """Whether a package's own file makes anything, or merely passes names on."""
    tree = ast.parse((PACKAGE.parent / name.replace(".", "/") / "__init__.py").read_text())
    return any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
