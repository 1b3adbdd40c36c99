"""An experiment is data: methods × skills × action spaces × seeds, each skill with its budget, in a toml file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.experiments.declaration import (
    Actions,
    Experiment,
    Method,
    Skill,
    Table,
    read_table,
    refuse_unknown_skills,
)
from pfmhr.foreign import as_dataclass, read_toml
from pfmhr.motion.named import EMBEDDED
from pfmhr.tracking.presets import tracker_preset
from pfmhr.tracking.run_options import RunOptions
from pfmhr.tracking.spec import RunSpec

PLAIN = "add"
"""The method everything is compared with, where the matrix has it and does not say another; its first otherwise."""
_DECIDED = ("seed", "samples", "environment.actions")
"""Settings that a matrix has its own words for, by which it knows its cells."""
Choices = dict[str, Any]
"""Choices of a run, as written in a table."""
Tables = Mapping[str, tuple[Table, Choices]]


@dataclass(frozen=True)
class Cell:
    """One training run of the matrix."""

    skill: str
    method: str
    actions: str
    seed: int
    options: tuple[tuple[str, Any], ...]
    """Choices of the run that were made, by the names of options of ``pfmhr track train`` without the dashes."""
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

    def spec(self, data: Path | None = None) -> RunSpec:
        """The run, with clips found below ``data``."""
        options = {key.replace("-", "_"): value for key, value in self.options}
        run = as_dataclass(RunOptions, options, f"cell {self.name}", "bad_experiment").spec(self.motions)
        return run if data is None else run.below(data)

    def clips(self, data: Path | None = None) -> list[Path]:
        """Files of the clips, with those of the matrix found below ``data``; none for embedded ones."""
        named = [Path(motion) for motion in self.motions if not motion.startswith(EMBEDDED)]
        return [data / clip if data else clip for clip in named]


def budget_of(settings: Mapping[str, Any]) -> int:
    """Samples a run of these settings is to have; without a number of its own, the preset's."""
    if "samples" in settings:
        return int(settings["samples"])
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
        top, shared = read_table(path, "the experiment", content, Experiment)
        methods = {name: read_table(path, f"methods.{name}", table, Method) for name, table in top.methods.items()}
        skills = {name: read_table(path, f"skills.{name}", table, Skill) for name, table in top.skills.items()}
        for name, (method, _) in methods.items():
            refuse_unknown_skills(path, f"methods.{name}", method.skills, skills)
        return _matrix(path, top, shared, methods, skills)

    def against(self, method: str, path: Path) -> Matrix:
        """The same matrix, declared at ``path``, with everything compared with another method."""
        if method not in self.methods:
            expected = ", ".join(self.methods)
            text = "no such method to compare with"
            raise InputError(text, where=path, expected=expected, got=method, code="bad_experiment")
        return replace(self, plain=method)


def _matrix(path: Path, top: Experiment, shared: Choices, methods: Tables[Method], skills: Tables[Skill]) -> Matrix:
    actions = top.actions or (_usual_actions(shared),)
    cells = []
    # The first seed of every skill before the second of any.
    for (seed, skill), space, (method, (about, of_method)) in product(_turns(top, skills), actions, methods.items()):
        if skill not in (about.skills or (skill,)):
            continue
        own, of_skill = skills[skill]
        # What a skill says counts more than what the experiment does, and what a method says most; settings add up.
        options = {**shared, **of_skill, **of_method}
        changed = [each for table in (shared, of_skill, of_method) for each in table.get("set", [])]
        _refuse_decided(path, changed)
        options |= ({"set": changed} if changed else {}) | {"actions": space, "seed": seed}
        written = ((key.replace("_", "-"), _frozen(value)) for key, value in options.items())
        motions = tuple(_placed(motion, top.data) for motion in own.motions)
        cells.append(Cell(skill, method, space, seed, tuple(written), motions))
    name = path.stem if top.name is None else top.name
    _refuse_folders(path, [name], list(methods), list(skills), [cell.name for cell in cells])
    _refuse_impossible(path, cells)
    usual = PLAIN if PLAIN in methods else next(iter(methods))
    matrix = Matrix(name, tuple(cells), tuple(methods), tuple(skills), actions, usual)
    return matrix if top.plain is None else matrix.against(top.plain, path)


def _turns(top: Experiment, skills: Tables[Skill]) -> list[tuple[int, str]]:
    """Seeds and skills in the order they are run: the first seed of every skill before the second of any."""
    seeds = {name: skill.seeds or top.seeds for name, (skill, _) in skills.items()}
    rounds = range(max(map(len, seeds.values())))
    return [(own[place], skill) for place in rounds for skill, own in seeds.items() if place < len(own)]


def _usual_actions(shared: Choices) -> Actions:
    """The preset's own, of a matrix that names none."""
    return tracker_preset(shared.get("preset", "cpu")).environment.actions


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _refuse_impossible(path: Path, cells: Sequence[Cell]) -> None:
    """Settings that no run can have are found here and not after hours of other cells."""
    for cell in cells:
        try:
            cell.spec()
        except InputError as error:
            told = f"cell {cell.name}: {error.what}"
            raise InputError(
                told, where=path, expected=error.expected, got=error.got, fix=error.fix, code="bad_experiment"
            ) from error


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
