"""A matrix of runs: declared, run, resumed, failed and summed up."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.experiments import Matrix, run_matrix
from pfmhr.experiments.processes import Setting, run_cells
from pfmhr.experiments.report import summarise
from pfmhr.layout import EPISODES
from pfmhr.results.common import Episodes
from pfmhr.results.records import to_json
from pfmhr.results.tables.experiments import horizon_lines
from pfmhr.results.wording import reached, saved, verdicts_in_words
from pfmhr.tracking.spec import Clip, RunSpec
from tests.experiments.conftest import STUB, Declare, attempts

SMALL = """
data = "clips"
seeds = [0, 1]
actions = ["residual"]
environments = 4
[methods]
add = {}
pfm = { prior = "g1-small", pooled = true, set = ["agent.std=0.2", "agent.steps=8"] }
[skills]
walk = { motion = "embedded:walk", samples = 96 }
jump = { motion = ["a.pkl", "b.pkl"], samples = 200, trim = [0.0, 1.5], horizon = [1, 2.5] }
"""


def declared(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("preset", "actions"), [("cpu", "residual"), ("paper", "absolute")])
def test_a_matrix_that_names_no_actions_has_its_presets(preset: str, actions: str, tmp_path: Path) -> None:
    text = f'preset = "{preset}"\n[methods]\nadd = {{}}\n[skills]\nwalk = {{ motion = "walk.npz" }}'
    (cell,) = Matrix.read(declared(tmp_path, text)).cells
    assert cell.actions == actions and dict(cell.options)["actions"] == actions


def test_a_matrix_has_a_cell_for_every_combination(tmp_path: Path) -> None:
    matrix = Matrix.read(declared(tmp_path))
    assert matrix.name == "small" and len(matrix.cells) == 8
    assert [cell.name for cell in matrix.cells[:2]] == ["walk-add-residual-0", "walk-pfm-residual-0"]
    assert {cell.seed for cell in matrix.cells[:4]} == {0}  # a round of all before the next seed


def test_a_skill_may_have_seeds_of_its_own(tmp_path: Path) -> None:
    """Three of the jump, shared ones for the walk; the first of each before the second of any."""
    matrix = Matrix.read(declared(tmp_path, SMALL.replace("samples = 200", "samples = 200, seeds = [7, 8, 9]")))
    cells = [(cell.skill, cell.seed) for cell in matrix.cells if cell.method == "add"]
    assert cells == [("walk", 0), ("jump", 7), ("walk", 1), ("jump", 8), ("jump", 9)]
    assert "seeds" not in matrix.cells[0].settings and dict(matrix.cells[-1].options)["seed"] == 9


def test_a_method_may_have_skills_of_its_own(tmp_path: Path) -> None:
    """A control of the walk alone: the jump has no cell of it, and its settings do not tell."""
    matrix = Matrix.read(declared(tmp_path, SMALL.replace("add = {}", 'add = {}\nrandom = { skills = ["walk"] }')))
    assert [cell.name for cell in matrix.cells if cell.method == "random"] == [
        "walk-random-residual-0",
        "walk-random-residual-1",
    ]
    assert len(matrix.cells) == 10 and all("skills" not in cell.settings for cell in matrix.cells)


def test_a_skill_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Matrix.read(declared(tmp_path, SMALL.replace("add = {}", 'add = { skills = ["walk", "hop"] }')))
    assert "methods.add" in str(caught.value) and "hop" in str(caught.value) and "walk, jump" in str(caught.value)


def test_a_cell_is_the_spec_of_a_run(tmp_path: Path) -> None:
    cells = {cell.name: cell for cell in Matrix.read(declared(tmp_path)).cells}
    spec = cells["jump-pfm-residual-1"].spec()
    assert spec.motions == (Clip("clips/a.pkl", trim=(0.0, 1.5)), Clip("clips/b.pkl", trim=(0.0, 1.5)))
    tracker = spec.tracker
    assert (tracker.modulator.kind, tracker.modulator.prior, tracker.modulator.settings.pooled) == (
        "pfm",
        "g1-small",
        True,
    )
    assert (tracker.agent.std, tracker.agent.steps, tracker.horizons, tracker.seed) == (0.2, 8, (1.0, 2.5), 1)
    assert (tracker.samples, tracker.environment.environments) == (200, 4)
    walk = cells["walk-add-residual-0"]
    assert walk.spec(Path("elsewhere")).motions == (Clip("embedded:walk"),)
    assert cells["jump-add-residual-0"].spec(Path("elsewhere")).motions[0].place == "elsewhere/clips/a.pkl"
    assert "set" not in dict(walk.options) and walk.spec().tracker.modulator.kind == "none"
    spec.write(tmp_path / "spec.json")
    assert RunSpec.read(tmp_path / "spec.json") == spec


def test_a_cell_trains_what_its_spec_says(tmp_path: Path) -> None:
    """By the program that cells are, in a process of its own; what is wrong comes as JSON, with a code."""
    text = SMALL.replace("[methods]", 'set = ["agent.hidden=[8]", "adversary.hidden=[8]"]\nepisodes = 2\n[methods]')
    cell = next(cell for cell in Matrix.read(declared(tmp_path, text)).cells if cell.name == "walk-add-residual-1")
    (outcome,) = next(outcomes for outcomes in run_cells([cell], Setting(tmp_path, 1, tmp_path), 1) if outcomes)
    assert outcome.finished, outcome.said
    result = json.loads((tmp_path / cell.name / "result.json").read_text())
    assert (result["samples"], result["seed"], result["motions"]) == (96, 1, ["walk-000"])
    missing = replace(cell, motions=("nowhere.npz",), seed=7)
    (outcome,) = next(outcomes for outcomes in run_cells([missing], Setting(tmp_path, 2, tmp_path), 1) if outcomes)
    assert not outcome.finished and outcome.said == "nowhere.npz: no such motion (attempt 1)"


def test_settings_of_all_of_a_skill_and_of_a_method_add_up(tmp_path: Path) -> None:
    text = """
    set = ["agent.std=0.2"]
    methods = { add = {}, pfm = { set = ["agent.std=0.4"] } }
    skills = { walk = { motion = "a.npz", set = ["agent.steps=8"] } }
    """
    found = [dict(cell.options)["set"] for cell in Matrix.read(declared(tmp_path, text)).cells]
    assert found == [("agent.std=0.2", "agent.steps=8"), ("agent.std=0.2", "agent.steps=8", "agent.std=0.4")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("seeds", "speed"),
        ("prior", "priors"),
        ("motion", "motions"),
        ("[skills]", "[skill]"),
        ('"residual"', '"relative"'),
        ('["residual"]', '"residual"'),
        ("[0, 1]", "[0.5]"),
        ("[0, 1]", "3"),
        ("[0, 1]", "[0, 0]"),
        ("= {}", "= {"),
        ("= {}", "= 3"),
        ("true", "1"),
        ("96", "0"),
        ("96", "2.5e6"),
        ("96", '"96"'),
        ('"embedded:walk"', "7"),
        ("[0.0, 1.5]", "[0.0]"),
        ('["residual"]', '[["residual"]]'),
        ("add = {}", '"" = {}'),
        ("add = {}", "add = { alpha = -3 }"),
        ("add = {}", "add = { t_eval = 1.5 }"),
        ("add = {}", 'add = { modulator = "pmf" }'),
        ("environments = ", "environments = -"),
        ("[methods]", 'preset = "huge"\n[methods]'),
        ("add = {}", 'add = { set = ["seed=7"] }'),
        ("samples = 96", 'samples = 96, set = ["samples = 64"]'),
        ("[1, 2.5]", "2.5"),
        ("add = {}", 'add = { skills = "walk" }'),
        ("add = {}", "add = { skills = [] }"),
        ("samples = 96", "samples = 96, seeds = []"),
        ("samples = 96", "samples = 96, seeds = [1, 1]"),
        ("environments", 'name = "../elsewhere"\nenvironments'),
        ("walk =", '"../walk" ='),
        ("add = {}", '"a-b" = {}\n"c-a-b" = {}\n[skills.walk-c]\nmotion = "x"\n[methods.d]'),
    ],
)
def test_what_a_matrix_does_not_know_is_an_error(change: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Matrix.read(declared(tmp_path, SMALL.replace(change, told, 1)))
    assert caught.value.code == "bad_experiment" and "small.toml" in str(caught.value)


def test_a_missing_matrix_is_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "run", str(tmp_path / "none.toml")]) == 2
    assert "no such experiment" in capsys.readouterr().err


def test_a_matrix_from_the_command_line(
    tmp_path: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One cell is run, one fails; run again, the first is left alone; what is done is reported."""
    declare("fine", "refused", "fails")
    monkeypatch.setattr("pfmhr.experiments.run_matrix", partial(run_matrix, program=STUB))
    path, out = str(tmp_path / "stubs.toml"), tmp_path / "out"
    assert main(["experiment", "run", path, "-o", str(out), "--workers", "1"]) == 1
    said = capsys.readouterr()
    assert "1 of 3 cells finished, 2 failed" in said.out
    assert "refused-add-residual-0: no such motion (attempt 1)" in said.err
    assert "fails-add-residual-0: the disk is on fire (attempt 2)" in said.err
    assert main(["experiment", "run", path, "-o", str(out), "--attempts", "1", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["cells"], told["finished"], list(told["failed"])) == (
        3,
        1,
        [f"{n}-add-residual-0" for n in ("refused", "fails")],
    )
    assert [len(attempts(out, skill)) for skill in ("fine", "refused", "fails")] == [1, 2, 3]
    assert main(["experiment", "report", path, "-o", str(out), "--output", str(tmp_path / "new" / "sum.json")]) == 0
    assert {each.name for each in (tmp_path / "new").iterdir()} == {"sum.json", "sum.png", "sum-curves.png"}
    kept = json.loads((tmp_path / "new" / "sum.json").read_text())
    assert kept["cells"] == {"finished": 1, "all": 3} and "commit" in kept
    assert kept["failed"]["refused-add-residual-0"] == "no such motion (attempt 1)" and len(kept["failed"]) == 2
    assert "fails-add-residual-0 failed: the disk is on fire (attempt 1)" in capsys.readouterr().out


def test_a_file_in_place_of_the_runs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "report", str(declared(tmp_path)), "-o", str(tmp_path / "sum.json")]) == 2
    assert "--output" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--workers", "--attempts"])
