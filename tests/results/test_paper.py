"""The paper's numbers are those of its source, digit by digit."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pfmhr.results import paper

METHODS = ("none", "pdf", "pfm")


@pytest.fixture(scope="module")
def source() -> str:
    """The paper's LaTeX, which is not part of the repository."""
    stated = os.environ.get("PFMHR_PAPER")
    path = Path(stated) if stated else Path(__file__).resolve().parents[3] / "shared" / "paper" / "pfm-hr.tex"
    if not path.is_file():
        pytest.skip("no source of the paper: name its file in PFMHR_PAPER")
    return path.read_text()


def rows(source: str, label: str) -> list[list[str]]:
    """Cells of the table with this label, without colour and emphasis."""
    tables = re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", source, re.DOTALL)
    (table,) = [each for each in tables if rf"\label{{{label}}}" in each]
    body = re.search(r"\\begin\{tabular\}\{.*?\n(.*?)\\end\{tabular\}", table, re.DOTALL)
    assert body
    text = re.sub(r"\\cellcolor\[HTML\]\{\w+\}", "", body[1])
    text = re.sub(r"\\(multirow\{\d\}\{\*\}|shortstack\[c\]|mathbf|textbf)", "", text)
    text = re.sub(r"\\(midrule|toprule|bottomrule|cmidrule\S*|specialrule(\{\S+?\}){3})|\\\\(?=\w)|[{}$^]", " ", text)
    return [[" ".join(cell.split()) for cell in line.split("&")] for line in text.split(r"\\")]


def number(cell: str) -> paper.Number:
    if cell == "Failed":
        return None
    mean, deviation = cell.split(r"\pm")
    return float(mean), float(deviation)


def skill(cell: str) -> str:
    return {"speedvault": "speed_vault", "doublekong": "double_kong"}.get(
        cell.lower().replace(" ", ""), cell.lower().replace(" ", "_")
    )


def test_samples_and_position_errors(source: str) -> None:
    table = {skill(line[0]): line[1:] for line in rows(source, "table:single_motion_tracking_exp") if len(line) == 7}
    assert list(paper.SAMPLES) == list(paper.POSITION) == [name for name in table if name in paper.SAMPLES]
    for name, ours in paper.SAMPLES.items():
        assert [ours[method] for method in METHODS] == [number(cell) for cell in table[name][:3]], name
        assert [paper.POSITION[name][method] for method in METHODS] == [number(cell) for cell in table[name][3:]], name


def test_what_the_score_and_the_prediction_were_compared_with(source: str) -> None:
    table = {skill(line[0]): line[1:] for line in rows(source, "table:combined_ablation") if len(line) == 7}
    known = [name for name, ours in paper.SAMPLES.items() if "recon" in ours]
    assert known == [name for name in table if name in paper.SAMPLES] and len(known) == 4
    for name in known:
        for ours, cells in ((paper.SAMPLES[name], table[name][:3]), (paper.POSITION[name], table[name][3:])):
            assert [ours[method] for method in ("velocity", "recon", "pfm")] == [number(cell) for cell in cells], name


def test_errors_of_one_policy_for_all_clips(source: str) -> None:
    table = [line for line in rows(source, "table:single_motion_tracking_exp") if line[0] in ("10", "20", "30")]
    assert len(table) == len(paper.GENERAL) == 3
    for horizon, *cells in table:
        ours = paper.GENERAL[float(horizon)]
        assert [ours[method][0] for method in METHODS] == [number(cell) for cell in cells[:3]]
        assert [ours[method][1] for method in METHODS] == [number(cell) for cell in cells[3:]]


def test_rotation_errors(source: str) -> None:
    table = {skill(line[0]): line[1:] for line in rows(source, "tab:supp_rotation_error") if len(line) == 4}
    assert set(paper.ROTATION) == set(table) - {"skill"}
    for name, ours in paper.ROTATION.items():
        assert [ours[method] for method in METHODS] == [number(cell) for cell in table[name]], name


def value(cell: str) -> float:
    return float(cell.removesuffix(r"\%")) / 100 if cell.endswith(r"\%") else float(cell)


def test_the_three_tables_about_the_score(source: str) -> None:
    table = {float(line[0]): line[1:] for line in rows(source, "tab:timestep_structural_discriminability")[1:-1]}
    assert {time: tuple(map(value, cells)) for time, cells in table.items()} == paper.TIMESTEP
    table = {line[0]: line[1:] for line in rows(source, "tab:pgs_noise_robustness")[1:-1]}
    assert len(table) == len(paper.NOISE) == 5
    for count, ours in paper.NOISE.items():
        theirs = table[str(count) if count < 128 else "Ref. ( K=128 )"]
        assert ours == pytest.approx(tuple(map(value, theirs)))


def test_the_perturbation_table(source: str) -> None:
    lines = [line for line in rows(source, "tab:pgs_perturbation_robustness")[2:] if len(line) == 6]
    assert len(lines) == len(paper.PERTURBATION) == 18
    for ((family, severity), ours), (_, stated, *cells) in zip(paper.PERTURBATION.items(), lines, strict=True):
        amount = float(re.findall(r"[\d.]+", stated)[0])
        assert amount == (100 * severity if r"\%" in stated else severity), family
        assert ours == pytest.approx(tuple(map(value, cells))), stated


@pytest.mark.parametrize(
    ("clip", "told"),
    [("g1_walk", "walk"), ("walk", "walk"), ("g1_speed_vault", "speed_vault"), ("Double-Kong", "double_kong")],
)
def test_clips_of_the_paper_are_known_by_name(clip: str, told: str) -> None:
    assert paper.skill_in(clip) == told


@pytest.mark.parametrize("clip", ["walk-000", "walk2_subject1", "cartwheels", ""])
def test_other_clips_are_not_the_papers(clip: str) -> None:
    assert paper.skill_in(clip) is None
