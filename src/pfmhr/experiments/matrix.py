"""An experiment is data: methods × skills × action spaces × seeds, each skill with its budget, in a toml file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.experiments.keys import METHOD, SHARED, SKILL, TOP
from pfmhr.foreign import read_toml

EMBEDDED = "embedded:"
"""Begins the names of clips that come with the package."""
PLAIN = "add"
"""The method everything is compared with, where the matrix has it and does not say another; its first otherwise."""
_DECIDED = ("seed", "samples", "environment.actions")
"""Settings that a matrix has its own words for, by which it knows its cells."""
_PLACES = ("motion", "seeds", "skills")
"""Settings that say which cells there are, and are no options of a run."""


@dataclass(frozen=True)
class Cell:
    """One training run of the matrix."""

    skill: str
    method: str
    actions: str
    seed: int
    options: tuple[tuple[str, Any], ...]
    """Options of ``pfmhr track train``, as written on the command line without the dashes."""
    motions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Folder of the run."""
        return f"{self.skill}-{self.method}-{self.actions}-{self.seed}"

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that decides the outcome."""
        return {"motions": list(self.motions), **dict(self.options)}

    @property
    def budget(self) -> int:
        """Samples it is to have."""
        return budget_of(self.settings)

    def arguments(self, out: Path, threads: int, data: Path | None = None) -> list[str]:
        """The command line of this run, after ``pfmhr``, with clips found below ``data``."""
        words = ["track", "train", *self._found(data), "-o", str(out), "--threads", str(threads)]
        for option, value in self.options:
            if value is True:
                words.append(f"--{option}")
            elif value is not False:
                values = value if isinstance(value, tuple) else [value]
                words += [f"--{option}", *map(str, values)]
        return words

    def clips(self, data: Path | None = None) -> list[Path]:
        """Files of the clips, with those of the matrix found below ``data``; none for embedded ones."""
        return [Path(motion) for motion in self._found(data) if not motion.startswith(EMBEDDED)]

    def _found(self, data: Path | None) -> list[str]:
        return [_placed(motion, str(data or "")) for motion in self.motions]


def budget_of(settings: Mapping[str, Any]) -> int:
    """Samples a run of these settings is to have; without a number of its own, the preset's."""
    if "samples" in settings:
        return int(settings["samples"])
    from pfmhr.tracking.presets import tracker_preset

    return tracker_preset(settings.get("preset", "cpu")).samples


@dataclass(frozen=True)
class Matrix:
    """A declared experiment."""

    name: str
    cells: tuple[Cell, ...]
    methods: tuple[str, ...]
    skills: tuple[str, ...]
    actions: tuple[str, ...]
    plain: str
    """The method that all others are compared with."""

    @staticmethod
    def read(path: Path) -> Matrix:
        """From a toml file; anything unknown in it is an error, not a silent default."""
        try:
            content = read_toml(path, "bad_experiment")
        except FileNotFoundError:
            raise InputError("no such experiment", where=path, code="not_found") from None
        except InputError as error:
            raise error.at(path, code="bad_experiment") from error
        _require(path, "the experiment", content, TOP, needed={"methods", "skills"})
        for name, settings in content["methods"].items():
            _require(path, f"methods.{name}", settings, METHOD, needed=set())
            _require_known(path, f"methods.{name}", settings.get("skills", []), content["skills"])
        for name, settings in content["skills"].items():
            _require(path, f"skills.{name}", settings, SKILL, needed={"motion"})
        return _matrix(path, content)

    def against(self, method: str, path: Path) -> Matrix:
        """The same matrix, declared at ``path``, with everything compared with another method."""
        if method not in self.methods:
            expected = ", ".join(self.methods)
            text = "no such method to compare with"
            raise InputError(text, where=path, expected=expected, got=method, code="bad_experiment")
        return replace(self, plain=method)


