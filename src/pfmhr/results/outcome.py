"""Runs that differ in their seed only, as one row of figures: the one aggregation over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pfmhr.results.efforts import Effort
from pfmhr.results.evaluation import ERRORS, Evaluation
from pfmhr.results.run_result import RunResult
from pfmhr.results.statistics import Spread

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the budget at which success is reported."""


@dataclass(frozen=True, kw_only=True)
class SuccessAt:
    """Success over seeds at a budget."""

    samples: float
    """Million."""
    success: float | None
    deviation: float | None


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Success over million samples: mean, lowest and highest of the seeds."""

    samples: tuple[float, ...]
    success: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Means of evaluations over seeds, with population deviations; None where no seed has the figure."""

    seeds: int = 0
    success: float | None = None
    success_pooled: float | None = None
    success_strict: float | None = None
    position_error: float | None = None
    rotation_error: float | None = None
    body_error: float | None = None
    deviations: dict[str, float | None] = field(default_factory=dict)

    def spread(self, figure: str) -> Spread | None:
        """Mean and deviation of one of the figures."""
        mean: float | None = getattr(self, figure)
        return None if mean is None else Spread(mean, self.deviations.get(figure))


@dataclass(frozen=True, kw_only=True)
class AtHorizon(Figures):
    """The same episodes with another horizon."""

    horizon: float
    """s an episode lasts at most."""


@dataclass(frozen=True, kw_only=True)
class Outcome(Figures):
    """What runs that differ in their seed only have in common; sample counts in million."""

    seed_numbers: tuple[int, ...] = ()
    converged: int = 0
    """Runs that got to 80 %."""
    samples_to_80: tuple[float | None, ...] = ()
    """By seed; None for a run that never got there."""
    mean: float | None = None
    """Over the runs that got there."""
    deviation: float | None = None
    budget: float | None = None
    """The smallest of the runs."""
    grid: float | None = None
    """Samples between evaluations."""
    area: float | None = None
    """Area under the success curve, as a share of the budget."""
    success_at: tuple[SuccessAt, ...] = ()
    success_beginning: float | None = None
    """Success of the clips begun at their first frame."""
    minutes: float | None = None
    curve: Curve | None = None
    horizons: tuple[AtHorizon, ...] = ()

    @property
    def reached(self) -> Spread | None:
        """Million samples to 80 %."""
        return None if self.mean is None else Spread(self.mean, self.deviation)

    @property
    def efforts(self) -> dict[int, Effort]:
        """What each run needed, by seed."""
        pairs = zip(self.seed_numbers, self.samples_to_80, strict=False)  # earlier versions do not tell the seeds
        return {seed: Effort(needed, self.budget or 0.0) for seed, needed in pairs}


def aggregate(results: Mapping[int, RunResult]) -> Outcome:
    """Finished runs of different seeds as one row."""
    runs = list(results.values())
    budget = min(run.samples for run in runs)
    efforts = [run.effort for run in runs]
    reached = Spread.of([effort.reached_after for effort in efforts])
    by_budget = [Spread.of([run.success_at(share * budget) for run in runs]) for share in SHARES]
    ends = {name: [run.end.value(name) for run in runs] for name in (*ERRORS, "success_pooled")}
    ends["success_beginning"] = [run.final["beginning"].success if "beginning" in run.final else None for run in runs]
    ends["minutes"] = [run.seconds / 60.0 for run in runs]
    ends["area"] = [run.area(budget) for run in runs]
    means, deviations = _apart(ends)
    return Outcome(
        seeds=len(runs),
        seed_numbers=tuple(results),
        converged=sum(effort.reached for effort in efforts),
        samples_to_80=tuple(effort.reached_after for effort in efforts),
        mean=reached.mean if reached else None,
        deviation=reached.deviation if reached else None,
        budget=budget / 1e6,
        grid=max(run.grid for run in runs) / 1e6,
        success_at=tuple(
            SuccessAt(
                samples=share * budget / 1e6,
                success=spread.mean if spread else None,
                deviation=spread.deviation if spread else None,
            )
            for share, spread in zip(SHARES, by_budget, strict=True)
        ),
        curve=_curve(runs),
        horizons=_horizons([run.end for run in runs]),
        deviations=deviations,
        **means,  # type: ignore[arg-type]
    )


def _apart(values: Mapping[str, Sequence[float | None]]) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Means and deviations by figure."""
    spreads = {name: Spread.of(each) for name, each in values.items()}
    means = {name: spread.mean if spread else None for name, spread in spreads.items()}
    return means, {name: spread.deviation if spread else None for name, spread in spreads.items()}


def _horizons(ends: Sequence[Evaluation]) -> tuple[AtHorizon, ...]:
    """Figures by horizon; nothing where runs were evaluated at one only."""
    found = []
    for evaluations in zip(*([end, *end.horizons] for end in ends if end.horizons), strict=True):
        means, deviations = _apart({name: [each.value(name) for each in evaluations] for name in ERRORS})
        horizon = evaluations[0].horizon or 0.0
        found.append(AtHorizon(horizon=horizon, seeds=len(evaluations), deviations=deviations, **means))  # type: ignore[arg-type]
    return tuple(found)


def _curve(runs: Sequence[RunResult]) -> Curve:
    """At the evaluations of the shortest run."""
    grid = min((run.evaluated_at for run in runs), key=lambda samples: samples[-1])
    success = np.array([[run.success_at(samples) for samples in grid] for run in runs])
    return Curve(
        samples=tuple(samples / 1e6 for samples in grid),
        success=_rounded(success.mean(axis=0)),
        lowest=_rounded(success.min(axis=0)),
        highest=_rounded(success.max(axis=0)),
    )


def _rounded(values: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)
