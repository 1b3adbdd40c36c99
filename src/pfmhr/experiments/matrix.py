"""An experiment is data: methods × skills × action spaces × seeds, declared in a toml file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError

try:
    import tomllib  # type: ignore[import-not-found]
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib  # type: ignore[import-not-found]

_SHARED = ("preset", "environments", "episodes", "evaluate_every")
_TOP = {"name", "data", "seeds", "actions", "methods", "skills", *_SHARED}
_METHOD = {"prior", "modulator", "reward", "t_eval", "alpha", "p_good", "p_bad", "pooled"}
_SKILL = {"motion", "samples", "trim", "fps"}


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

    def arguments(self, out: Path, threads: int) -> list[str]:
        """The command line of this run, after ``pfmhr``."""
        words = ["track", "train", *self.motions, "-o", str(out), "--threads", str(threads)]
        for option, value in self.options:
            if value is True:
                words.append(f"--{option}")
            elif value is not False:
                values = value if isinstance(value, list | tuple) else [value]
                words += [f"--{option}", *map(str, values)]
        return words


@dataclass(frozen=True)
class Matrix:
    """A declared experiment."""

    name: str
    cells: tuple[Cell, ...]
    methods: tuple[str, ...]
    skills: tuple[str, ...]
    actions: tuple[str, ...]
    seeds: tuple[int, ...]

    @staticmethod
    def read(path: Path) -> Matrix:
        """From a toml file; anything unknown in it is an error, not a silent default."""
        try:
            content = tomllib.loads(path.read_text())
        except FileNotFoundError:
            raise InputError("no such experiment", where=path, code="not_found") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"unreadable toml: {error}", where=path, code="bad_experiment") from error
        _require(path, "the experiment", content, _TOP, needed={"methods", "skills"})
        for kind, known in (("methods", _METHOD), ("skills", _SKILL)):
            if not isinstance(content[kind], dict) or not content[kind]:
                raise InputError(f"no {kind}", where=path, expected=f"[{kind}.NAME] tables", code="bad_experiment")
            for name, settings in content[kind].items():
                needed = {"motion"} if kind == "skills" else set()
                _require(path, f"{kind}.{name}", settings, known, needed)
        return _matrix(path, content)


def _matrix(path: Path, content: dict[str, Any]) -> Matrix:
    seeds = tuple(content.get("seeds", [0]))
    actions = tuple(content.get("actions", ["residual"]))
    if not seeds or not all(isinstance(seed, int) for seed in seeds):
        raise InputError("seeds must be whole numbers", where=path, got=seeds, code="bad_experiment")
    if not actions or not set(actions) <= {"residual", "absolute"}:
        raise InputError("unknown action space", where=path, got=actions, code="bad_experiment")
    data = content.get("data", "")
    shared = {key.replace("_", "-"): content[key] for key in _SHARED if key in content}
    cells = []
    # Seeds outermost: after the first round every method and skill has one result.
    for seed, (skill, about), space, (method, settings) in product(
        seeds, content["skills"].items(), actions, content["methods"].items()
    ):
        motions = about["motion"] if isinstance(about["motion"], list) else [about["motion"]]
        options = shared | {key.replace("_", "-"): value for key, value in settings.items()}
        options |= {key: value for key, value in about.items() if key != "motion"}
        options |= {"actions": space, "seed": seed}
        placed = tuple(motion if motion.startswith("embedded:") else str(Path(data) / motion) for motion in motions)
        cells.append(Cell(skill, method, space, seed, tuple(options.items()), placed))
    name = content.get("name", path.stem)
    return Matrix(name, tuple(cells), tuple(content["methods"]), tuple(content["skills"]), actions, seeds)


def _require(path: Path, what: str, settings: Any, known: set[str], needed: set[str]) -> None:
    if not isinstance(settings, dict):
        raise InputError(f"{what} is not a table", where=path, code="bad_experiment")
    unknown, missing = sorted(set(settings) - known), sorted(needed - set(settings))
    if unknown or missing:
        raise InputError(
            f"{what}: unknown or missing settings",
            where=path,
            expected=", ".join(sorted(known)),
            got=", ".join([*(f"{name}?" for name in unknown), *(f"no {name}" for name in missing)]),
            code="bad_experiment",
        )
