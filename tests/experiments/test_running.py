"""Cells on workers: once each, tried again after a fault, going on after a kill, stopped by Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.experiments import Matrix, processes, run_matrix
from pfmhr.experiments.report import summarise
from pfmhr.experiments.running import Standing
from pfmhr.files import exclusive
from pfmhr.layout import RESULT
from pfmhr.learning import logging
from pfmhr.learning.runs import RUN
from pfmhr.prior import PosePrior
from pfmhr.results.records import to_json
from pfmhr.results.summary import Summary
from pfmhr.text import duration
from pfmhr.tracking.config import TrackerConfig
from tests.experiments.conftest import STUB, Declare, attempts, steps


def until(true: Callable[[], object], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"


def test_each_cell_gets_what_it_deserves(tmp_path: Path, declare: Declare) -> None:
    """A fault is met with another attempt, bad input is not, and nobody else is held up."""
    matrix = declare("fine", "fails", "refused", "fails_once", "dies_once")
    outcomes = run_matrix(matrix, tmp_path, workers=2, attempts=3, program=STUB)
    became = {outcome.cell.skill: (outcome.finished, outcome.said) for outcome in outcomes}
    assert became == {
        "fine": (True, ""),
        "fails": (False, "the disk is on fire (attempt 3)"),
        "refused": (False, "no such motion (attempt 1)"),
        "fails_once": (True, ""),
        "dies_once": (True, ""),
    }
    tried = {skill: len(attempts(tmp_path, skill)) for skill in matrix.skills}
    assert tried == {"fine": 1, "fails": 3, "refused": 1, "fails_once": 2, "dies_once": 2}
    assert len(steps(tmp_path, "dies_once")) == 10  # the second attempt had nothing left to train
    log = (tmp_path / "fails-add-residual-0" / "console.log").read_text()
    assert log.splitlines() == [f"fails, attempt {number}" for number in (1, 2, 3)]


def test_a_cell_that_is_always_killed_is_told_how(tmp_path: Path, declare: Declare) -> None:
    (outcome,) = run_matrix(declare("dies_once"), tmp_path, attempts=1, program=STUB)
    assert outcome.said == "killed by signal 9; dies_once, attempt 1 (attempt 1)"


def test_finished_cells_are_not_repeated(tmp_path: Path, declare: Declare) -> None:
    matrix = declare("fine", "fails_once", seeds=2)
    assert sum(outcome.finished for outcome in run_matrix(matrix, tmp_path, attempts=1, program=STUB)) == 2
    assert all(outcome.finished for outcome in run_matrix(matrix, tmp_path, attempts=1, program=STUB))
    assert [len(attempts(tmp_path, skill, seed)) for skill in matrix.skills for seed in (0, 1)] == [1, 1, 2, 2]


def test_cells_compute_with_one_thread_where_they_were_started(tmp_path: Path, declare: Declare) -> None:
    run_matrix(declare("fine"), tmp_path, program=STUB)
    result = json.loads((tmp_path / "fine-add-residual-0" / "result.json").read_text())
    assert (result["omp"], result["place"]) == ("1", os.getcwd())


def test_clips_are_found_below_the_data_and_a_run_is_the_same_wherever_they_are(
    tmp_path: Path, declare: Declare
) -> None:
    matrix = declare("fine")
    run_matrix(matrix, tmp_path / "here", program=STUB, data=tmp_path / "clips")
    result = json.loads((tmp_path / "here" / "fine-add-residual-0" / "result.json").read_text())
    assert result["clip"] == str(tmp_path / "clips" / "fine")
    run_matrix(matrix, tmp_path / "there", program=STUB, reuse=[tmp_path / "here"], data=tmp_path / "elsewhere")
    assert json.loads((tmp_path / "there" / "fine-add-residual-0" / "result.json").read_text()) == result


def test_a_folder_of_other_settings_is_refused(tmp_path: Path, declare: Declare) -> None:
    run_matrix(declare("fine"), tmp_path, program=STUB)
    path = tmp_path / "stubs.toml"
    path.write_text(path.read_text().replace("samples = 100", "samples = 50"))
    with pytest.raises(InputError, match="samples: 100 → 50") as caught:
        run_matrix(Matrix.read(path), tmp_path, program=STUB)
    assert caught.value.code == "exists" and "fine-add-residual-0" in str(caught.value)


def test_a_run_begun_without_a_budget_had_its_preset_s(tmp_path: Path, declare: Declare) -> None:
    """Two million samples: half a million is less, and refused; three million are more."""
    run_matrix(declare("fine"), tmp_path, program=STUB)
    settings = tmp_path / "fine-add-residual-0" / "cell.json"
    begun = json.loads(settings.read_text())
    del begun["samples"]
    settings.write_text(json.dumps(begun))
    path = tmp_path / "stubs.toml"
    declared = path.read_text()
    path.write_text(declared.replace("samples = 100", "samples = 500_000"))
    with pytest.raises(InputError, match="samples: None → 500000"):
        processes.require_same(Matrix.read(path).cells, tmp_path)
    path.write_text(declared.replace("samples = 100", "samples = 3_000_000"))
    processes.require_same(Matrix.read(path).cells, tmp_path)


def test_a_setting_that_kept_a_cell_from_beginning_can_be_put_right(tmp_path: Path, declare: Declare) -> None:
    (outcome,) = run_matrix(declare("refused"), tmp_path, program=STUB)
    assert not outcome.finished
    path = tmp_path / "stubs.toml"
    (tmp_path / "clips" / "fine").touch()
    path.write_text(path.read_text().replace("clips/refused", "clips/fine"))
    (outcome,) = run_matrix(Matrix.read(path), tmp_path, program=STUB)
    assert outcome.cell.name == "refused-add-residual-0" and outcome.finished


def test_settings_of_a_cell_that_are_none_are_refused(tmp_path: Path, declare: Declare) -> None:
    run_matrix(declare("fine"), tmp_path, program=STUB)
    (tmp_path / "fine-add-residual-0" / "cell.json").write_text("[]")
    with pytest.raises(InputError, match=r"cell\.json"):
        run_matrix(declare("fine"), tmp_path, program=STUB)


def test_clips_that_are_missing_are_told_at_once_and_nothing_is_run(tmp_path: Path, declare: Declare) -> None:
    matrix = declare("fine", "fails")
    (tmp_path / "clips" / "fails").unlink()
    with pytest.raises(InputError, match=r"clips are not there.*clips/fails.*--data") as caught:
        run_matrix(matrix, tmp_path, program=STUB)
    assert caught.value.code == "not_found" and "clips/fine" not in str(caught.value)
    assert not attempts(tmp_path, "fine")


def test_a_prior_s_folder_is_missed_before_its_baseline_is_trained(tmp_path: Path, declare: Declare) -> None:
    """A name without a slash may be a bundled prior's."""
    declare("fine")
    path = tmp_path / "stubs.toml"
    path.write_text(path.read_text().replace("add = {}", 'add = {}\npfm = { prior = "runs/nowhere" }'))
    with pytest.raises(InputError, match=r"priors are not there.*runs/nowhere"):
        run_matrix(Matrix.read(path), tmp_path, program=STUB)
    path.write_text(path.read_text().replace("runs/nowhere", "g1-small"))
    assert all(outcome.finished for outcome in run_matrix(Matrix.read(path), tmp_path, program=STUB))


