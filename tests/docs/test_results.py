"""What README and documentation say was measured is what lies in results/."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pfmhr.results.records import from_json
from pfmhr.results.run_result import StoredRun
from pfmhr.results.summary import Summary
from pfmhr.results.tables import all_tables, fill, pages, write_pages
from pfmhr.results.tables.controls import control_table
from pfmhr.results.tables.coverage import METHODS, coverage_table
from pfmhr.results.tables.pages import MARKED
from pfmhr.results.tables.verdicts import verdict_table

ROOT = Path(__file__).resolve().parents[2]
NINE = {"name": "nine_skills", "plain": "add", "cells": {"finished": 1, "all": 1}}


def read(summary: dict[str, object]) -> Summary:
    return from_json(Summary, summary, Path("report.json"))


def test_tables_are_what_the_stored_results_say() -> None:
    tables, texts = all_tables(ROOT), {page: page.read_text() for page in pages(ROOT)}
    assert [page.name for page, text in texts.items() if text != fill(text, tables)] == [], "run `make results`"
    shown = {mark[1] for text in texts.values() for mark in MARKED.findall(text)}
    assert set(tables) <= shown, "results that no page shows"
    assert shown <= set(tables), "tables of no result"


def test_a_mark_takes_the_table_it_names_and_nothing_else() -> None:
    text = "a\n<!-- table: x -->\nold\n<!-- end of table -->\nb <!-- table: y -->\n<!-- end of table -->"
    made = fill(text, {"x": "| 1 |\n", "y": "| 2 |\n"})
    assert made == text.replace("old", "\n| 1 |\n").replace("y -->\n", "y -->\n\n| 2 |\n\n")
    assert fill(text, {}) == text


def test_a_table_that_nothing_is_stored_for_is_told_and_the_others_are_written(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "results", tmp_path / "results")
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    text = "<!-- table: nobody -->\n<!-- end of table -->\n<!-- table: effort -->\n<!-- end of table -->\n"
    (tmp_path / "README.md").write_text(text)
    assert write_pages(tmp_path) == [(tmp_path / "README.md", "nobody")]
    first, second = (tmp_path / "README.md").read_text().split("<!-- table: effort -->")
    assert first == "<!-- table: nobody -->\n<!-- end of table -->\n" and "core-hours" in second


def test_coverage_counts_seeds_of_the_comparison_and_no_other_runs() -> None:
    walk = {"motions": ["mimickit_g1/g1_walk.pkl"], "actions": "residual"}
    small = {"prior": "g1-small"}
    told = [
        walk | {"seed": 0},
        walk | {"seed": 0, "samples": 2},  # the same seed of another experiment
        walk | {"seed": 1},
        walk | {"seed": 0, "actions": "absolute"},
        walk | small | {"seed": 3},
        walk | small | {"seed": 4, "alpha": 2.0},
        walk | small | {"seed": 5, "set": ["modulator.fade=300000"]},
        walk | small | {"seed": 6, "modulator": "recon"},
        walk | {"seed": 7, "prior": "runs/priors/limits"},
        walk | {"seed": 8, "motions": ["mimickit_g1/g1_walk.pkl", "mimickit_g1/g1_run.pkl"]},
    ]
    runs = [StoredRun(cell="walk", settings=settings) for settings in told]
    lines = coverage_table([*runs, StoredRun(cell="before settings were kept")], ROOT / "experiments").splitlines()
    head, line = ([cell.strip() for cell in row.split("|")[1:-1]] for row in (lines[0], lines[2]))
    assert head == ["skill", *METHODS] and len(lines) == 2 + 9
    counted = {name: cell for name, cell in zip(head, line, strict=True) if cell}
    assert counted == {"skill": "walk", "ADD": "1 / 2", "FM-Recon": "– / 1", "PFM-HR, `g1-small`": "– / 1"}


def test_verdicts_tell_several_seeds_from_one_and_count_pairs() -> None:
    def row(skill: str, method: str, seeds: int, **more: object) -> dict[str, object]:
        told = {"skill": skill, "actions": "residual", "method": method}
        return {**told, "seeds": seeds, "seed_numbers": list(range(seeds)), **more}

    rows = [
        row("walk", "add", 3),
        row("walk", "pfm", 3, difference={"mean": -0.1, "better": 2 / 3, "seeds": 3}),
        row("run", "pfm", 2, difference={"mean": 0.0, "better": 0.5, "seeds": 2}),
        row("spin-jump", "pfm", 3, difference={"mean": -0.1, "better": 1.0, "seeds": 1}),  # two of them without a pair
        row("double_kong", "pfm", 1),  # learned by neither
    ]
    spin_jump = {"prior": "g1-small", "motions": ["spin.pkl"], "actions": "residual", "seed": 0}
    summary = {
        **NINE,
        "rows": rows,
        "runs": [{"cell": "spin-jump-pfm-residual-0", "settings": spin_jump}],
        "verdicts": [{"method": "pfm", "actions": "residual", "ratio": 0.9, "ratio_low": 0.8, "ratio_high": 1.1}],
    }
    lines = verdict_table([read(summary | {"plain": "pfm"}), read(summary)]).splitlines()[2:]
    # The paper's 65.667 of 70.036 million and 74.405 of 113.727: sqrt(0.9376 * 0.6542) = 0.78.
    assert lines == [
        "| PFM-HR, `g1-small` | residual | walk, run (2 to 3 seeds) | 0.90 [0.80, 1.10] | 0.78 | 3 of 5 |",
        "| PFM-HR, `g1-small` | residual | spin-jump (1 seed) | – | – | 1 of 1 |",
    ]


def test_controls_are_paired_with_the_prior_by_seed() -> None:
    def row(method: str, needed: dict[int, float | None]) -> dict[str, object]:
        told = {"skill": "walk", "actions": "residual", "method": method, "budget": 2.0}
        return {**told, "seed_numbers": list(needed), "samples_to_80": list(needed.values())}

    factors = {"pfm": [0.9, 1.0], "random": [0.8, 0.8]}
    summary = {
        **NINE,
        "verdicts": [],
        "rows": [row("add", {0: 9.0}), row("pfm", {0: 1.0, 1: 1.5, 2: 0.1}), row("random", {1: None, 0: 0.9})],
        "runs": [
            {"cell": f"walk-{name}-residual-{seed}", "multiplier": mean}
            for name, mean in factors.items()
            for seed in (0, 1)
        ],
    }
    (line,) = control_table([read(summary)]).splitlines()[2:]
    # 0.9 - 1 and 2 - 1.5: mean 0.2, deviation 0.3·√2, Student's 12.7062 over √2.
    said = "+0.20 [-3.61, +4.01] (1 of 2 a bound)"
    assert line == f"| a random factor | residual | walk | {said} | 1 of 2 | 0.95 / 0.80 |"
    neither = summary | {"rows": [row("pfm", {0: None, 1: 1.5}), row("random", {0: None, 1: None})]}
    (line,) = control_table([read(neither)]).splitlines()[2:]
    assert line == "| a random factor | residual | walk | +0.50 (1 of 1 a bound) | 1 of 1 | 0.95 / 0.80 |"
    nothing = summary | {"rows": [row("pfm", {0: None}), row("random", {0: None})]}
    (line,) = control_table([read(nothing)]).splitlines()[2:]
    assert line == "| a random factor | residual | walk | – | – | 0.95 / 0.80 |"


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]), ids=lambda page: page.name)
def test_pictures_and_pages_that_are_linked_exist(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert [target for target in missing if not target.startswith("reference/")] == []
