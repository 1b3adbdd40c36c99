"""The results in a few lines, for the README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COMPARISONS = ("nine_skills", "absolute_walk", "absolute_run")
"""Experiments of ADD against ADD with the bundled prior."""
METHODS = {"add": "ADD", "pfm": "PFM-HR", "recon": "FM-Recon"}
METHODS |= {"random": "a random factor", "shuffled": "its factors shuffled"}
"""Methods as readers know them."""


def summary_table() -> str:
    """What the paper says, what was measured here, and by which command."""
    lines = ["| what | paper | here | command |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in (*_score_rows(), *_speed_rows(), *_tracking_rows())]
    return "\n".join(lines) + "\n"


def _stored(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "results" / f"{name}.json").read_text())


def _score_rows() -> list[tuple[str, str, str, str]]:
    held_out = _stored("study_timestep_held_out")
    best = max(held_out["rows"], key=lambda row: row["average"])
    first = _stored("study_noise")["rows"][0]
    seen = {row["corruption"]: row for row in _stored("study_plausibility")["rows"]}
    shuffled = next(row for name, row in seen.items() if name.startswith("changes shuffled"))
    return [
        ("flow time at which the score tells most", "0.75", f"{best['t_eval']:g}", "`pfmhr study timestep`"),
        (
            "rank correlation of 1 noise sample with 128",
            "0.976",
            f"{first['rank_correlation']:.3f}",
            "`pfmhr study noise`",
        ),
        (
            "real change ranked above a shuffled one (PGS / FM-Recon / PDF-HR)",
            "–",
            " / ".join(f"{shuffled[name]:.2f}" for name in ("PGS", "FM-Recon", "PDF-HR")),
            "`pfmhr study plausibility`",
        ),
    ]


def _speed_rows() -> list[tuple[str, str, str, str]]:
    bench = _stored("bench_score_paper_4096")
    time = f"{bench['ratio']['fused_float32']:.2f} × (autodiff {bench['ratio']['jvp']:.2f} ×)"
    return [("one score, 10 × 1024, in times of the bare matrix products", "–", time, "`pfmhr bench score`")]


def _tracking_rows() -> list[tuple[str, str, str, str]]:
    """Per skill what every method of its experiment needed, where there is more than one seed."""
    from experiment_tables import said

    from pfmhr.experiments.wording import reached
    from pfmhr.report.paper import SAMPLES

    found = []
    for name in COMPARISONS:
        summary = _stored(f"experiment_{name}")
        for skill, actions in dict.fromkeys((row["skill"], row["actions"]) for row in summary["rows"]):
            rows = [row for row in summary["rows"] if (row["skill"], row["actions"]) == (skill, actions)]
            rows = [row for row in rows if row["seeds"] > 1 and row["method"] in METHODS]
            if not rows:
                continue
            methods = " / ".join(METHODS[row["method"]] for row in rows)
            what = f"{skill}, {actions} actions, M samples to 80 % with {methods} (seeds: {_seeds(rows)})"
            theirs, ours = (" / ".join(each) for each in ([said(SAMPLES, row) for row in rows], map(reached, rows)))
            found.append((what, theirs, ours, f"`pfmhr experiment run experiments/{name}.toml`"))
    return found


def _seeds(rows: list[dict[str, Any]]) -> str:
    counts = [str(row["seeds"]) for row in rows]
    return counts[0] if len(set(counts)) == 1 else ", ".join(counts)
