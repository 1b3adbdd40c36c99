"""The results in a few lines, for the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pfmhr.results import paper
from pfmhr.results.columns import PLAUSIBILITY, BenchResult, StudyResult, number
from pfmhr.results.records import read_record
from pfmhr.results.summary import Row, Summary, rows_of
from pfmhr.results.tables.markdown import markdown
from pfmhr.results.wording import reached, theirs

COMPARISONS = ("nine_skills", "absolute_walk", "absolute_run")
"""Experiments of ADD against ADD with the bundled prior."""
METHODS = {
    "add": "ADD",
    "pfm": "PFM-HR",
    "recon": "FM-Recon",
    "random": "a random factor",
    "shuffled": "its factors shuffled",
}
"""Methods as readers know them."""
Line = tuple[str, str, str, str]


def headline_table(results: Path) -> str:
    """What the paper says, what was measured here, and by which command."""
    lines = [*_score_lines(results), _speed_line(results), *_tracking_lines(results)]
    return markdown(("what", "paper", "here", "command"), lines)


def _score_lines(results: Path) -> list[Line]:
    def study(name: str) -> StudyResult:
        return read_record(StudyResult, results / f"study_{name}.json")

    best = max(study("timestep_held_out").rows, key=lambda row: number(row, "average"))
    correlation = number(study("noise").rows[0], "rank_correlation")
    seen = {str(row["corruption"]): row for row in study("plausibility").rows}
    shuffled = next(row for name, row in seen.items() if name.startswith("changes shuffled"))
    scores = " / ".join(f"{number(shuffled, name):.2f}" for name in reversed(PLAUSIBILITY))
    told = "real change ranked above a shuffled one (PGS / FM-Recon / PDF-HR)"
    return [
        ("flow time at which the score tells most", "0.75", f"{number(best, 't_eval'):g}", "`pfmhr study timestep`"),
        (
            "rank correlation of 1 noise sample with 128",
            f"{paper.NOISE[1][0]:.3f}",
            f"{correlation:.3f}",
            "`pfmhr study noise`",
        ),
        (told, "–", scores, "`pfmhr study plausibility`"),
    ]


def _speed_line(results: Path) -> Line:
    ratio = read_record(BenchResult, results / "bench_score_paper_4096.json").ratio
    time = f"{ratio['fused_float32']:.2f} × (autodiff {ratio['jvp']:.2f} ×)"
    return "one score, 10 × 1024, in times of the bare matrix products", "–", time, "`pfmhr bench score`"


def _tracking_lines(results: Path) -> list[Line]:
    """Per skill what every method of its experiment needed, where there is more than one seed."""
    lines = []
    for name in COMPARISONS:
        summary = Summary.read(results / f"experiment_{name}.json")
        for skill, actions in summary.panels:
            rows = [row for row in rows_of(summary.rows, skill, actions) if row.seeds > 1 and row.method in METHODS]
            if rows:
                lines.append(_tracking_line(skill, actions, rows, name))
    return lines


def _tracking_line(skill: str, actions: str, rows: Sequence[Row], name: str) -> Line:
    methods = " / ".join(METHODS[row.method] for row in rows)
    what = f"{skill}, {actions} actions, M samples to 80 % with {methods} (seeds: {_seeds(rows)})"
    stated = " / ".join(theirs(paper.SAMPLES, row, 1) for row in rows)
    return what, stated, " / ".join(map(reached, rows)), f"`pfmhr experiment run experiments/{name}.toml`"


def _seeds(rows: Sequence[Row]) -> str:
    counts = [str(row.seeds) for row in rows]
    return counts[0] if len(set(counts)) == 1 else ", ".join(counts)
