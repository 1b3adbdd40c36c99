"""Tables and sentences of the report, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from pfmhr.report import experiments, sections
from pfmhr.report.experiments import experiment_section
from pfmhr.report.material import Material
from pfmhr.report.page import Command, Figure, Section, Table, Text
from pfmhr.report.sections import left_out_section, speed_section, studies_section, tracking_section
from pfmhr.results.columns import BenchResult
from pfmhr.results.comparing import read_comparison
from pfmhr.results.figures import draw_radar, radar_scores
from pfmhr.results.summary import Verdict
from tests.report.conftest import experiment_row, summary, tracking_row


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures without a picture: drawing takes most of the time, and how each looks is tested elsewhere."""
    for module in (experiments, sections):
        monkeypatch.setattr(
            module, "drawn", lambda folder, name, draw, caption, **_: Figure("", caption, (folder / f"{name}.svg",))
        )


def parts(section: Section | None, kind: type) -> list[Any]:
    assert section is not None
    return [part for part in section.parts if isinstance(part, kind)]


def curve(name: str) -> dict[str, Any]:
    return {"name": name, "seed": 0, "samples": [0, 1_000_000], "success": [0.1, 0.9]}


def compared(folder: Path, *rows: dict[str, Any], drawn: bool = False) -> Section | None:
    curves = [curve(row["name"]) for row in rows] if drawn else []
    content = {"rows": rows, "curves": curves, "command": "pfmhr track compare a b"}
    return tracking_section(Material(comparisons=[read_comparison(content, Path("compared.json"))]), folder)


def cells(section: Section | None, row: int = 0) -> dict[str, str]:
    table = parts(section, Table)[0]
    return dict(zip(table.columns, table.rows[row], strict=True))


def test_tracking_stands_beside_the_paper(tmp_path: Path) -> None:
    section = compared(tmp_path, tracking_row(), tracking_row(name="g1_walk, ADD + PFM-HR, residual", modulator="pfm"))
    assert cells(section) == {
        "run": "g1_walk, ADD, residual",
        "seeds": "2",
        "samples to 80 %, M": "1.25 ± 0.05",
        "paper, M": "70.0 ± 6.2",
        "success %": "98.7 ± 1.0",
        "pooled %": "–",
        "at 0.5 m %": "90.0 ± 2.0",
        "E_pos, mm": "21.1 ± 1.2",
        "paper, mm": "8 ± 1",
        "E_rot, rad": "0.100 ± 0.002",
        "paper, rad": "0.038 ± 0.001",
        "minutes": "26.4 ± 1.0",
    }
    assert [cells(section, 1)[name] for name in ("paper, M", "paper, mm", "paper, rad")] == [
        "65.7 ± 0.0",
        "8 ± 3",
        "0.039 ± 0.000",
    ]
    assert parts(section, Command)[0].text == "pfmhr track compare a b"


def test_what_never_converged_failed_here_and_there(tmp_path: Path) -> None:
    name = "g1_backflip, ADD, residual"
    row = tracking_row(name=name, motions=["g1_backflip"], converged=0, samples_to_80=None, position_error=None)
    shown = cells(compared(tmp_path, row))
    assert shown["samples to 80 %, M"] == "Failed" == shown["paper, M"] == shown["paper, mm"]
    assert shown["E_pos, mm"] == "–"


def test_one_seed_has_no_deviation_and_some_seeds_are_counted(tmp_path: Path) -> None:
    section = compared(
        tmp_path,
        tracking_row(seeds=1, converged=1, samples_to_80=[1.25, 0.0]),
        tracking_row(seeds=3, converged=2),
        tracking_row(seeds=3, converged=0, samples_to_80=None),
    )
    assert "±" not in "".join(text for name, text in cells(section).items() if not name.startswith("paper"))
    assert cells(section)["samples to 80 %, M"] == "1.25"
    assert cells(section, 1)["samples to 80 %, M"] == "1.25 ± 0.05 (2 of 3)"
    assert cells(section, 2)["samples to 80 %, M"] == "Failed"


