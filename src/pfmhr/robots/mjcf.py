"""What an MJCF would grow into, from its XML alone: MuJoCo repeats, attaches and allocates as much as a file says."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from pfmhr.errors import InputError
from pfmhr.foreign import read_file, require_file

MAX_XML_BYTES = 64 * 2**20
"""Limit of each XML file."""
MAX_ASSET_BYTES = 2**30
"""Limit of each mesh, texture or height field."""
MAX_ELEMENTS = 20_000
"""Elements after all repetitions: MuJoCo needs seconds for so many, and its time grows with their square."""
MAX_NUMBERS = 2**27
"""Pixels, heights and numbers of the user that a file has allocated: two textures of 8192 × 8192."""
MAX_DEPTH = 32
"""Files that include or attach one another, one within the other."""

_REPEATED = ("replicate", "composite", "flexcomp")
"""Elements whose ``count`` multiplies what they make and what is in them."""
_ALLOCATED = {"texture": ("width", "height"), "hfield": ("nrow", "ncol"), "user": ("dim",), "skin": ("subgrid",)}
"""Elements that become as many numbers as the product of these attributes."""
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_MARKUP = re.compile(rb"""<!--.*?-->|<(?:[^<>"']|"[^"]*"|'[^']*')*>""", re.DOTALL)
"""A comment, or a whole tag: what looks like a comment within the quotes of a tag is none."""


def require_bounded(path: Path) -> None:
    """Refuse an MJCF that would take MuJoCo minutes or more memory than a robot needs; nothing is compiled here.

    Raises:
        InputError: no XML, entities of its own, too many repetitions, files too large or nested too deep.
    """
    _grown(path, (), {})


def _grown(path: Path, above: tuple[Path, ...], known: dict[Path, float]) -> float:
    """Elements that a model file becomes, with all it includes and attaches; ``known`` of files before."""
    if path.resolve() not in known:
        census = _Census(path, above)
        census.read(path, 1.0)
        census.require_assets()
        largest = max([_grown(part, (*above, path), known) for part in census.models()], default=0.0)
        census.count(census.attached * largest)
        known[path.resolve()] = census.elements
    return known[path.resolve()]


class _Census:
    """One model file, counted element by element."""

    def __init__(self, path: Path, above: tuple[Path, ...]) -> None:
        self.path, self._above = path, above
        self.elements = self.numbers = self.attached = 0.0
        self._folders, self._assets, self._models = {Path()}, list[str](), list[str]()
        self._open, self._read = list[Path](), set[Path]()

    def read(self, path: Path, factor: float) -> None:
        """Count the elements of a file that stands ``factor`` times where it is."""
        self._require_shallow(path)
        if path.resolve() in self._read:
            return  # MuJoCo refuses what is included twice
        self._read.add(path.resolve())
        self._open.append(path)
        parser, factors = expat.ParserCreate("iso-8859-1"), [factor]  # every byte is a character, as for MuJoCo

        def start(tag: str, attributes: dict[str, str]) -> None:
            factors.append(factors[-1] * self._meet(tag, attributes, factors[-1]))

        parser.StartElementHandler = start
        parser.EndElementHandler = lambda _tag: factors.pop()
        parser.EntityDeclHandler = self._refuse_entity
        try:
            parser.Parse(_without_comments(read_file(path, MAX_XML_BYTES)), True)
        except expat.ExpatError as error:
            raise InputError(f"not well-formed XML: {error}", where=path, code="bad_mjcf") from None
        self._open.pop()

    def _require_shallow(self, path: Path) -> None:
        within = [*self._above, *self._open]
        if len(within) >= MAX_DEPTH or path.resolve() in {each.resolve() for each in within}:
            what = "files that include or attach one another without end, or nested too deep"
            raise InputError(what, where=self.path, got=path.name, code="bad_mjcf")

    def count(self, elements: float, numbers: float = 0.0) -> None:
        """So many more; refused beyond the limits."""
        self.elements += elements
        self.numbers += numbers
        for found, most, what in (
            (self.elements, MAX_ELEMENTS, "elements"),
            (self.numbers, MAX_NUMBERS, "numbers in textures, height fields and user data"),
        ):
            if found > most:
                raise InputError(
                    "this file grows beyond what a robot needs",
                    where=self.path,
                    expected=f"at most {most:,} {what}, repetitions counted",
                    got=f"{found:,.0f} or more",
                    fix="Look at count, width, height and the like; give the robot alone, without its surroundings.",
                    code="too_large",
                )

    def models(self) -> set[Path]:
        """The files of sub-models."""
        return {found for name in self._models for found in self._found(name)}

    def require_assets(self) -> None:
        """Refuse meshes and the like that are devices or pipes, of which MuJoCo would never see the end."""
        for name in self._assets:
            for found in self._found(name):
                require_file(found, MAX_ASSET_BYTES)

    def _meet(self, tag: str, attributes: Mapping[str, str], factor: float) -> float:
        """Count an element that stands ``factor`` times; returns how often it repeats what is in it."""
        repeated = self._product(attributes, ("count",)) if tag in _REPEATED else 1.0
        numbers = self._product(attributes, _ALLOCATED[tag]) if tag in _ALLOCATED else 0.0
        if tag == "texture" and attributes.get("type") != "2d":  # six sides, whatever the height
            numbers = max(numbers, 6.0 * self._product(attributes, ("width",)) ** 2)
        if tag == "size":  # numbers for each body, joint, …
            each = [self._product(attributes, (name,)) for name in attributes if name.startswith(("nuser_", "nkey"))]
            numbers = MAX_ELEMENTS * max(each, default=0.0)
        self.count(factor * max(1.0, repeated), factor * numbers)
        if tag == "compiler":
            self._folders |= {Path(_decoded(attributes[name])) for name in _FOLDERS if name in attributes}
        if tag == "attach":
            self.attached += factor
        if "file" in attributes:
            self._follow(tag, _decoded(attributes["file"]), factor)
        return repeated

    def _follow(self, tag: str, name: str, factor: float) -> None:
        if tag == "include":
            beside = {folder / name for folder in (self.path.parent, self._open[-1].parent)}
            for found in sorted(beside):
                if found.exists():
                    self.read(found, factor)
        else:
            (self._models if tag == "model" else self._assets).append(name)

    def _found(self, name: str) -> list[Path]:
        """Where a file may lie that is there; the compiler's folders count wherever they are named."""
        places = {self.path.parent / folder / name for folder in self._folders}
        return [place for place in sorted(places) if place.exists()]

    def _product(self, attributes: Mapping[str, str], names: tuple[str, ...]) -> float:
        texts = [text for name in names for text in attributes.get(name, "").split()]
        try:
            values = [float(text) for text in texts]
        except ValueError:
            values = [math.nan]
        if not all(map(math.isfinite, values)):
            got = " ".join(texts)
            raise InputError(f"{names[0]} is not a number", where=self.path, got=got, code="bad_mjcf")
        return math.prod(max(0.0, value) for value in values) if values else 1.0

    def _refuse_entity(self, name: str, *_: object) -> NoReturn:
        fix = "Write out what it stands for."
        raise InputError("an MJCF declares no entities", where=self.path, got=_decoded(name), fix=fix, code="bad_mjcf")


def _without_comments(data: bytes) -> bytes:
    """XML without comments, lines kept: MuJoCo allows in them what XML forbids."""
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    return _MARKUP.sub(lambda found: b"\n" * found[0].count(b"\n") if found[0].startswith(b"<!--") else found[0], text)


def _decoded(text: str) -> str:
    return os.fsdecode(text.encode("iso-8859-1", "replace"))
