"""Runs side by side: samples to 80 %, errors at the end, over seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.files import save_figure
from pfmhr.foreign import read_json
from pfmhr.learning.runs import RUN
from pfmhr.tracking.rewards.available import label_of
from pfmhr.tracking.runs import RESULT, read_result, require_entries

FIGURES = ("success", "success_strict", "position_error", "rotation_error", "body_error")
"""What is compared of evaluations."""


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed only."""

    name: str
    results: tuple[dict[str, Any], ...]

    @property
    def row(self) -> dict[str, Any]:
        """Means and population deviations over seeds, as the paper reports them."""
        reached = [result["samples_to_80"] for result in self.results if result["samples_to_80"] is not None]
        final = [result["final"]["random"] for result in self.results]
        row: dict[str, Any] = {
            "name": self.name,
            **{key: self.results[0][key] for key in ("motions", "reward", "modulator", "actions")},
            "seeds": len(self.results),
            "converged": len(reached),
            "samples_to_80": _spread([value / 1e6 for value in reached]),
            "grid": max(result["grid"] for result in self.results) / 1e6,
        }
        for key in FIGURES:
            row[key] = _spread([each[key] for each in final if each[key] is not None])
        row["minutes"] = _spread([result["seconds"] / 60.0 for result in self.results])
        return row


def grouped(directories: Sequence[Path]) -> list[Group]:
    """Results of finished runs, those with equal clips and settings together."""
    groups: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for directory in directories:
        result, about = _read(directory)
        settings = flat(about["config"])
        seed = settings.pop("seed")
        clips = [clip["sha256"][:8] for clip in about.get("motions", ())]
        settings |= {"clips": " ".join(clips), "robot": about.get("robot_sha256", "")[:8]}
        settings |= {"prior_weights": (about.get("prior_sha256") or "")[:8]}
        seeds = groups.setdefault((name_of(result), json.dumps(settings, sort_keys=True)), {})
        if seed in seeds:
            raise InputError(f"two runs of seed {seed} that are otherwise the same", where=directory, code="bad_input")
        seeds[seed] = result
    if not groups:
        raise InputError("no runs to compare", code="bad_input")
    names = _told_apart(list(groups))
    return [Group(name, tuple(results.values())) for name, results in zip(names, groups.values(), strict=True)]


def _read(directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Result and settings of a finished run, with all in them that a comparison looks at."""
    result = read_result(directory)
    if "summary" in result:
        fix = "Compare where it was trained, or show the stored report: `pfmhr report REPORT.json`."
        text = "of this run there is only what a stored report told"
        raise InputError(text, where=directory, fix=fix, code="not_found")
    kinds = {"motions": list, "modulator": str, "reward": str, "actions": str, "seed": int, "evaluations": list}
    numbers = {"samples_to_80": int | float | None, "grid": int | float, "seconds": int | float}
    require_entries(result, directory / RESULT, **kinds, **numbers, final=dict, time_shares=dict)
    require_entries(result["final"], directory / RESULT, random=dict)
    try:
        about = read_json(directory / RUN, "bad_run")
    except FileNotFoundError:
        raise InputError("no tracking run here", where=directory, expected=RUN, code="not_found") from None
    require_entries(about, directory / RUN, config=dict)
    require_entries(about["config"], directory / RUN, seed=int)
    return result, about


def flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Nested settings by their last names; one that is there already has its group's before it."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        inner = flat(value) if isinstance(value, dict) else {name: value}
        found |= {f"{name}.{key}" if key in found else key: each for key, each in inner.items()}
    return found


def _told_apart(groups: Sequence[tuple[str, str]]) -> list[str]:
    """Names of groups; those that share one also say in what they differ."""
    names = []
    for name, settings in groups:
        mine = json.loads(settings)
        others = [json.loads(theirs) for other, theirs in groups if other == name and theirs != settings]
        apart = [key for key in mine if any(each.get(key) != mine[key] for each in others)]
        names.append(", ".join([name, *(f"{key} {mine[key]}" for key in apart)]))
    return names


PRIORS = {"none": "", "pfm": " + PFM-HR", "recon": " + FM-Recon", "pdf": " + PDF-HR"}
PRIORS |= {"random": " × random", "shuffled": " × PFM-HR's factors, shuffled"}
"""What is put on the reward, by modulator."""


def name_of(result: dict[str, Any]) -> str:
    """What a run is, its seed aside: "walk, ADD, PFM-HR, residual"."""
    clips = result["motions"]
    what = clips[0] if len(clips) == 1 else f"{len(clips)} clips"
    return f"{what}, {label_of(result['reward'])}{PRIORS[result['modulator']]}, {result['actions']}"


def _spread(values: Sequence[float]) -> tuple[float, float] | None:
    """Mean and population standard deviation; None of nothing."""
    return (float(np.mean(values)), float(np.std(values))) if values else None


def as_text(row: dict[str, Any]) -> list[str]:
    """A row for a table; "Failed" where no seed converged."""

    def both(key: str, digits: int, unit: float = 1.0) -> str:
        if row[key] is None:
            return "–"
        mean, deviation = row[key]
        return f"{unit * mean:.{digits}f} ± {unit * deviation:.{digits}f}"

    reached = "Failed" if row["samples_to_80"] is None else both("samples_to_80", 2)
    if 0 < row["converged"] < row["seeds"]:
        reached += f" ({row['converged']} of {row['seeds']})"
    return [
        row["name"],
        str(row["seeds"]),
        reached,
        both("success", 1, 100.0),
        both("success_strict", 1, 100.0),
        both("position_error", 1, 1000.0),
        both("rotation_error", 3),
        both("minutes", 1),
    ]


def curves(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Per run what its evaluations found, small enough to keep."""
    return [
        {
            "name": group.name,
            "seed": result["seed"],
            "samples_to_80": result["samples_to_80"],
            "minutes": result["seconds"] / 60.0,
            "time_shares": result["time_shares"],
            "samples": [each["samples"] for each in result["evaluations"]],
            **{
                key: [each[key] if each[key] is None else round(each[key], 4) for each in result["evaluations"]]
                for key in FIGURES
            },
        }
        for group in groups
        for result in group.results
    ]


def joined(runs: Sequence[dict[str, Any]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Samples ``(T,)`` at which all of the runs were judged, and the success of each there ``(R, T)``."""
    curves = [dict(zip(run["samples"], run["success"], strict=True)) for run in runs]
    samples = sorted(set.intersection(*(set(curve) for curve in curves)))
    return np.array(samples, dtype=np.float64), np.array([[curve[at] for at in samples] for curve in curves])


COLUMNS = ["run", "seeds", "samples to 80 % (M)", "success %", "at 0.5 m %", "E_pos mm", "E_rot rad", "minutes"]


def draw_curves(runs: Sequence[dict[str, Any]], path: Path) -> None:
    """Success over samples of runs as :func:`curves` gives them: a line per name, a band from least to most."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    for name in dict.fromkeys(run["name"] for run in runs):
        seeds = [run for run in runs if run["name"] == name]
        samples, success = joined(seeds)
        (line,) = axes.plot(samples / 1e6, success.mean(axis=0), label=name)
        axes.fill_between(
            samples / 1e6, success.min(axis=0), success.max(axis=0), alpha=0.2, color=line.get_color(), lw=0
        )
    axes.axhline(0.8, color="grey", lw=0.8, ls=":")
    axes.set(xlabel="samples (million)", ylabel="share of the reference tracked", ylim=(0, 1.02))
    axes.legend(frameon=False, fontsize=8)
    save_figure(figure, path, dpi=150)
