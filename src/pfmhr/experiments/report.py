"""Tables of a matrix, from whatever cells are done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pfmhr.errors import InputError
from pfmhr.experiments.cells import ERRORS, Done, failures, finished
from pfmhr.experiments.matrix import Matrix
from pfmhr.experiments.pairs import Efforts, bounds, difference, telling
from pfmhr.experiments.processes import require_same
from pfmhr.experiments.statistics import probability_of_improvement, success_at, typical_ratio

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of a skill's budget, at which success is reported."""


def summarise(matrix: Matrix, folder: Path) -> dict[str, Any]:
    """One row per skill, action space and method, per action space a verdict over all skills, and every run alone."""
    require_same(matrix.cells, folder)
    done = finished(matrix, folder)
    if not done:
        raise InputError("no cell of this experiment is finished", where=folder, code="not_found")
    for prior in {run.cell.settings.get("prior") for run in done} - {None}:
        _require_one("prior", [run for run in done if run.cell.settings.get("prior") == prior])
    for skill in matrix.skills:
        _require_one("clips", [each for each in done if each.cell.skill == skill])
    plain = matrix.plain
    rows = [
        row
        for skill in matrix.skills
        for space in matrix.actions
        for method in matrix.methods
        if (row := _row(done, skill, space, method, plain)) is not None
    ]
    verdicts = [
        verdict
        for space in matrix.actions
        for method in matrix.methods
        if method != plain and (verdict := _verdict(done, matrix, space, method, plain)) is not None
    ]
    return {
        "name": matrix.name,
        "plain": plain,
        "cells": {"finished": len(done), "all": len(matrix.cells)},
        "failed": failures(matrix, folder),
        "core_hours": round(sum(each.result["seconds"] for each in done) / 3600.0, 2),
        "rows": rows,
        "verdicts": verdicts,
        "runs": [each.summary for each in done],
    }


def _require_one(what: str, runs: Sequence[Done]) -> None:
    """Refuse runs that were made with different files of the same name; older ones do not tell."""
    known = {run.cell.name: run.result[f"{what}_sha256"] for run in runs if run.result.get(f"{what}_sha256")}
    if len(set(known.values())) > 1:
        got = ", ".join(f"{name} ({digest[:8]})" for name, digest in known.items())
        raise InputError(f"these runs were not trained with the same {what}", got=got, code="bad_experiment")


def _of(done: Sequence[Done], skill: str, space: str, method: str) -> dict[int, Done]:
    """Finished runs of one combination, by seed."""
    wanted = (skill, space, method)
    return {each.cell.seed: each for each in done if (each.cell.skill, each.cell.actions, each.cell.method) == wanted}


def _row(done: Sequence[Done], skill: str, space: str, method: str, plain: str) -> dict[str, Any] | None:
    runs = _of(done, skill, space, method)
    if not runs:
        return None
    results = [run.result for run in runs.values()]
    efforts = _efforts(runs)
    reached = [each.needed for each in efforts.values() if each.reached]
    final = [result["final"]["random"] for result in results]
    budget = min(result["samples"] for result in results)
    ends = {key: [each.get(key) for each in final] for key in ERRORS}
    ends["success_beginning"] = [result["final"].get("beginning", {}).get("success") for result in results]
    ends["minutes"] = [result["seconds"] / 60.0 for result in results]
    by_budget = [[success_at(result, share * budget) for result in results] for share in SHARES]
    row: dict[str, Any] = {
        "skill": skill,
        "actions": space,
        "method": method,
        "seeds": len(runs),
        "seed_numbers": list(runs),
        "converged": len(reached),
        "samples_to_80": [each.reached_after for each in efforts.values()],
        "mean": _mean(reached),
        "deviation": _deviation(reached),
        "budget": budget / 1e6,
        "success_at": [
            {"samples": share * budget / 1e6, "success": _mean(values), "deviation": _deviation(values)}
            for share, values in zip(SHARES, by_budget, strict=True)
        ],
        **{key: _mean(values) for key, values in ends.items()},
        "deviations": {key: _deviation(values) for key, values in ends.items()},
        "grid": max(result["grid"] for result in results) / 1e6,
        "curve": _curve(results),
        "horizons": _horizons(final),
    }
    gap = None if method == plain else difference(efforts, _efforts(_of(done, skill, space, plain)))
    return row if gap is None else row | {"difference": gap}