def test_what_is_finished_needs_no_clips_any_more(tmp_path: Path, declare: Declare) -> None:
    matrix = declare("fine")
    run_matrix(matrix, tmp_path, program=STUB)
    (tmp_path / "clips" / "fine").unlink()
    assert [outcome.finished for outcome in run_matrix(matrix, tmp_path, program=STUB)] == [True]


def test_one_experiment_at_a_time_runs_in_a_folder(tmp_path: Path, declare: Declare) -> None:
    with exclusive(tmp_path), pytest.raises(InputError) as caught:
        run_matrix(declare("fine"), tmp_path, program=STUB)
    assert caught.value.code == "locked" and not attempts(tmp_path, "fine")


@pytest.fixture
def started(tmp_path: Path, declare: Declare) -> subprocess.Popen[str]:
    """A process that runs two cells which wait in the middle, and a third that would come after them."""
    declare("waits", "waits_too", "fine")
    path = tmp_path / "stubs.toml"
    other = tmp_path / "other" / "waits"
    other.parent.mkdir()
    other.touch()
    path.write_text(path.read_text().replace(str(tmp_path / "clips" / "waits_too"), str(other)))
    code = (
        "import sys; from pathlib import Path; from pfmhr.experiments import Matrix, run_matrix; "
        f"run_matrix(Matrix.read(Path({str(path)!r})), Path({str(tmp_path)!r}), program={STUB!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    until(lambda: len(steps(tmp_path, "waits")) == len(steps(tmp_path, "waits_too")) == 5)
    return process


def test_an_interruption_reaches_cells_once_and_begins_no_other(started: subprocess.Popen[str], tmp_path: Path) -> None:
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode != 0 and "KeyboardInterrupt" in said
    for skill in ("waits", "waits_too"):
        assert (tmp_path / f"{skill}-add-residual-0" / "interrupted").read_text() == "once\n"
        (process,) = attempts(tmp_path, skill)
        assert not alive(process)
    assert not attempts(tmp_path, "fine")


def test_a_killed_experiment_leaves_no_cell_behind_and_goes_on(started: subprocess.Popen[str], tmp_path: Path) -> None:
    started.kill()
    started.communicate(timeout=60)
    (process,) = attempts(tmp_path, "waits")
    until(lambda: not alive(process))
    for skill in ("waits", "waits_too"):
        (tmp_path / f"{skill}-add-residual-0" / "go").touch()
    outcomes = run_matrix(Matrix.read(tmp_path / "stubs.toml"), tmp_path, program=STUB)
    assert all(outcome.finished for outcome in outcomes)
    lines = [json.loads(line) for line in steps(tmp_path, "waits")]
    assert [line["step"] for line in lines] == list(range(10, 101, 10))  # nothing twice
    assert len({line["process"] for line in lines}) == 2


def test_progress_counts_samples_and_tells_the_time_left(tmp_path: Path, declare: Declare) -> None:
    matrix = declare("fine", "refused", "waits")
    standing = Standing(matrix, tmp_path)
    assert standing.now([]) == (0, 300, "0 of 3 cells")
    (tmp_path / "waits-add-residual-0" / "go").parent.mkdir()
    (tmp_path / "waits-add-residual-0" / "go").touch()
    seen: list[tuple[int, int, str]] = []
    run_matrix(matrix, tmp_path, workers=1, program=STUB, progress=lambda *now: seen.append(now))
    assert seen[0][0] == 100 and seen[0][2].startswith("1 of 3 cells, ") and seen[0][2].endswith(" left")
    assert seen[-1][:2] == (200, 300) and seen[-1][2] == "2 of 3 cells, 1 failed, 0 s left"


def test_a_line_of_metrics_that_is_being_written_is_passed_over(tmp_path: Path, declare: Declare) -> None:
    matrix = declare("fine")
    (tmp_path / "fine-add-residual-0").mkdir()
    (tmp_path / "fine-add-residual-0" / "metrics.jsonl").write_text('{"step": 30}\n{"step": 40, "loss": 1')
    assert Standing(matrix, tmp_path).now([])[0] == 30


def test_files_of_a_run_have_the_names_that_tracking_gives_them() -> None:
    assert (processes.METRICS, processes.RESULT, processes.BEGUN) == (logging.METRICS, RESULT, RUN)


def test_a_cell_without_a_budget_has_its_preset_s(tmp_path: Path, declare: Declare) -> None:
    declare("fine")
    path = tmp_path / "stubs.toml"
    path.write_text(path.read_text().replace(", samples = 100", ""))
    assert Standing(Matrix.read(path), tmp_path).now([])[1] == TrackerConfig().samples


def test_a_short_run_is_not_finished_when_its_budget_is_the_preset_s(tmp_path: Path, declare: Declare) -> None:
    out = tmp_path / "out"
    run_matrix(declare("fine"), out, program=STUB)
    path = tmp_path / "stubs.toml"
    path.write_text(path.read_text().replace(", samples = 100", ""))
    run_matrix(Matrix.read(path), out, program=STUB)
    assert len(attempts(out, "fine")) == 2


def test_modules_that_lie_where_the_command_is_run_are_not_taken_for_python_s(
    tmp_path: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('not your random')")
    monkeypatch.chdir(tmp_path)
    (outcome,) = run_matrix(declare("fine"), tmp_path / "out", attempts=1)  # not the stub: an empty file is no clip
    assert "not your random" not in outcome.said and "fine" in outcome.said


def test_durations_are_told_in_fitting_units() -> None:
    assert [duration(seconds) for seconds in (12.3, 95.0, 5940.0, 30000.0)] == [
        "12 s",
        "2 min",
        "99 min",
        "8 h 20 min",
    ]


def test_a_run_that_another_experiment_has_finished_is_not_repeated(tmp_path: Path, declare: Declare) -> None:
    """Told by its settings, not by the name of its folder, and only when it has finished."""
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    run_matrix(declare("fine", "fails"), earlier, attempts=1, program=STUB)
    (earlier / "fine-add-residual-0").rename(earlier / "fine-plain-residual-0")
    outcomes = run_matrix(declare("fine", "fails", seeds=2), later, attempts=1, program=STUB, reuse=[earlier])
    assert [outcome.finished for outcome in outcomes] == [True, False, True, False]
    tried = [len(attempts(later, skill, seed)) for skill in ("fine", "fails") for seed in (0, 1)]
    assert tried == [1, 1, 1, 1]  # seed 0 of "fine" has the attempt that was copied
    copied = [
        (folder / "result.json").stat().st_mtime_ns
        for folder in (earlier / "fine-plain-residual-0", later / "fine-add-residual-0")
    ]
    assert copied[0] == copied[1] and not list(later.glob(".*.copy"))


def test_what_was_begun_is_gone_on_with_and_not_replaced(tmp_path: Path, declare: Declare) -> None:
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    run_matrix(declare("fine"), earlier, program=STUB)
    (later / "fine-add-residual-0").mkdir(parents=True)
    (later / "fine-add-residual-0" / "metrics.jsonl").touch()
    run_matrix(declare("fine"), later, program=STUB, reuse=[earlier])
    assert len(attempts(later, "fine")) == 1
    times = [(folder / "fine-add-residual-0" / "result.json").stat().st_mtime_ns for folder in (earlier, later)]
    assert times[0] < times[1]


def test_what_failed_before_it_learned_anything_is_replaced(tmp_path: Path, declare: Declare) -> None:
    """Run without its clips, say, and then with the runs of somebody who has them."""
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    run_matrix(declare("fine"), earlier, program=STUB)
    (later / "fine-add-residual-0").mkdir(parents=True)
    (later / "fine-add-residual-0" / "failed.json").write_text('{"said": "no such motion"}')
    run_matrix(declare("fine"), later, program=STUB, reuse=[earlier])
    files = [sorted(path.name for path in (folder / "fine-add-residual-0").iterdir()) for folder in (earlier, later)]
    assert files[0] == files[1] and attempts(later, "fine") == attempts(earlier, "fine")


def test_half_a_copy_is_not_reused(tmp_path: Path, declare: Declare) -> None:
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    run_matrix(declare("fine"), earlier, program=STUB)
    before = attempts(earlier, "fine")
    (earlier / "fine-add-residual-0").rename(earlier / ".fine-add-residual-0.copy")
    run_matrix(declare("fine"), later, program=STUB, reuse=[earlier])
    assert attempts(later, "fine") not in ([], before)


def stored(matrix: Matrix, folder: Path, to: Path) -> Summary:
    """The report of an experiment, kept in a file."""
    report = summarise(matrix, folder)
    to.write_text(json.dumps(to_json(report)))
    return report


def test_a_matrix_goes_on_from_its_stored_report_alone(tmp_path: Path, declare: Declare) -> None:
    """Seed 0 was run on a machine that is gone: it is not run again, and the report of both seeds has it as it was."""
    report = tmp_path / "report.json"
    run_matrix(declare("fine"), tmp_path / "gone", program=STUB)
    before = stored(declare("fine"), tmp_path / "gone", report)
    shutil.rmtree(tmp_path / "gone")
    both, here = declare("fine", seeds=2), tmp_path / "here"
    assert all(outcome.finished for outcome in run_matrix(both, here, program=STUB, reuse=[report]))
    assert [len(attempts(here, "fine", seed)) for seed in (0, 1)] == [0, 1]
    after = stored(both, here, report)
    assert after.runs[0] == before.runs[0]
    assert after.rows[0].samples_to_80 == (80e-6, 81e-6) and after.rows[0].minutes == 0.1


def test_a_stored_run_is_taken_if_it_is_long_enough_and_begun_anew_if_it_is_to_be_longer(
    tmp_path: Path, declare: Declare
) -> None:
    """Nothing is left of it to go on from."""
    report, here = tmp_path / "report.json", tmp_path / "here"
    run_matrix(declare("fine"), tmp_path / "gone", program=STUB)
    stored(declare("fine"), tmp_path / "gone", report)
    run_matrix(declare("fine"), here, program=STUB, reuse=[report])
    assert attempts(here, "fine") == []
    path = tmp_path / "stubs.toml"
    path.write_text(path.read_text().replace("samples = 100", "samples = 150"))
    run_matrix(Matrix.read(path), here, program=STUB, reuse=[report])
    assert len(attempts(here, "fine")) == 1


def test_a_stored_run_that_is_to_be_longer_stays_until_it_can_be_run(tmp_path: Path, declare: Declare) -> None:
    """Without its clips nothing is run, and what was known of it is still known."""
    report, here = tmp_path / "report.json", tmp_path / "here"
    matrix = declare("fine")
    run_matrix(matrix, tmp_path / "gone", program=STUB)
    stored(matrix, tmp_path / "gone", report)
    run_matrix(matrix, here, program=STUB, reuse=[report])
    path, clip = tmp_path / "stubs.toml", tmp_path / "clips" / "fine"
    path.write_text(path.read_text().replace("samples = 100", "samples = 150"))
    clip.rename(clip.with_name("elsewhere"))
    with pytest.raises(InputError, match="clips are not there"):
        run_matrix(Matrix.read(path), here, program=STUB, reuse=[report])
    assert len(summarise(matrix, here).runs) == 1


def test_a_prior_that_is_not_that_of_finished_runs_is_told_before_others_are_trained(
    tmp_path: Path, declare: Declare
) -> None:
    out = tmp_path / "out"
    declare("fine", "more")
    path = tmp_path / "stubs.toml"
    path.write_text(path.read_text().replace("add = {}", 'add = { prior = "g1-small" }'))
    matrix = Matrix.read(path)
    run_matrix(matrix, out, program=STUB)
    shutil.rmtree(out / "more-add-residual-0")
    result = out / "fine-add-residual-0" / "result.json"
    content = json.loads(result.read_text())
    result.write_text(json.dumps(content | {"prior_sha256": "0" * 64}))
    with pytest.raises(InputError, match=r"g1-small: this is not the prior that finished runs.*expected 00000000"):
        run_matrix(matrix, out, program=STUB)
    result.write_text(json.dumps(content | {"prior_sha256": PosePrior.load("g1-small").hash}))
    assert all(outcome.finished for outcome in run_matrix(matrix, out, program=STUB))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "not a report of an experiment"),
        ("{", "unreadable JSON"),
        ('{"runs": [{"cell": "walk", "settings": {}, "samples": []}]}', "incomplete run in a report"),
        ('{"runs": [{"samples": []}]}', "do not tell their settings"),
        ('{"runs": [7, "add"]}', "do not tell their settings"),
    ],
)
def test_a_file_that_is_no_report_is_refused(content: str, told: str, tmp_path: Path, declare: Declare) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(InputError, match=told):
        run_matrix(declare("fine"), tmp_path / "runs", program=STUB, reuse=[tmp_path / "report.json"])
    assert not (tmp_path / "runs" / "fine-add-residual-0").exists()


def test_a_folder_to_reuse_that_is_not_there_is_told_before_anything_runs(tmp_path: Path, declare: Declare) -> None:
    with pytest.raises(InputError, match="no runs to reuse"):
        run_matrix(declare("fine"), tmp_path / "runs", program=STUB, reuse=[tmp_path / "nowhere"])
    assert not (tmp_path / "runs" / "fine-add-residual-0").exists()
