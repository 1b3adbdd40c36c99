"""One page that needs nothing else: sections of text, tables, figures and players, for screen and print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from pfmhr.files import make_folder, write_atomically
from pfmhr.report.curves import HEIGHT, WIDTH, Curves
from pfmhr.viewer.recording import SCENE, Recording


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
    """Cells of text; columns named in ``theirs`` are the paper's and stand back, those in ``words`` hold sentences."""

    kind: ClassVar[str] = "table"
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    theirs: Sequence[str] = ()
    words: Sequence[str] = ()

    def style(self, column: int) -> str:
        """The class of a column's cells on the page."""
        name = self.columns[column]
        return "theirs" if name in self.theirs else "words" if name in self.words else ""


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG."""

    kind: ClassVar[str] = "figure"
    svg: str
    caption: str
    files: tuple[Path, ...] = ()
    """The same drawing on disk."""
    dark_parts: bool = False
    """Whether it would vanish on dark paper, whatever its black does: a picture of robots."""


@dataclass(frozen=True)
class Player:
    """Robots in motion, and curves under them that share their timeline."""

    kind: ClassVar[str] = "player"
    recording: Recording
    caption: str
    curves: Sequence[Curves] = ()


POINT = (0.66, 1.2)
"""Pixels of the page a typographic point of a figure takes at least and at most."""
BLACKS = ("#000000", "#333333")
"""Colours of a drawing that mean ink."""

Part = Heading | Text | Command | Table | Figure | Player


@dataclass
class Section:
    """A part of the page that the top links to."""

    title: str
    parts: list[Part] = field(default_factory=list)


def write_page(path: Path, title: str, lead: str, sections: Sequence[Section]) -> None:
    """Write the whole page to ``path``."""
    from jinja2 import Environment

    template = Environment(autoescape=True).from_string(
        (resources.files("pfmhr.report") / "page.html").read_text(encoding="utf-8")
    )
    players = [part for section in sections for part in section.parts if isinstance(part, Player)]
    client = to_json(players[0].recording.client) if players else ""  # all scenes of the page share one
    view = f"0 0 {WIDTH:g} {HEIGHT:g}"
    text = template.render(
        title=title, lead=lead, sections=anchored(sections), client=client, place=to_json(SCENE), view=view
    )
    make_folder(path.parent)
    # Names of files may hold bytes that are no text.
    write_atomically(path, lambda handle: handle.write(text.encode(errors="backslashreplace")))


def to_json(content: str) -> str:
    """JSON that may stand inside a page's script element."""
    return json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")


def anchored(sections: Sequence[Section]) -> dict[str, Section]:
    """Sections by the name of the link to them, each of its own."""
    found: dict[str, Section] = {}
    for section in sections:
        name = plain(section.title) or "section"
        found[name if name not in found else f"{name}-{len(found)}"] = section
    return found


def plain(name: str) -> str:
    """A name of letters, digits and hyphens, for links and files."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]


def drawn(folder: Path, name: str, draw: Callable[[Path], object], caption: str, dark_parts: bool = False) -> Figure:
    """Let ``draw`` write a figure as SVG and PDF into ``folder``, for papers; returns it for the page."""
    import matplotlib

    make_folder(folder)
    files = tuple(folder / f"{name}.{ending}" for ending in ("svg", "pdf"))
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,  # ids that no other drawing of the page has, and the same ones every time
        "pdf.fonttype": 42,
        "text.parse_math": False,  # a dollar in a clip's name is a dollar
    }
    with matplotlib.rc_context(settings):
        for file in files:
            draw(file)
    return Figure(for_any_background(files[0].read_text(encoding="utf-8")), caption, files, dark_parts)


def for_any_background(svg: str) -> str:
    """A drawing of matplotlib without its own paper, whose black follows the colour of the page's text."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    head, body = svg[: svg.index(">")], svg[svg.index(">") :]
    width = re.search(r' width="([0-9.]+)pt"', head)
    limits = [f"{float(width[1]) * pixels:.0f}px" for pixels in POINT] if width else []
    style = f' style="min-width: {limits[0]}; max-width: {limits[1]}"' if limits else ""
    head = re.sub(r' (width|height|version|xmlns(:\w+)?)="[^"]*"', "", head)
    body = re.sub(r"fill: ?#(ffffff|fff)\b", "fill: none", body)
    body = re.sub(rf"(fill|stroke): ?({'|'.join(BLACKS)})\b", r"\1: currentColor", body)
    return head + style + _without_idle_ids(body)


def _without_idle_ids(svg: str) -> str:
    """Only the ids that something in the drawing refers to: the rest are the same in every drawing of a page."""
    used = set(re.findall(r"url\(#([^)]+)\)", svg)) | set(re.findall(r'href="#([^"]+)"', svg))
    return re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", svg)
