"""The reference is made from the package, and nothing of it is left out."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import pfmhr
from pfmhr.cli.commands import COMMANDS
from tests.docs.snippets import DOCS
from tests.test_structure import ORDER


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    sys.path.insert(0, str(DOCS))
    import reference_pages

    return reference_pages


def test_every_module_has_its_place_on_one_page(pages: ModuleType) -> None:
    package = Path(pfmhr.__file__).parent
    files = [path.relative_to(package.parent).with_suffix("") for path in package.rglob("*.py")]
    names = {".".join(file.parts).removesuffix(".__init__") for file in files} - {"pfmhr", "pfmhr.__main__"}
    shown = [name for part in pages.parts() for name in pages.modules(part)]
    assert set(shown) == names and len(shown) == len(names)
    for part in pages.parts():
        text = pages.part_page(part)
        assert all(f".. automodule:: {name}\n" in text for name in pages.modules(part))


def test_parts_come_in_the_order_of_their_imports(pages: ModuleType) -> None:
    assert pages.parts() == [part for part in ORDER if part in pages.parts()]


def test_public_names_are_described_once(pages: ModuleType) -> None:
    text = pages.public_page()
    parts = "".join(pages.part_page(part) for part in pages.parts())
    for name in pfmhr.__all__:
        assert text.count(f".. autoclass:: pfmhr.{name}\n") == 1
        assert f":exclude-members: {name}\n" in parts


def test_every_command_shows_its_own_help(pages: ModuleType) -> None:
    text = pages.command_page()
    commands = [command for group in COMMANDS.values() for command in group]
    assert len(commands) > 30
    pieces = re.split(r"\n(pfmhr [^\n]+)\n~+\n", text)
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    assert set(sections) == {f"pfmhr {command.name}" for command in commands}
    for command in commands:
        section = sections[f"pfmhr {command.name}"]
        assert f"usage: pfmhr {command.name} " in section
        for name in set(inspect.signature(command.function).parameters) & {"out", "seed", "threads", "prior", "json"}:
            assert f"--{name}" in section or name.upper() in section, command.name
    assert "\x1b" not in text
