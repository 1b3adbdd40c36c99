"""Pages of the documentation that hold tables made from results/*.json.

A table stands in its page between two marks, so that a page says the same wherever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pfmhr.results.columns import STUDIES, StudyResult, beside
from pfmhr.results.records import read_record
from pfmhr.results.summary import Summary
from pfmhr.results.tables.controls import control_table
from pfmhr.results.tables.coverage import coverage_table
from pfmhr.results.tables.experiments import draw_experiment, experiment_table
from pfmhr.results.tables.headlines import headline_table
from pfmhr.results.tables.markdown import markdown_of
from pfmhr.results.tables.measured import effort_line, speed_table, time_table
from pfmhr.results.tables.verdicts import verdict_table

MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def pages(root: Path) -> list[Path]:
    """Everything below a checkout's ``root`` that may hold tables."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "howto").glob("*.md"))]


def fill(text: str, tables: Mapping[str, str]) -> str:
    """A page with its tables as they are now; one that nothing is stored for stays as it is."""
    return MARKED.sub(lambda mark: _filled(mark, tables), text)


def _filled(mark: re.Match[str], tables: Mapping[str, str]) -> str:
    return f"{mark[1]}\n{tables[mark[2]]}\n{mark[3]}" if mark[2] in tables else mark[0]


def all_tables(root: Path) -> dict[str, str]:
    """Markdown by name: one per stored study and experiment, and those that several results make together."""
    results = root / "results"
    experiments = [Summary.read(path) for path in _experiments(root)]
    tables = {
        "summary": headline_table(results),
        "bench_score": speed_table(results),
        "t_eval": time_table(results),
        "effort": effort_line(experiments),
        "verdicts": verdict_table(experiments),
        "controls": control_table([each for each in experiments if "later_start" not in each.name]),
        "coverage": coverage_table([run for each in experiments for run in each.runs], root / "experiments"),
    }
    for path in [*sorted(results.glob("study_*.json")), *sorted(results.glob("fuzz*.json"))]:
        result = read_record(StudyResult, path)
        columns = STUDIES.get(path.stem.removeprefix("study_").removesuffix("_held_out"))
        rows = beside(result.rows, columns) if columns else result.rows
        tables[path.stem] = f"{markdown_of(rows)}\n`{result.command}`\n"
    return tables | {f"experiment_{each.name}": experiment_table(each) for each in experiments}


def write_pages(root: Path) -> list[tuple[Path, str]]:
    """Put tables into their pages and draw the figures that pages show.

    Returns:
        pages and names of tables for which nothing is stored; these stay as they are.
    """
    tables, missing = all_tables(root), []
    for page in pages(root):
        text = page.read_text()
        page.write_text(fill(text, tables))
        missing += [(page, mark[1]) for mark in MARKED.findall(text) if mark[1] not in tables]
    shown = "".join(page.read_text() for page in pages(root))
    for path in _experiments(root):
        stem = root / "docs" / "figures" / path.stem
        draw_experiment(Summary.read(path), stem, lambda figure: figure.name in shown)
    return missing


def _experiments(root: Path) -> list[Path]:
    return sorted((root / "results").glob("experiment_*.json"))
