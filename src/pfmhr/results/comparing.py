"""Finished runs side by side: those that differ in their seed only are one row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.foreign import read_json
from pfmhr.layout import RESULT, RUN
from pfmhr.results.evaluation import ERRORS
from pfmhr.results.outcome import Outcome, aggregate
from pfmhr.results.records import Stored, from_json
from pfmhr.results.run_result import RunResult, damaged, read_result, read_run_file
from pfmhr.results.wording import figure, reached
from pfmhr.reward.available import suffix_of

COLUMNS = ("run", "seeds", "samples to 80 % (M)", "success %", "at 0.5 m %", "E_pos mm", "E_rot rad", "minutes")
REWARDS = {"add": "ADD", "deepmimic": "DeepMimic"}


@dataclass(frozen=True, kw_only=True)
class Compared(Outcome):
    """One row of a comparison."""

    name: str
    motions: tuple[str, ...]
    reward: str
    modulator: str
    actions: str = ""


@dataclass(frozen=True, kw_only=True)
class RunCurve:
    """What the evaluations of one run found, small enough to keep."""

    name: str
    """Of its row."""
    seed: int | None = None
    samples_to_80: float | None = None
    minutes: float | None = None
    time_shares: Mapping[str, float] | None = None
    samples: tuple[int, ...]
    success: tuple[float, ...]
    success_strict: tuple[float | None, ...] = ()
    position_error: tuple[float | None, ...] = ()
    rotation_error: tuple[float | None, ...] = ()
    body_error: tuple[float | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Comparison(Stored):
    """What ``pfmhr track compare --output`` stores."""

    rows: tuple[Compared, ...]
    curves: tuple[RunCurve, ...]


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed only."""

    name: str
    results: dict[int, RunResult]

    @property
    def row(self) -> Compared:
        """Their figures over seeds."""
        first, outcome = next(iter(self.results.values())), aggregate(self.results)
        known = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
        about = {"motions": first.motions, "reward": first.reward, "modulator": first.modulator}
        return Compared(name=self.name, actions=first.actions, **about, **known)

    @property
    def curves(self) -> list[RunCurve]:
        """Of each run alone."""
        return [_curve(self.name, result) for result in self.results.values()]


def compare(directories: Sequence[Path]) -> Comparison:
    """Rows and curves of finished runs."""
    groups = group_runs(directories)
    curves = tuple(curve for group in groups for curve in group.curves)
    return Comparison(rows=tuple(group.row for group in groups), curves=curves)


def group_runs(directories: Sequence[Path]) -> list[Group]:
    """Results of finished runs, those with equal clips and settings together."""
    groups: dict[tuple[str, str], dict[int, RunResult]] = {}
    for directory in directories:
        result = _whole(directory)
        settings, seed = _settings(directory)
        seeds = groups.setdefault((name_of(result), settings), {})
        if seed in seeds:
            raise InputError(f"two runs of seed {seed} that are otherwise the same", where=directory, code="bad_input")
        seeds[seed] = result
    if not groups:
        raise InputError("no runs to compare", code="bad_input")
    names = _disambiguate(list(groups))
    return [Group(name, results) for name, results in zip(names, groups.values(), strict=True)]


def _whole(directory: Path) -> RunResult:
    """The result of a run that was trained here."""
    result = read_result(directory)
    if result.summary is not None:
        fix = "Compare where it was trained, or show the stored report: `pfmhr report REPORT.json`."
        text = "of this run there is only what a stored report told"
        raise InputError(text, where=directory, fix=fix, code="not_found")
    if not result.motions or "random" not in result.final or not result.evaluations:
        raise damaged(directory / RESULT, "motions, evaluations or final missing")
    return result


@dataclass(frozen=True, kw_only=True)
class _Clip:
    name: str = ""
    sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class _About:
    """What a comparison looks at of a run's settings."""

    config: dict[str, object]
    motions: tuple[_Clip, ...] = ()
    robot_sha256: str | None = None
    prior_sha256: str | None = None


