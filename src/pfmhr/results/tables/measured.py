"""Tables of what was measured of the score, and a line about what the experiments cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pfmhr.results import paper
from pfmhr.results.columns import BenchResult, Entry, StudyResult, number
from pfmhr.results.records import read_record
from pfmhr.results.summary import Summary
from pfmhr.results.tables.markdown import markdown_of

WAYS = ("fused_float32", "jvp", "jvp_with_a_time_per_pose", "three_denoiser_calls")
"""Ways to compute the score that the table of speeds shows."""


def effort_line(experiments: Sequence[Summary]) -> str:
    """What all stored experiments took, on what."""
    machines, versions = set(), set()
    for each in experiments:
        machines |= {f"{run.processor or each.processor}, {each.cores} cores" for run in each.runs}
        versions.add(f"MuJoCo {each.mujoco}, torch {each.torch}, rsl_rl {each.rsl_rl_lib}")
    # A run that several experiments share was trained once.
    runs = {(run.seconds, *run.success) for each in experiments for run in each.runs}
    hours = sum(run[0] for run in runs) / 3600
    return f"{len(runs)} finished runs, {hours:.0f} core-hours: {'; '.join(sorted(machines | versions))}.\n"


def speed_table(results: Path) -> str:
    """The stored benches of the score, one row each."""
    benches = [read_record(BenchResult, path) for path in sorted(results.glob("bench_score_*.json"))]
    rows: list[dict[str, Entry]] = [
        {"network": bench.preset, "transitions": bench.batch, **{name: bench.ratio[name] for name in WAYS}}
        for bench in sorted(benches, key=lambda bench: (bench.preset, bench.batch))
    ]
    return markdown_of(rows)


@dataclass(frozen=True, kw_only=True)
class _DataScale:
    sizes: dict[str, StudyResult]
    """By number of poses."""


@dataclass(frozen=True, kw_only=True)
class _BundledPrior:
    timestep_on_held_out_clips: StudyResult


def time_table(results: Path) -> str:
    """How well the score tells spoilt changes from real ones at the paper's flow time and at the best, by prior."""

    def study(name: str) -> StudyResult:
        return read_record(StudyResult, results / f"{name}.json")

    sizes = read_record(_DataScale, results / "data_scale.json").sizes
    bundled = read_record(_BundledPrior, results / "g1_small.json").timestep_on_held_out_clips
    studies = [
        ("366,302 poses of LAFAN1 and G1 Moves", "all", study("study_timestep"), "study_timestep"),
        ("the same", "never seen", study("study_timestep_held_out"), "study_timestep_held_out"),
        ("a quarter of those poses", "never seen", sizes["91576"], "data_scale"),
        ("a sixteenth", "never seen", sizes["22894"], "data_scale"),
        ("`g1-small`, 101,597 poses of G1 Moves", "never seen", bundled, "g1_small"),
    ]
    lines = [_best(prior, clips, _averages(result), f"`results/{file}.json`") for prior, clips, result, file in studies]
    theirs = {time: figures[3] for time, figures in paper.TIMESTEP.items()}
    lines.append(_best("60 million poses of BONES-SEED", "trained on", theirs, "the paper"))
    return markdown_of(lines)


def _averages(study: StudyResult) -> dict[float, float]:
    return {number(row, "t_eval"): number(row, "average") for row in study.rows}


def _best(prior: str, clips: str, by_time: Mapping[float, float], source: str) -> dict[str, Entry]:
    best = max(by_time, key=lambda time: by_time[time])
    figures = {"at 0.75": by_time[0.75], "best": f"{by_time[best]:.3f} at {best:g}"}
    return {"prior": prior, "clips": clips, **figures, "from": source}