@pytest.mark.parametrize(
    "other",
    [
        {"motions": ["walk-000"]},
        {"motions": ["g1_walk", "g1_run"]},
        {"reward": "deepmimic"},
        {"modulator": "recon", "motions": ["g1_spinkick"]},
        {"modulator": "random"},
    ],
)
def test_the_paper_stands_only_beside_what_it_measured(other: dict[str, Any], tmp_path: Path) -> None:
    shown = cells(compared(tmp_path, tracking_row(**other)))
    assert [text for name, text in shown.items() if name.startswith("paper")] == ["", "", ""]


def test_the_rivals_of_the_paper_have_its_numbers_where_it_has_any(tmp_path: Path) -> None:
    shown = cells(compared(tmp_path, tracking_row(modulator="recon")))
    assert [text for name, text in shown.items() if name.startswith("paper")] == ["56.9 ± 6.2", "8 ± 1", ""]


def test_every_skill_has_its_curves(tmp_path: Path, undrawn: None) -> None:
    names = ["g1_walk, ADD", "g1_walk, ADD + PFM-HR", "g1_run, ADD", "Ä, ADD"]
    section = compared(tmp_path, *(tracking_row(name=f"{name}, residual") for name in names), drawn=True)
    assert [figure.files[0].name for figure in parts(section, Figure)] == [
        "training-0-0-g1-walk.svg",
        "training-0-1-g1-run.svg",
        "training-0-2-.svg",
    ]


def test_a_clip_may_have_any_name(tmp_path: Path) -> None:
    section = compared(tmp_path, tracking_row(name="../a$b$<b>, ADD, residual"), drawn=True)
    (figure,) = parts(section, Figure)
    assert "../a$b$&lt;b&gt;, ADD" in figure.svg
    assert sorted(file.name for file in tmp_path.iterdir()) == ["training-0-0-a-b-b.pdf", "training-0-0-a-b-b.svg"]


def test_an_experiment_in_numbers(tmp_path: Path, undrawn: None) -> None:
    gap = {"mean": -0.2, "low": -0.31, "high": 0.05, "better": 1.0, "seeds": 3}
    rows = (
        experiment_row(method="add"),
        experiment_row(difference=gap, seeds=3, converged=2),
        experiment_row("jump", seeds=1, converged=1, samples_to_80=[1.5], mean=1.5, deviation=0.0),
        experiment_row("jump", "pdf", converged=0, samples_to_80=[None] * 3, mean=None, position_error=None),
    )
    section = experiment_section(summary(*rows), tmp_path)
    assert section.title == "Experiment: single motion"
    assert parts(section, Text)[0].text.startswith("5 of 6 runs are finished.")
    shown = [cells(section, row) for row in range(4)]
    assert shown[0]["less than plain, M"] == "" and shown[1]["less than plain, M"] == "+0.20 [-0.05, +0.31]"
    assert [row["samples to 80 %, M"] for row in shown] == ["1.10 ± 0.08", "1.10 ± 0.08 (2 of 3)", "1.50", "Failed"]
    assert [row["success %"] for row in shown[1:3]] == ["95.0 ± 1.0", "95.0"] and shown[0]["E_rot, rad"] == "0.100"
    assert shown[0]["E_pos, mm"] == "20.0 ± 2.0" and shown[3]["E_pos, mm"] == "–"
    assert len(parts(section, Figure)) == 1  # two skills are no radar chart


def test_errors_by_length_of_episode_stand_beside_the_papers(tmp_path: Path, undrawn: None) -> None:
    error = {"success": 0.9, "position_error": 0.031, "rotation_error": 0.2, "deviations": {}}
    rows = [experiment_row(horizons=[{"horizon": each, "seeds": 1, **error} for each in (20.0, 25.0)])]
    table = parts(experiment_section(summary(*rows), tmp_path), Table)[1]
    assert [list(row)[-5:] for row in table.rows] == [
        ["20", "90.0", "31.0", "0.200", "20 mm, 0.117 rad"],
        ["25", "90.0", "31.0", "0.200", "–"],
    ]