def _efforts(runs: dict[int, Done]) -> Efforts:
    return {seed: run.effort for seed, run in runs.items()}


def _horizons(final: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per length of an episode means and deviations over runs; nothing where only one length was looked at."""
    by_horizon = zip(*([each, *each["horizons"]] for each in final if "horizons" in each), strict=True)
    return [
        {
            "horizon": runs[0]["horizon"],
            "seeds": len(runs),
            **{key: _mean([run.get(key) for run in runs]) for key in ERRORS},
            "deviations": {key: _deviation([run.get(key) for run in runs]) for key in ERRORS},
        }
        for runs in by_horizon
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    """Over the runs that have one: an error needs something that was tracked."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


def _deviation(values: Sequence[float | None]) -> float | None:
    """Of the population, as the paper reports it."""
    there = [value for value in values if value is not None]
    return float(np.std(there)) if there else None


def _curve(results: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """Success over million samples: mean, lowest and highest of the seeds, at the evaluations of the shortest run."""
    grid = min(([each["samples"] for each in result["evaluations"]] for result in results), key=lambda seen: seen[-1])
    success = np.array([[success_at(result, samples) for samples in grid] for result in results])
    bands = {"success": success.mean(axis=0), "lowest": success.min(axis=0), "highest": success.max(axis=0)}
    return {"samples": [samples / 1e6 for samples in grid]} | {
        name: [round(float(value), 4) for value in band] for name, band in bands.items()
    }


def _verdict(done: Sequence[Done], matrix: Matrix, space: str, method: str, plain: str) -> dict[str, Any] | None:
    """Over skills that anyone learned and both methods have several runs of: single ones would seem never to vary."""
    efforts = [{each: _efforts(_of(done, skill, space, each)) for each in (method, plain)} for skill in matrix.skills]
    pairs = [(each[method], each[plain]) for each in efforts]
    several = [pair for pair in pairs if min(map(len, pair)) > 1 and _reached_by_any(*pair)]
    if not several:
        return None
    ours, theirs = ([[run.needed for run in group[side].values()] for group in several] for side in (0, 1))
    left_out = sum(bool(each[0] and each[1]) for each in pairs) - len(several)
    runs = {"skills": len(several), "runs": sum(map(len, ours)), "runs_of_plain": sum(map(len, theirs))}
    runs |= {"skills_left_out": left_out}
    chance = probability_of_improvement(ours, theirs)
    return {"actions": space, "method": method, **runs, **_typical(several), **chance}


def _typical(groups: Sequence[tuple[Efforts, Efforts]]) -> dict[str, Any]:
    """Ratio over the pairs of the skills that have several, and how many of these are bounds."""
    paired = [(group, _comparable(*group)) for group in groups]
    paired = [(group, seeds) for group, seeds in paired if len(seeds) > 1]
    if not paired:
        return {"ratio": None}
    mine, plains = ([[group[side][seed].bounded for seed in seeds] for group, seeds in paired] for side in (0, 1))
    counts = {"ratio_skills": len(paired), "ratio_pairs": sum(map(len, mine))}
    counts |= {"ratio_bounds": sum(bounds(*group, seeds) for group, seeds in paired)}
    return typical_ratio(mine, plains) | counts


def _reached_by_any(*groups: Efforts) -> bool:
    """Whether a skill was learned by any run; one that was not says nothing of its methods."""
    return any(run.reached for group in groups for run in group.values())


def _comparable(ours: Efforts, plain: Efforts) -> list[int]:
    """Seeds of pairs that tell, and of which none was there without learning: it has no ratio."""
    return [seed for seed in telling(ours, plain) if ours[seed].bounded > 0 < plain[seed].bounded]
