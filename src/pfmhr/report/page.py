"""One page that needs nothing else: sections of text, tables, figures and players, for screen and print."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from pfmhr.files import disk_errors, write_atomically
from pfmhr.report.player import to_json


@dataclass(frozen=True)
class Heading:
    """A title within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Command:
    """What made the figures above it."""

    kind: ClassVar[str] = "command"
    text: str
    about: str = ""


@dataclass(frozen=True)
class Table:
    """Cells of text; columns named in ``theirs`` are the paper's and stand back."""

    kind: ClassVar[str] = "table"
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    theirs: Sequence[str] = ()


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG."""

    kind: ClassVar[str] = "figure"
    svg: str
    caption: str


@dataclass(frozen=True)
class Player:
    """Robots in motion: a scene of :func:`pfmhr.report.player.scene`."""

    kind: ClassVar[str] = "player"
    content: dict[str, Any]
    caption: str

    @property
    def scene(self) -> str:
        """JSON for the page."""
        return to_json(self.content)


POINT = 1.4
"""Pixels of the page a typographic point of a figure may take."""

Part = Heading | Text | Command | Table | Figure | Player


@dataclass
class Section:
    """A part of the page that the top links to."""

    title: str
    parts: list[Part] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Name of the link."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def write_page(path: Path, title: str, lead: str, sections: Sequence[Section]) -> None:
    """Write the whole page to ``path``."""
    from jinja2 import Environment

    files = resources.files("pfmhr.report")
    template = Environment(autoescape=True).from_string((files / "page.html").read_text(encoding="utf-8"))
    script = (files / "player.js").read_text(encoding="utf-8")
    text = template.render(title=title, lead=lead, sections=sections, script=script)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda handle: handle.write(text.encode()))


def drawn(folder: Path, name: str, draw: Callable[[Path], object], caption: str) -> Figure:
    """Let ``draw`` write a figure as SVG and PDF into ``folder``, for papers; returns it for the page."""
    import matplotlib

    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "pdf.fonttype": 42}):
        for ending in ("svg", "pdf"):
            draw(folder / f"{name}.{ending}")
    return Figure(for_any_background((folder / f"{name}.svg").read_text(encoding="utf-8")), caption)


def for_any_background(svg: str) -> str:
    """A drawing of matplotlib without its own paper, whose black follows the colour of the page's text."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    width = re.search(r'<svg[^>]*? width="([0-9.]+)pt"', svg)
    limit = f'<svg style="max-width: {float(width[1]) * POINT:.0f}px"' if width else "<svg"
    head, body = svg[: svg.index(">")], svg[svg.index(">") :]
    svg = limit + re.sub(r' (width|height)="[^"]*"', "", head).removeprefix("<svg") + body
    svg = re.sub(r"fill: ?#(ffffff|fff)\b", "fill: none", svg)
    return re.sub(r"(fill|stroke): ?#000000\b", r"\1: currentColor", svg)