def test_verdicts_are_sentences(tmp_path: Path, undrawn: None) -> None:
    chance = {"probability": 0.625, "low": 0.4, "high": 0.81}
    verdict = Verdict(method="pfm", actions="residual", skills=4, runs=12, **chance)
    stored = summary(
        experiment_row(), verdicts=(replace(verdict, ratio=0.931, ratio_low=0.85, ratio_high=1.02), verdict)
    )
    _, _, first, second = (part.text for part in parts(experiment_section(stored, tmp_path), Text))
    assert first == (
        "pfm (residual actions, 4 skills, 12 runs): needs fewer samples than add with probability 0.62 [0.40, 0.81]; "
        "typically 0.93 [0.85, 1.02] times as many (interquartile mean of paired ratios)."
    )
    assert second.endswith("probability 0.62 [0.40, 0.81].")


def test_radar_charts_compare_what_every_method_has() -> None:
    rows = [
        experiment_row("walk", "add", position_error=0.02),
        experiment_row("walk", "pfm", position_error=0.01),
        experiment_row("jump", "add", position_error=0.04),
        experiment_row("jump", "pfm", position_error=None),
    ]
    assert radar_scores(rows, "position_error") == {"add": {"walk": 0.02}, "pfm": {"walk": 0.01}}
    assert radar_scores([], "position_error") == {}
    both = [experiment_row("walk", "add", actions=actions, position_error=0.01) for actions in ("absolute", "residual")]
    assert list(radar_scores(both, "position_error")["add"]) == ["walk, absolute", "walk, residual"]
    fallen = experiment_row("walk", "fallen", position_error=0.001, converged=1, seeds=3)
    assert list(radar_scores([*rows[:2], fallen], "position_error")) == ["add", "pfm"]  # errors of what it tracked


def test_three_methods_on_three_skills_make_two_radar_charts(tmp_path: Path, undrawn: None) -> None:
    curve = {"samples": [0.0, 1.0], "success": [0.1, 0.9], "lowest": [0.0, 0.8], "highest": [0.2, 1.0]}
    skills, methods = ("walk", "run", "jump"), ("add", "pdf", "pfm")
    rows = [experiment_row(skill, method, curve=curve) for skill in skills for method in methods]
    figures = parts(experiment_section(summary(*rows), tmp_path, number=2), Figure)
    names = ["experiment-2.svg", "experiment-2-curves.svg", "radar-2-e_pos.svg", "radar-2-e_rot.svg"]
    assert [figure.files[0].name for figure in figures] == names


def test_a_radar_chart_names_skills_and_methods(tmp_path: Path) -> None:
    scores = {
        "add": {"walk": 0.02, "run": 0.04, "speed_vault": 0.03},
        "pfm": {"walk": 0.03, "run": 0.02, "speed_vault": 0.03},
    }
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw_radar(tmp_path / "radar.svg", scores, "E_pos")
    drawing = (tmp_path / "radar.svg").read_text()
    assert all(f">{name}<" in drawing for name in ("walk", "run", "speed vault", "add", "pfm", "E_pos"))


def test_speeds_are_bars_in_multiples_of_the_products(tmp_path: Path) -> None:
    ratio = {"fused_float32": 1.061, "jvp": 2.6, "three_denoiser_calls": 1.73}
    bench = BenchResult(preset="small", batch=6144, ratio=ratio, command="pfmhr bench score", cores=2)
    section = speed_section(Material(benches=[bench]), tmp_path)
    (figure,) = parts(section, Figure)
    assert "small, 6,144 transitions" in figure.svg and "> 1.06<" in figure.svg
    for name, colour in (("fused pass", "#4c6a92"), ("three denoiser calls (FM-Recon)", "#d07b32")):
        assert name in figure.svg and colour in figure.svg
    assert parts(section, Command)[0].about == "2 cores"


def test_without_material_there_are_no_sections(tmp_path: Path) -> None:
    for section in (tracking_section, studies_section, speed_section):
        assert section(Material(), tmp_path) is None
    assert left_out_section(Material()) is None and not list(tmp_path.iterdir())


def test_what_is_left_out_is_on_the_page() -> None:
    section = left_out_section(Material(left_out={Path("runs/x"): "not finished: 5 samples or steps so far"}))
    (table,) = parts(section, Table)
    assert table.rows == [("runs/x", "not finished: 5 samples or steps so far")]