def test_no_worker_and_no_attempt_are_refused(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "run", str(declared(tmp_path)), option, "0"]) == 2
    assert f"{option} must be at least 1" in capsys.readouterr().err


def pretend(folder: Path, name: str, needed: float | None, **more: Any) -> None:
    """A finished run that needed so many million samples of two."""
    final = {"success": 0.9, "position_error": 0.02 + 0.002 * int(name[-1]), "rotation_error": 0.1, **more}
    reached = None if needed is None else 1e6 * needed
    curve = [{"samples": 0, "success": 0.0}, {"samples": 2_000_000, "success": 1.0}]
    result: dict[str, Any] = {"samples_to_80": reached, "samples": 2_000_000, "grid": 1000, "seconds": 60.0}
    (folder / name).mkdir(parents=True)
    (folder / name / "result.json").write_text(json.dumps({**result, "final": {"random": final}, "evaluations": curve}))


def test_a_summary_pairs_seeds_and_counts_what_never_converged(tmp_path: Path) -> None:
    for seed, (plain, ours) in enumerate([(1.0, 0.8), (1.2, 0.9)]):
        pretend(tmp_path, f"walk-add-residual-{seed}", plain)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", ours)
    pretend(tmp_path, "jump-add-residual-0", 1.5)
    pretend(tmp_path, "jump-pfm-residual-0", None)
    summary = summarise(Matrix.read(declared(tmp_path)), tmp_path)
    rows = {(row.skill, row.method): row for row in summary.rows}
    walk = rows["walk", "pfm"]
    assert (walk.mean, walk.deviation) == pytest.approx((0.85, 0.05))
    assert walk.difference.mean == pytest.approx(-0.25) and walk.difference.better == 1.0
    assert rows["jump", "pfm"].mean is None and rows["jump", "pfm"].converged == 0
    assert rows["jump", "pfm"].difference.mean == pytest.approx(0.5)  # at least to the end of its budget
    (verdict,) = summary.verdicts
    for run in tmp_path.glob("*-1"):
        shutil.rmtree(run)
    assert summarise(Matrix.read(declared(tmp_path)), tmp_path).verdicts == ()  # single seeds are no verdict
    assert verdict.probability == 1.0 and verdict.ratio == pytest.approx((0.8 * 0.75) ** 0.5)
    assert verdict.ratio_low <= verdict.ratio <= verdict.ratio_high
    assert (verdict.skills, verdict.runs, verdict.runs_of_plain) == (1, 2, 2)
    assert verdict.skills_left_out == 1  # of the jump there is one run each, which would seem never to vary
    (said,) = verdicts_in_words(summary)
    assert said.endswith("; fewer in 2 of 3 pairs of the same skill and seed")  # both walks sooner, the jump never
    (said,) = verdicts_in_words(replace(summary, verdicts=()))
    assert said.startswith("pfm (residual actions): needs fewer samples than add in 2 of 3 pairs ")