def _matrix(path: Path, content: dict[str, Any]) -> Matrix:
    actions: tuple[str, ...] = tuple(content.get("actions", [_usual_actions(content)]))
    methods: dict[str, Any] = content["methods"]
    name = content.get("name", path.stem)
    shared = {key.replace("_", "-"): content[key] for key in SHARED if key in content}
    cells = []
    for (seed, skill), space, (method, settings) in product(_turns(content), actions, methods.items()):
        if skill not in settings.get("skills", [skill]):
            continue
        about = content["skills"][skill]
        motions = about["motion"] if isinstance(about["motion"], list) else [about["motion"]]
        options = shared | {
            key.replace("_", "-"): value for key, value in (settings | about).items() if key not in _PLACES
        }
        options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
        changed = [each for table in (content, about, settings) for each in table.get("set", [])]
        _refuse_decided(path, changed)
        options |= ({"set": tuple(changed)} if changed else {}) | {"actions": space, "seed": seed}
        placed = tuple(_placed(motion, content.get("data", "")) for motion in motions)
        cells.append(Cell(skill, method, space, seed, tuple(options.items()), placed))
    _refuse_folders(path, [name], list(methods), list(content["skills"]), [cell.name for cell in cells])
    usual = PLAIN if PLAIN in methods else next(iter(methods))
    matrix = Matrix(name, tuple(cells), tuple(methods), tuple(content["skills"]), actions, usual)
    return matrix.against(content["plain"], path) if "plain" in content else matrix


def _turns(content: dict[str, Any]) -> list[tuple[int, str]]:
    """Seeds and skills in the order they are run: the first seed of every skill before the second of any."""
    seeds = {skill: about.get("seeds", content.get("seeds", [0])) for skill, about in content["skills"].items()}
    rounds = range(max(map(len, seeds.values())))
    return [(own[place], skill) for place in rounds for skill, own in seeds.items() if place < len(own)]


def _usual_actions(content: dict[str, Any]) -> str:
    """The preset's own, of a matrix that names none."""
    if "preset" not in content:
        return "residual"
    from pfmhr.tracking.presets import tracker_preset

    return tracker_preset(content["preset"]).environment.actions


def _placed(motion: str, data: str) -> str:
    return motion if motion.startswith(EMBEDDED) else str(Path(data) / motion)


def _refuse_decided(path: Path, changed: list[str]) -> None:
    """What a matrix declares and ``set`` would change: cells would not be what their names say."""
    for each in changed:
        if each.partition("=")[0].strip() in _DECIDED:
            fix = "Say it with seeds, samples or actions."
            text = "set: this is for the matrix to declare"
            raise InputError(text, where=path, got=each, fix=fix, code="bad_experiment")


def _refuse_folders(path: Path, *kinds: list[str]) -> None:
    """Names become folders: each of its own, and none elsewhere."""
    for name, count in (named for names in kinds for named in Counter(names).items()):
        if count > 1:
            raise InputError(f"two cells would share the folder '{name}'", where=path, code="bad_experiment")
        if not re.fullmatch(r"\w[\w.+-]*", name):
            expected = "letters, digits and . _ + - in names"
            raise InputError("no name for a folder", where=path, expected=expected, got=name, code="bad_experiment")


def _require_known(path: Path, what: str, named: list[str], skills: Mapping[str, Any]) -> None:
    """A method is run on skills of its own matrix."""
    if unknown := sorted(set(named) - set(skills)):
        expected, got = ", ".join(skills), ", ".join(unknown)
        raise InputError(f"{what}: no such skills", where=path, expected=expected, got=got, code="bad_experiment")


def _require(path: Path, what: str, settings: Any, known: Mapping[str, Any], needed: set[str]) -> None:
    if not isinstance(settings, dict):
        raise InputError(f"{what} is not a table", where=path, code="bad_experiment")
    unknown, missing = sorted(set(settings) - set(known)), sorted(needed - set(settings))
    if unknown or missing:
        raise InputError(
            f"{what}: unknown or missing settings",
            where=path,
            expected=", ".join(sorted(known)),
            got=", ".join([*(f"{name}?" for name in unknown), *(f"no {name}" for name in missing)]),
            code="bad_experiment",
        )
    for key, value in settings.items():
        fits, expected = known[key]
        if not fits(value):
            raise InputError(f"{what}: {key}", where=path, expected=expected, got=value, code="bad_experiment")