def _settings(directory: Path) -> tuple[str, int]:
    """Everything that decides a run's outcome but its seed, as text; and the seed."""
    try:
        content = read_json(directory / RUN, "bad_run")
    except FileNotFoundError:
        raise InputError("no tracking run here", where=directory, expected=RUN, code="not_found") from None
    about = read_run_file(_About, content, directory / RUN)
    settings = flat(about.config)
    seed = settings.pop("seed", None)
    if not isinstance(seed, int):
        raise damaged(directory / RUN, "seed missing or of another kind")
    settings["clips"] = " ".join(clip.sha256[:8] for clip in about.motions)
    settings["robot"] = (about.robot_sha256 or "")[:8]
    settings["prior_weights"] = (about.prior_sha256 or "")[:8]
    return json.dumps(settings, sort_keys=True), seed


def flat(settings: Mapping[str, object]) -> dict[str, object]:
    """Nested settings by their last names; a name that is there already gets its group's in front."""
    found: dict[str, object] = {}
    for name, value in settings.items():
        inner = flat(value) if isinstance(value, dict) else {name: value}
        found |= {f"{name}.{key}" if key in found else key: each for key, each in inner.items()}
    return found


def _disambiguate(groups: Sequence[tuple[str, str]]) -> list[str]:
    """Names of groups; those that share one also say in what they differ."""
    names = []
    for name, settings in groups:
        mine = json.loads(settings)
        others = [json.loads(theirs) for other, theirs in groups if other == name and theirs != settings]
        apart = [key for key in mine if any(other.get(key) != mine[key] for other in others)]
        names.append(", ".join([name, *(f"{key} {mine[key]}" for key in apart)]))
    return names


def name_of(result: RunResult) -> str:
    """What a run is, its seed aside: "walk, ADD + PFM-HR, residual"."""
    what = result.motions[0] if len(result.motions) == 1 else f"{len(result.motions)} clips"
    reward = REWARDS.get(result.reward, result.reward.rpartition(":")[2])
    return f"{what}, {reward}{suffix_of(result.modulator)}, {result.actions}"


def as_text(row: Compared) -> list[str]:
    """A row of the table with :data:`COLUMNS`; "Failed" where no seed converged."""
    return [
        row.name,
        str(row.seeds),
        reached(row),
        figure(row, "success", 1, 100.0),
        figure(row, "success_strict", 1, 100.0),
        figure(row, "position_error", 1, 1000.0),
        figure(row, "rotation_error", 3),
        figure(row, "minutes", 1),
    ]


def _curve(name: str, result: RunResult) -> RunCurve:
    columns = {key: tuple(_rounded(each.value(key)) for each in result.evaluations) for key in ERRORS}
    return RunCurve(
        name=name,
        seed=result.seed,
        samples_to_80=result.samples_to_80,
        minutes=result.seconds / 60.0,
        time_shares=result.time_shares,
        samples=tuple(result.evaluated_at),
        **columns,  # type: ignore[arg-type]
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def read_comparison(content: object, where: Path) -> Comparison:
    """A stored comparison; earlier versions stored mean and deviation as a pair, in the figure's own place."""
    if isinstance(content, dict) and isinstance(content.get("rows"), (list, tuple)):
        rows = [_unpaired(row) if isinstance(row, dict) else row for row in content["rows"]]
        content = {**content, "rows": rows}
    return from_json(Comparison, content, where)


def _unpaired(row: Mapping[str, object]) -> dict[str, object]:
    """A row of an earlier version as this version stores it."""
    pairs = {name: row.get(name) for name in (*ERRORS, "minutes")}
    needed = row.get("samples_to_80")
    if not any(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs.values()):
        return dict(row)
    means, deviations = (
        {name: pair[side] if isinstance(pair, (list, tuple)) else None for name, pair in pairs.items()}
        for side in (0, 1)
    )
    mean, deviation = needed if isinstance(needed, (list, tuple)) else (None, None)
    # Each seed's own number of samples was not stored.
    return {**row, **means, "deviations": deviations, "mean": mean, "deviation": deviation, "samples_to_80": ()}
