"""The result of one training run, and what a report keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid

from pfmhr.errors import InputError
from pfmhr.foreign import read_json
from pfmhr.layout import RESULT, RUN
from pfmhr.results.efforts import Effort
from pfmhr.results.evaluation import ERRORS, Evaluation
from pfmhr.results.records import Kind, from_json

CONVERGED = 0.8
"""Share of the reference tracked at which the paper counts a policy as converged."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A finished run: its settings in a few words, its evaluations during training, and those after it."""

    samples_to_80: float | None
    """Samples until success reached 80 %, interpolated between evaluations."""
    samples: int
    """Samples of the whole run."""
    grid: float
    """Samples between evaluations."""
    seconds: float
    final: dict[str, Evaluation]
    """Evaluations after training, by kind of start: "random" and, of newer runs, "beginning"."""
    evaluations: tuple[Evaluation, ...]
    motions: tuple[str, ...] = ()
    seed: int | None = None
    modulator: str = "none"
    reward: str = "add"
    actions: str = ""
    time_shares: dict[str, float] = field(default_factory=dict)
    threads: int | None = None
    exploded: float = 0
    prior_sha256: str | None = None
    clips_sha256: str | None = None
    made_by: dict[str, object] = field(default_factory=dict)
    summary: StoredRun | None = None
    """What a report told of the run, if that is all there is of it."""

    @property
    def effort(self) -> Effort:
        """Million samples it needed, of those it had."""
        return Effort(None if self.samples_to_80 is None else self.samples_to_80 / 1e6, self.samples / 1e6)

    @property
    def end(self) -> Evaluation:
        """The evaluation from random starts after training."""
        return self.final["random"]

    @property
    def evaluated_at(self) -> list[int]:
        """Samples of training at every evaluation."""
        return [each.samples or 0 for each in self.evaluations]

    def success_at(self, samples: float) -> float:
        """Success at a budget, interpolated between evaluations."""
        return float(np.interp(samples, self.evaluated_at, [each.success for each in self.evaluations]))

    def area(self, budget: float) -> float:
        """Area under the success curve up to ``budget`` samples, divided by the budget: mean success of the training.

        In contrast to samples to 80 % every run has one, and it does not hang on a single crossing.
        """
        samples = sorted({*(float(each) for each in self.evaluated_at if each < budget), 0.0, float(budget)})
        return float(trapezoid([self.success_at(each) for each in samples], samples) / budget)


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """What a report keeps of a run: its curve, its errors after training, its time and what its prior did."""

    cell: str
    settings: dict[str, object] | None = None
    """Everything that decides the outcome; reports of earlier versions do not tell."""
    prior_sha256: str | None = None
    clips_sha256: str | None = None
    commit: str | None = None
    processor: str | None = None
    samples_to_80: float | None = None
    grid: float = 0
    seconds: float = 0
    time_shares: dict[str, float] = field(default_factory=dict)
    final: dict[str, Evaluation] = field(default_factory=dict)
    samples: tuple[int, ...] = ()
    success: tuple[float, ...] = ()
    success_strict: tuple[float | None, ...] = ()
    position_error: tuple[float | None, ...] = ()
    rotation_error: tuple[float | None, ...] = ()
    body_error: tuple[float | None, ...] = ()
    multiplier: tuple[float, ...] = ()
    """Mean factor of the prior between evaluations, before fading."""
    share_good: tuple[float, ...] = ()
    share_bad: tuple[float, ...] = ()
    strength: tuple[float, ...] = ()
    """What fading left of the prior between evaluations."""

    def result(self, where: Path) -> RunResult:
        """The run's result as far as it was kept; ``where`` is the report's path."""
        columns = {name: getattr(self, name) for name in ERRORS}
        if not self.samples or "random" not in self.final or any(len(c) != len(self.samples) for c in columns.values()):
            text = f"incomplete run in a report: {self.cell}"
            raise InputError(text, where=where, code="bad_experiment")
        evaluations = [
            Evaluation(samples=samples, **{name: column[place] for name, column in columns.items()})
            for place, samples in enumerate(self.samples)
        ]
        return RunResult(
            samples_to_80=self.samples_to_80,
            samples=self.samples[-1],
            grid=self.grid,
            seconds=self.seconds,
            final=self.final,
            evaluations=tuple(evaluations),
            prior_sha256=self.prior_sha256,
            clips_sha256=self.clips_sha256,
            summary=self,
        )


def kept(
    result: RunResult, cell: str, settings: dict[str, object], modulation: dict[str, Sequence[float]]
) -> StoredRun:
    """What a report keeps of a run, figures rounded to four digits.

    Args:
        modulation: what its prior did between evaluations, by fields of :class:`StoredRun`.
    """
    if result.summary is not None:
        return replace(result.summary, cell=cell)
    curves = {name: tuple(_round(each.value(name)) for each in result.evaluations) for name in ERRORS}
    done = {name: tuple(values) for name, values in modulation.items()}
    return StoredRun(
        cell=cell,
        settings=settings,
        prior_sha256=result.prior_sha256,
        clips_sha256=result.clips_sha256,
        samples_to_80=result.samples_to_80,
        grid=result.grid,
        seconds=result.seconds,
        time_shares=result.time_shares,
        final={start: _rounded(found) for start, found in result.final.items()},
        commit=_text(result.made_by.get("commit")),
        processor=_text(result.made_by.get("processor")),
        samples=tuple(result.evaluated_at),
        success=tuple(round(each.success, 4) for each in result.evaluations),
        success_strict=curves["success_strict"],
        position_error=curves["position_error"],
        rotation_error=curves["rotation_error"],
        body_error=curves["body_error"],
        multiplier=done.get("multiplier", ()),
        share_good=done.get("share_good", ()),
        share_bad=done.get("share_bad", ()),
        strength=done.get("strength", ()),
    )


def _rounded(found: Evaluation) -> Evaluation:
    """The figures a report keeps of an evaluation."""
    several = found.success_by_clip if len(found.success_by_clip) > 1 else ()
    return Evaluation(
        success=round(found.success, 4),
        success_pooled=_round(found.success_pooled),
        success_strict=_round(found.success_strict),
        position_error=_round(found.position_error),
        rotation_error=_round(found.rotation_error),
        body_error=_round(found.body_error),
        success_by_clip=tuple(_round(share) for share in several),
        horizon=found.horizon,
        horizons=tuple(_rounded(each) for each in found.horizons),
    )


def _text(value: object) -> str | None:
    return str(value) if value else None


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def read_result(directory: Path) -> RunResult:
    """The result of a finished run."""
    path = directory / RESULT
    try:
        content = read_json(path, "bad_run")
    except FileNotFoundError:
        if not (directory / RUN).exists():
            raise InputError("no tracking run here", where=directory, expected=RUN, code="not_found") from None
        fix = "Go on with `pfmhr track train`."
        raise InputError("not a finished tracking run", where=directory, fix=fix, code="not_found") from None
    return read_run_file(RunResult, content, path)


def read_run_file(kind: type[Kind], content: object, path: Path) -> Kind:
    """What a file of a run holds, as a dataclass; a run whose file does not fit is damaged."""
    try:
        return from_json(kind, content, path)
    except InputError as error:
        raise damaged(path, error.what) from None


def damaged(path: Path, why: str) -> InputError:
    """The error for a run's file that lacks an entry, or has something else in its place."""
    return InputError(f"a damaged run: {why}", where=path, expected="what `pfmhr track train` writes", code="bad_run")
