"""Tables and figures of README and documentation, made from results/*.json: `make results` writes them in place.

They stand in the pages themselves, between marks, so that a page says the same wherever it is read.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from control_table import control_table
from coverage_table import coverage_table
from experiment_tables import draw_experiment, experiment_table, markdown
from summary_table import summary_table
from verdict_table import verdict_table

from pfmhr.studies import noise, perturbation, timestep
from pfmhr.studies.tables import beside, cells

ROOT = Path(__file__).resolve().parents[1]
RESULTS, FIGURES = ROOT / "results", ROOT / "docs" / "figures"
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

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


def pages() -> list[Path]:
    """Everything that may hold tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "howto").glob("*.md"))]


def filled(text: str, tables: dict[str, str]) -> str:
    """A page with its tables as they are now."""
    return MARKED.sub(lambda mark: f"{mark[1]}\n{tables[mark[2]]}\n{mark[3]}", text)


def all_tables() -> dict[str, str]:
    """Markdown by name: one per stored study and experiment, and those that several results make together."""
    experiments = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("experiment_*.json"))]
    tables = {"summary": summary_table(), "bench_score": _speeds(), "t_eval": _times(), "effort": _effort(experiments)}
    tables["verdicts"] = verdict_table(experiments)
    tables["controls"] = control_table(each for each in experiments if "later_start" not in each["name"])
    tables["coverage"] = coverage_table(run for each in experiments for run in each["runs"])
    for path in [*sorted(RESULTS.glob("study_*.json")), RESULTS / "fuzz.json"]:
        name = path.stem.removeprefix("study_").removesuffix("_held_out")
        result = json.loads(path.read_text())
        rows = beside(result["rows"], *STUDIES[name]) if name in STUDIES else result["rows"]
        tables[path.stem] = _markdown(rows) + f"\n`{result['command']}`\n"
    for each in experiments:
        tables[f"experiment_{each['name']}"] = experiment_table(each)
    return tables


def write_pages() -> None:
    """Tables into their pages, and the figures of experiments that pages show."""
    tables = all_tables()
    for page in pages():
        page.write_text(filled(page.read_text(), tables))
    text = "".join(page.read_text() for page in pages())
    for path in sorted(RESULTS.glob("experiment_*.json")):
        draw_experiment(json.loads(path.read_text()), FIGURES / path.stem, lambda figure: figure.name in text)


def _effort(experiments: list[dict[str, Any]]) -> str:
    """What all stored experiments took, on what."""
    machines = {
        f"{run.get('processor') or each['processor']}, {each['cores']} cores"
        for each in experiments
        for run in each["runs"]
    }
    versions = {f"MuJoCo {each['mujoco']}, torch {each['torch']}, rsl_rl {each['rsl_rl_lib']}" for each in experiments}
    # A run that several experiments share was trained once.
    runs = {(run["seconds"], *run["success"]) for each in experiments for run in each["runs"]}
    hours = sum(run[0] for run in runs) / 3600
    return f"{len(runs)} finished runs, {hours:.0f} core-hours: {'; '.join(sorted(machines | versions))}.\n"


def _speeds() -> str:
    """The stored benches of the score, one row each."""
    benches = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("bench_score_*.json"))]
    rows = [
        {"network": bench["preset"], "transitions": bench["batch"], **_plain(bench["ratio"])}
        for bench in sorted(benches, key=lambda bench: (bench["preset"], bench["batch"]))
    ]
    return _markdown(rows)


def _times() -> str:
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
        result = json.loads((RESULTS / f"{file}.json").read_text())
        for key in path:
            result = result[key]
        lines.append(_best(prior, clips, {row["t_eval"]: row["average"] for row in result["rows"]}, file))
    paper = {time: figures[3] for time, figures in timestep.PAPER.items()}
    lines.append(_best("60 million poses of BONES-SEED", "trained on", paper, "the paper"))
    return _markdown(lines)


def _best(prior: str, clips: str, by_time: dict[float, float], source: str) -> dict[str, Any]:
    best = max(by_time, key=lambda time: by_time[time])
    figures = {"at 0.75": by_time[0.75], "best": f"{by_time[best]:.3f} at {best:g}"}
    return {"prior": prior, "clips": clips, **figures, "from": source if " " in source else f"`results/{source}.json`"}


def _plain(ratios: dict[str, float]) -> dict[str, float]:
    names = ("fused_float32", "jvp", "jvp_with_a_time_per_pose", "three_denoiser_calls")
    return {name: ratios[name] for name in names}


def _markdown(table: list[dict[str, Any]]) -> str:
    return markdown([column.replace("_", " ") for column in table[0]], cells(table))


if __name__ == "__main__":
    write_pages()