def test_pairs_that_never_got_there_say_nothing_and_half_of_one_is_a_bound(tmp_path: Path) -> None:
    """Seed 0: neither; seed 1: plain at 1.5 of 2 million, ours never."""
    for seed, plain in enumerate([None, 1.5]):
        pretend(tmp_path, f"walk-add-residual-{seed}", plain)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", None)
        pretend(tmp_path, f"jump-add-residual-{seed}", None)
        pretend(tmp_path, f"jump-pfm-residual-{seed}", None)
    summary = summarise(Matrix.read(declared(tmp_path)), tmp_path)
    rows = {(row.skill, row.method): row for row in summary.rows}
    gap = rows["walk", "pfm"].difference
    assert (gap.mean, gap.seeds, gap.bounds, gap.untold) == (pytest.approx(0.5), 1, 1, 1)
    assert gap.low is None and saved(rows["walk", "pfm"]) == "-0.50 (1 of 1 a bound)"
    assert rows["jump", "pfm"].difference is None and saved(rows["jump", "pfm"]) == ""
    (verdict,) = summary.verdicts
    assert verdict.ratio is None  # one pair tells something, and would seem never to vary
    assert verdict.probability == 0.25  # never better, and alike in two of four pairs
    assert (verdict.skills, verdict.skills_left_out) == (1, 1)  # the jump, which nobody learned
    json.dumps(to_json(summary), allow_nan=False)


