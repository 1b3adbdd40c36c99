"""Whole reports: everything in results/ on one page, and what a run or a prior makes of it."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.report import build_report, building
from pfmhr.report.page import Section
from pfmhr.results import paper
from pfmhr.results.figures import radars
from pfmhr.results.summary import Summary
from tests.report.conftest import RESULTS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def results_page(toy_prior: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Path], list[str]]:
    """The page, what was written, and what was said; the prior is of another robot, so nothing is drawn of it."""
    out, said = tmp_path_factory.mktemp("report") / "all.html", []
    written = build_report([RESULTS], out, prior=str(toy_prior), say=said.append)
    return out.read_text(), written, said


def tables(page: str, heading: str) -> list[list[list[str]]]:
    """Cells of the tables under headings that begin so, the heads first."""
    found = []
    for title, rest in re.findall(r"<h3>(.*?)</h3>(.*?)(?=<h3>|</section>)", page, re.DOTALL):
        if unescape(title).startswith(heading):
            rows = re.findall(r"<tr>(.*?)</tr>", rest, re.DOTALL)
            found.append([[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows])
    return found


def theirs(table: list[list[str]], row: int) -> list[str]:
    return [cell for head, cell in zip(table[0], table[row], strict=True) if head == "paper"]


def test_the_three_robustness_tables_hold_the_papers_numbers(results_page: tuple[str, list[Path], list[str]]) -> None:
    page = results_page[0]
    stated = {
        "At which flow time": {f"{time:g}": values for time, values in paper.TIMESTEP.items()},
        "How many noise samples": {str(count): values for count, values in paper.NOISE.items()},
        "What the score sees": {
            (family.replace("_", " "), f"{amount:g}"): values for (family, amount), values in paper.PERTURBATION.items()
        },
    }
    for heading, numbers in stated.items():
        found = tables(page, heading)
        assert len(found) == (1 if heading.startswith("How") else 2), heading  # seen and held-out clips
        for table in found:
            names = sum(head in ("perturbation", "severity") for head in table[0]) or 1
            keys = [tuple(row[:names]) if names > 1 else row[0] for row in table[1:]]
            for key, values in numbers.items():
                assert theirs(table, 1 + keys.index(key)) == [f"{value:.3f}" for value in values], (heading, key)


def test_ours_are_those_that_are_stored(results_page: tuple[str, list[Path], list[str]]) -> None:
    stored = json.loads((RESULTS / "study_noise.json").read_text())["rows"]
    (table,) = tables(results_page[0], "How many noise samples")
    ours = [row[table[0].index("rank correlation")] for row in table[1:]]
    assert ours == [f"{row['rank_correlation']:.3f}" for row in stored]


def test_commands_machines_and_speeds_are_there(results_page: tuple[str, list[Path], list[str]]) -> None:
    page = unescape(results_page[0])
    for name in ("study_timestep", "study_noise", "study_perturbation_held_out", "study_plausibility"):
        stored = json.loads((RESULTS / f"{name}.json").read_text())
        assert f"<code>{stored['command']}</code>" in page
        assert f"revision {stored['commit']}, {stored['cores']} cores" in page
    assert 'id="speed"' in page and "fused pass" in page


def test_what_has_no_place_is_named_on_the_page_and_told(results_page: tuple[str, list[Path], list[str]]) -> None:
    page, _, said = results_page
    without = RESULTS / "bench_corpus.json"
    assert f"left out {without}: a report has no place for bench corpus" in said
    assert f'<td class="words">{without}</td>' in page and 'href="#left-out"' in page


def test_figures_lie_beside_the_page(results_page: tuple[str, list[Path], list[str]]) -> None:
    page, written, _ = results_page
    out, *figures = written
    assert out.name == "all.html" and all(file.parent.name == "all-figures" for file in figures)
    assert sorted(figures) == sorted((out.parent / "all-figures").iterdir())
    stored = [Summary.read(path) for path in RESULTS.glob("experiment_*.json")]
    drawn = sum(2 + len(radars(summary.rows)) for summary in stored)  # dots, curves, and radar charts if any
    assert len(figures) == 2 * page.count("<svg ") == 2 * (7 + drawn)
    assert "all-figures/ as SVG and PDF" in page


def test_the_whole_page_stands_alone(results_page: tuple[str, list[Path], list[str]]) -> None:
    page = results_page[0]
    assert "http:" not in page and "https:" not in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 20


def test_a_prior_of_another_robot_has_no_section(results_page: tuple[str, list[Path], list[str]]) -> None:
    page, _, said = results_page
    assert "What the prior knows" not in page
    assert any("clips of the g1 only; this one is of toy" in line for line in said)


def test_the_same_input_makes_the_same_page(toy_prior: Path, tmp_path: Path) -> None:
    for folder in ("first", "second"):
        build_report([RESULTS / "bench_score_small_256.json"], tmp_path / folder / "page.html", prior=str(toy_prior))
    assert (tmp_path / "first" / "page.html").read_bytes() == (tmp_path / "second" / "page.html").read_bytes()


def test_priors_among_the_paths_are_shown_and_more_than_one_is_told(toy_prior: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    shutil.copytree(toy_prior, second)
    said: list[str] = []
    build_report([toy_prior, second], tmp_path / "page.html", prior="no such prior", say=said.append)
    assert f"left out {second}: one prior is shown, {toy_prior}" in said
    assert f"one prior is shown, {toy_prior}" in (tmp_path / "page.html").read_text()


def test_a_run_of_another_robot_than_the_priors_is_one_clear_error(
    walk_run: Path, toy_prior: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "page.html"
    assert main(["report", str(walk_run), "-o", str(out), "--prior", str(toy_prior)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"pfmhr: {walk_run}: the prior that is to judge the run is for other joints")
    assert not out.exists()


def test_runs_are_played_compared_and_drawn(
    walk_run: Path, hopeless_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "prior_section", lambda *_: Section("left for the demo's test: it takes long"))
    monkeypatch.setattr(building, "MOST_PLAYERS", 1)
    build_report([walk_run, hopeless_run], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<iframe") == 1 and "1 more runs are in the table below only." in page
    assert "walk-000, ADD, residual" in page and "2 clips, ADD, residual" in page
    assert "pfmhr track compare &#39;/" in page  # the name of the first run needs quotes
    assert "<b>" not in page


def test_the_command_tells_what_it_wrote(toy_prior: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "new" / "page.html"
    words = ["report", str(RESULTS / "bench_score_small_256.json"), "-o", str(out), "--prior", str(toy_prior)]
    assert main([*words, "--json", "--title", "<b>mine"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["page"] == str(out) and [Path(name).name for name in told["figures"]] == ["latency.svg", "latency.pdf"]
    assert "<title>&lt;b&gt;mine</title>" in out.read_text()
    assert main(words) == 0
    assert capsys.readouterr().out.startswith(f"{out} (0.0 MB), 2 figure files beside it")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["absent"], "absent: no such run or result"),
        ([], "nothing to report"),
        ([str(RESULTS), "--prior", "absent"], "absent"),
    ],
)
def test_wrong_use_is_told_before_anything_is_made(
    words: list[str], told: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *words]) == 2
    assert told in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_spoiled_run_is_named(walk_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(walk_run, copy)
    (copy / "checkpoint.safetensors").unlink()
    with pytest.raises(InputError, match="run: this run has no checkpoint"):
        build_report([copy], tmp_path / "page.html")
