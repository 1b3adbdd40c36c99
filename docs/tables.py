"""Tables of the results page, made from results/*.json whenever the documentation is built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiment_tables import write_experiments

from pfmhr.studies import noise, perturbation, timestep
from pfmhr.studies.tables import beside, cells

ROOT = Path(__file__).resolve().parents[1]

STUDIES = {
    "timestep": (("t_eval",), ("angular", "permutation", "sign_flip", "average"), timestep.PAPER),
    "noise": (
        ("samples",),
        ("rank_correlation", "percentile_mae", "region_agreement", "reward_mae", "milliseconds"),
        noise.PAPER,
    ),
    "perturbation": (
        ("perturbation", "severity"),
        ("normalised_score", "percentile_change", "multiplier_change", "region_agreement"),
        perturbation.PAPER,
    ),
}


def write_tables() -> None:
    """One file per stored study in docs/generated, for the pages to include."""
    folder = ROOT / "docs" / "generated"
    folder.mkdir(exist_ok=True)
    for path in sorted((ROOT / "results").glob("study_*.json")):
        name = path.stem.removeprefix("study_").removesuffix("_held_out")
        result = json.loads(path.read_text())
        table = beside(result["rows"], *STUDIES[name]) if name in STUDIES else result["rows"]
        (folder / f"{path.stem}.md").write_text(_markdown(table) + f"\n`{result['command']}`\n")
    write_speeds()
    write_times()
    write_experiments(ROOT / "results", folder)


def write_speeds() -> None:
    """The stored benches of the score, one row each."""
    benches = [json.loads(path.read_text()) for path in sorted((ROOT / "results").glob("bench_score_*.json"))]
    rows = [
        {"network": bench["preset"], "transitions": bench["batch"], **_plain(bench["ratio"])}
        for bench in sorted(benches, key=lambda bench: (bench["preset"], bench["batch"]))
    ]
    (ROOT / "docs" / "generated" / "bench_score.md").write_text(_markdown(rows))


def write_times() -> None:
    """How well spoilt changes are told from real ones at the paper's flow time and at the best, by prior."""
    studies = {
        ("366,302 poses of LAFAN1 and G1 Moves", "all"): ("study_timestep", ()),
        ("the same", "never seen"): ("study_timestep_held_out", ()),
        ("a quarter of those poses", "never seen"): ("data_scale", ("sizes", "91576")),
        ("a sixteenth", "never seen"): ("data_scale", ("sizes", "22894")),
        ("`g1-small`, 101,597 poses of G1 Moves", "never seen"): ("g1_small", ("timestep_on_held_out_clips",)),
    }
    lines = []
    for (prior, clips), (file, path) in studies.items():
        result = json.loads((ROOT / "results" / f"{file}.json").read_text())
        for key in path:
            result = result[key]
        lines.append(_best(prior, clips, {row["t_eval"]: row["average"] for row in result["rows"]}, file))
    paper = {time: figures[3] for time, figures in timestep.PAPER.items()}
    lines.append(_best("60 million poses of BONES-SEED", "trained on", paper, "the paper"))
    (ROOT / "docs" / "generated" / "t_eval.md").write_text(_markdown(lines))


def _best(prior: str, clips: str, by_time: dict[float, float], source: str) -> dict[str, Any]:
    best = max(by_time, key=lambda time: by_time[time])
    figures = {"at 0.75": by_time[0.75], "best": f"{by_time[best]:.3f} at {best:g}"}
    return {"prior": prior, "clips": clips, **figures, "from": source if " " in source else f"`results/{source}.json`"}


def _plain(ratios: dict[str, float]) -> dict[str, float]:
    names = ("fused_float32", "jvp", "jvp_with_a_time_per_pose", "three_denoiser_calls")
    return {name: ratios[name] for name in names}


def _markdown(table: list[dict[str, Any]]) -> str:
    head = [column.replace("_", " ") for column in table[0]]
    lines = [head, ["---"] * len(head), *cells(table)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    write_tables()