def test_a_run_that_could_do_it_before_it_learned_is_in_no_ratio(tmp_path: Path) -> None:
    for seed in (0, 1):
        pretend(tmp_path, f"walk-add-residual-{seed}", 0.0)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", 0.1)
    (verdict,) = summarise(Matrix.read(declared(tmp_path)), tmp_path).verdicts
    assert verdict.ratio is None and verdict.probability == 0.0


def test_a_matrix_may_say_what_its_methods_are_compared_with(tmp_path: Path) -> None:
    for method in ("add", "pfm"):
        pretend(tmp_path, f"walk-{method}-residual-0", 1.0)
    summary = summarise(Matrix.read(declared(tmp_path, 'plain = "pfm"\n' + SMALL)), tmp_path)
    rows = {row.method: row for row in summary.rows}
    assert summary.plain == "pfm" and rows["add"].difference is not None and rows["pfm"].difference is None
    with pytest.raises(InputError, match="no such method"):
        Matrix.read(declared(tmp_path, 'plain = "amp"\n' + SMALL))


def test_a_report_may_compare_with_any_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seen from the prior, which needed 0.8 million samples, plain ADD needed 0.2 more."""
    file = str(declared(tmp_path))
    for name, needed in (("walk-add-residual-0", 1.0), ("walk-pfm-residual-0", 0.8)):
        pretend(tmp_path, name, needed)
    assert main(["experiment", "report", file, "--out", str(tmp_path), "--against", "pfm", "--json"]) == 0
    rows = {row["method"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["add"]["difference"]["mean"] == pytest.approx(0.2) and rows["pfm"]["difference"] is None
    assert main(["experiment", "report", file, "--out", str(tmp_path), "--against", "amp"]) == 2
    said = capsys.readouterr().err
    assert "amp" in said and "add, pfm" in said and "small.toml" in said


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("prior", ("walk-pfm-residual-0", "walk-pfm-residual-1")),
        ("prior", ("walk-pfm-residual-0", "jump-pfm-residual-0")),
        ("clips", ("walk-pfm-residual-0", "walk-add-residual-0")),
    ],
)
def test_runs_with_other_files_of_the_same_name_are_not_compared(
    what: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """Of a method every run has the same prior, of a skill the same clips."""
    for place, name in enumerate((*names, "jump-add-residual-1")):
        pretend(tmp_path, name, 1.0)
        path = tmp_path / name / "result.json"
        told = {f"{what}_sha256": f"{place:08d}"} if place < 2 else {}  # the third is of a time that did not tell
        path.write_text(json.dumps({**json.loads(path.read_text()), **told}))
    with pytest.raises(InputError, match=f"not trained with the same {what}") as caught:
        summarise(Matrix.read(declared(tmp_path)), tmp_path)
    assert all(name in str(caught.value) for name in names) and "00000001" in str(caught.value)
    shutil.rmtree(tmp_path / names[1])
    summarise(Matrix.read(declared(tmp_path)), tmp_path)


def test_methods_of_one_prior_have_the_same(tmp_path: Path) -> None:
    """The prior and its own factors, shuffled: of two priors of that name nothing could be learned."""
    path = declared(tmp_path, SMALL.replace("add = {}", 'add = {}\nshuffled = { prior = "g1-small" }'))
    for place, name in enumerate(("walk-pfm-residual-0", "walk-shuffled-residual-0")):
        pretend(tmp_path, name, 1.0)
        result = tmp_path / name / "result.json"
        result.write_text(json.dumps({**json.loads(result.read_text()), "prior_sha256": f"{place:08d}"}))
    with pytest.raises(InputError, match=r"same prior.*walk-shuffled-residual-0.*walk-pfm-residual-0"):
        summarise(Matrix.read(path), tmp_path)


def test_a_report_is_json_and_replaces_nothing_of_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = declared(tmp_path)
    pretend(tmp_path / "runs", "walk-add-residual-0", 1.0)
    result = tmp_path / "runs" / "walk-add-residual-0" / "result.json"
    before = result.read_text()
    for output, told in ((tmp_path / "dots.png", "ends with .json"), (result, "would replace what is read")):
        assert main(["experiment", "report", str(path), "-o", str(tmp_path / "runs"), "--output", str(output)]) == 2
        assert told in capsys.readouterr().err
    assert result.read_text() == before and not (tmp_path / "dots.png").exists()


def test_a_row_has_success_by_budget_errors_and_time_with_deviations(tmp_path: Path) -> None:
    for seed, needed in enumerate([1.0, None]):
        pretend(tmp_path, f"walk-add-residual-{seed}", needed)
    (row,) = summarise(Matrix.read(declared(tmp_path)), tmp_path).rows
    assert (row.seeds, row.seed_numbers, row.samples_to_80) == (2, (0, 1), (1.0, None))
    assert [(each.samples, each.success) for each in row.success_at] == [
        (0.5, 0.25), (1.0, 0.5), (1.5, 0.75), (2.0, 1.0),
    ]  # fmt: skip
    assert row.budget == 2.0 and reached(row) == "1.00 (1 of 2)"  # one run has no deviation
    assert (row.position_error, row.deviations["position_error"]) == pytest.approx((0.021, 0.001))
    assert (row.rotation_error, row.minutes, row.deviations["minutes"]) == (0.1, 1.0, 0.0)
    assert row.curve.samples == (0.0, 2.0) and row.curve.highest == (0.0, 1.0)


def test_a_row_has_its_errors_at_every_horizon(tmp_path: Path) -> None:
    for seed, error in enumerate([0.05, 0.09]):
        longer = [{"horizon": 2.5, "success": 0.5, "position_error": error}]
        pretend(tmp_path, f"jump-add-residual-{seed}", 1.0, horizon=1.0, horizons=longer)
    summary = summarise(Matrix.read(declared(tmp_path)), tmp_path)
    (row,) = summary.rows
    first, second = row.horizons
    assert (first.horizon, first.success, first.position_error) == (1.0, 0.9, pytest.approx(0.021))
    assert (second.horizon, second.success, second.rotation_error) == (2.5, 0.5, None)
    assert (second.position_error, second.deviations["position_error"]) == pytest.approx((0.07, 0.02))
    (kept,) = summary.runs[1].final["random"].horizons
    assert (kept.horizon, kept.position_error) == (2.5, 0.09)
    (tmp_path / "jump-add-residual-1" / "result.json").write_text(json.dumps(to_json(summary.runs[1].result(tmp_path))))
    assert summarise(Matrix.read(declared(tmp_path)), tmp_path).rows == summary.rows  # a stored run has them too
    line = horizon_lines(summary.rows)[1]
    assert line == ["jump", "residual", "add", "2", "2.5", "50.0 ± 0.0", "70.0 ± 20.0", "–", "–"]


def test_every_run_is_kept_with_what_its_prior_did(tmp_path: Path) -> None:
    """Two iterations between evaluations: factors 0.8 and 1.0, half of the first cut as far as ever."""
    pretend(tmp_path, "walk-add-residual-0", 1.0)
    pretend(tmp_path, "walk-pfm-residual-0", 0.5)
    figures = [(1_000_000, 0.8, 0.5, 0.5, 1.0), (2_000_000, 1.0, 1.0, 0.0, 0.0)]
    names = ("step", "modulator_multiplier", "modulator_share_good", "modulator_share_bad", "modulator_strength")
    lines = [json.dumps(dict(zip(names, line, strict=True))) for line in figures]
    (tmp_path / "walk-pfm-residual-0" / "metrics.jsonl").write_text("\n".join(lines))
    summary = summarise(Matrix.read(declared(tmp_path)), tmp_path)
    plain, ours = summary.runs
    assert (plain.cell, plain.samples, plain.success) == ("walk-add-residual-0", (0, 2_000_000), (0.0, 1.0))
    assert plain.multiplier == () and plain.final["random"].position_error == 0.02
    assert (ours.multiplier, ours.share_good, ours.share_bad) == ((0.9,), (0.75,), (0.25,))
    assert ours.strength == (0.5,)
    assert summary.core_hours == 0.03  # two minutes


def kept(folder: Path, *lasting: int) -> None:
    """Episodes of two robots from the same frames, tracked so long; E_pos grows by 1 cm a step, times the last."""
    steps = np.arange(1, 11)
    position = np.where(steps <= np.array(lasting)[:, None], 0.01 * steps * max(lasting), np.nan)
    Episodes(np.zeros(2), np.array([0, 40]), position, 2 * position).save(folder / EPISODES)


def test_errors_are_compared_over_what_both_tracked(tmp_path: Path) -> None:
    """Common are the first two steps of one robot and the first four of the other: means of 1 to 4 cm."""
    for method, lasting in (("add", (2, 10)), ("pfm", (5, 4))):
        pretend(tmp_path, f"walk-{method}-residual-0", 1.0)
        kept(tmp_path / f"walk-{method}-residual-0", *lasting)
    pretend(tmp_path, "walk-add-residual-1", 1.0)
    pretend(tmp_path, "walk-pfm-residual-1", 1.0)  # of earlier versions: without episodes
    plain, ours = summarise(Matrix.read(declared(tmp_path)), tmp_path).rows
    assert plain.common is None and ours.common is not None
    assert (ours.common.seeds, ours.common.frames) == (1, 6)
    mean = 0.01 * (1 + 2 + 1 + 2 + 3 + 4) / 6
    assert (ours.common.position_error, ours.common.plain_position_error) == pytest.approx((5 * mean, 10 * mean), 1e-3)
    assert ours.common.rotation_error == pytest.approx(10 * mean, 1e-3)


def test_areas_under_the_curves_are_paired_by_seed(tmp_path: Path) -> None:
    """Success grows linearly from 0 to 1: half of the budget. A run that knows it all at once has an area of 1."""
    for seed in (0, 1):
        pretend(tmp_path, f"walk-add-residual-{seed}", 1.0)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", 1.0)
    path = tmp_path / "walk-pfm-residual-1" / "result.json"
    content = json.loads(path.read_text())
    content["evaluations"][0]["success"] = 1.0
    path.write_text(json.dumps(content))
    plain, ours = summarise(Matrix.read(declared(tmp_path)), tmp_path).rows
    assert (plain.area, plain.area_difference) == (0.5, None)
    assert (ours.area, ours.deviations["area"]) == (0.75, 0.25) and ours.area_difference is not None
    assert ours.area_difference.mean == 0.25 and ours.area_difference.deviation == pytest.approx(0.125**0.5)


def test_the_report_shows_everything_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed, (plain, ours) in enumerate([(1.0, 0.8), (1.2, 0.9)]):
        pretend(tmp_path, f"walk-add-residual-{seed}", plain)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", ours)
    pretend(tmp_path, "jump-pfm-residual-0", None)
    assert main(["experiment", "report", str(declared(tmp_path)), "-o", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "walk residual pfm 2 0.85 ± 0.05 +0.25 [-0.39, +0.89] 25 50 75 100 21.0 ± 1.0 0.100 ± 0.000 1.0 ± 0.0" in shown
    )
    assert "jump residual pfm 1 Failed 25 50 75 100" in shown
    told = "pfm (residual actions, 1 skill, 2 runs): needs fewer samples than add with probability 1.00 [1.00, 1.00]; "
    assert (
        f"{told}typically 0.77" in shown
        and "(interquartile mean of paired ratios)" in shown
        and "5 of 8 cells finished" in shown
    )
    assert main(["experiment", "report", str(declared(tmp_path)), "-o", str(tmp_path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 3


def test_a_report_of_other_settings_or_of_a_broken_file_is_refused(tmp_path: Path) -> None:
    pretend(tmp_path, "walk-add-residual-0", 1.0)
    matrix = Matrix.read(declared(tmp_path))
    (tmp_path / "walk-add-residual-0" / "cell.json").write_text(
        json.dumps({**matrix.cells[0].settings, "samples": 700})
    )
    with pytest.raises(InputError, match="samples: 700 → 96"):
        summarise(matrix, tmp_path)
    (tmp_path / "walk-add-residual-0" / "cell.json").unlink()
    (tmp_path / "walk-add-residual-0" / "result.json").write_text("{")
    with pytest.raises(InputError, match=r"result\.json: unreadable JSON"):
        summarise(matrix, tmp_path)
    (tmp_path / "walk-add-residual-0" / "result.json").write_text("{}")
    with pytest.raises(InputError, match=r"result\.json: incomplete result: 'samples'"):
        summarise(matrix, tmp_path)


def test_a_cell_with_a_larger_budget_is_not_finished(tmp_path: Path, declare: Declare) -> None:
    """A result of 100 samples is one until the matrix wants 150; then the cell is run again, in its folder."""
    out, matrix = tmp_path / "out", declare("fine")
    assert [outcome.finished for outcome in run_matrix(matrix, out, program=STUB)] == [True]
    longer = tmp_path / "stubs.toml"
    longer.write_text(longer.read_text().replace("samples = 100", "samples = 150"))
    with pytest.raises(InputError, match="no cell"):
        summarise(Matrix.read(longer), out)
    run_matrix(Matrix.read(longer), out, program=STUB)
    assert len(attempts(out, "fine")) == 2
    with pytest.raises(InputError, match="samples: 150 → 100"):
        run_matrix(matrix, out, program=STUB)


def test_an_experiment_without_results_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cell"):
        summarise(Matrix.read(declared(tmp_path)), tmp_path)


SHIPPED = sorted((Path(__file__).resolve().parents[2] / "experiments").glob("*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_experiments_of_the_project_can_be_run(path: Path) -> None:
    """Every file reads, is named as its experiment, and every cell is a run whose settings exist."""
    matrix = Matrix.read(path)
    assert matrix.name == path.stem
    for cell in matrix.cells[: len(matrix.skills) * len(matrix.actions) * len(matrix.methods)]:
        tracker = cell.spec().tracker
        assert tracker.seed == cell.seed and tracker.environment.actions == cell.actions
        assert tracker.samples == cell.budget


def test_a_ratio_says_of_how_many_pairs_it_knows_bounds_only(tmp_path: Path) -> None:
    """Plain gets there with 1 of 2 million samples in all three seeds, ours never, never, and with 0.8."""
    for seed, ours in enumerate([None, None, 0.8]):
        pretend(tmp_path, f"walk-add-residual-{seed}", 1.0)
        pretend(tmp_path, f"walk-pfm-residual-{seed}", ours)
    path = declared(tmp_path)
    path.write_text(path.read_text().replace("seeds = [0, 1]", "seeds = [0, 1, 2]"))
    summary = summarise(Matrix.read(path), tmp_path)
    (verdict,) = summary.verdicts
    assert verdict.ratio == pytest.approx((2.0 * 2.0 * 0.8) ** (1 / 3))
    assert (verdict.ratio_bounds, verdict.ratio_pairs) == (2, 3)
    assert "(interquartile mean of paired ratios, 2 of 3 pairs a bound)" in verdicts_in_words(summary)[0]


def test_a_run_that_gets_there_with_its_last_sample_is_before_one_that_never_does(tmp_path: Path) -> None:
    pretend(tmp_path, "walk-add-residual-0", None)
    pretend(tmp_path, "walk-pfm-residual-0", 2.0)
    rows = summarise(Matrix.read(declared(tmp_path)), tmp_path).rows
    gap = next(row for row in rows if row.method == "pfm").difference
    assert gap.better == 1.0 and gap.mean == 0.0 and gap.bounds == 1
