"""One map: in order, each item for itself, resumable."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.parallel import Journal, map_in_order, map_resumed
from tests.parallel.works import Work


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_outcomes_come_in_the_order_of_the_items(work: Work) -> None:
    items = ["slow", *range(1, 20)]
    outcomes = list(map_in_order(work, items, workers=3))
    assert [outcome.result for outcome in outcomes] == ["slow", *(number**2 for number in range(1, 20))]
    assert [outcome.index for outcome in outcomes] == list(range(20))
    assert not any(outcome.failed for outcome in outcomes)


def test_a_failure_costs_its_own_item_alone(work: Work) -> None:
    items = [1, "refused", 2, "raises", 3, "dies", 4, "unsendable", 5]
    outcomes = list(map_in_order(work, items, workers=2, attempts=2))
    assert [outcome.result for outcome in outcomes if not outcome.failed] == [1, 4, 9, 16, 25]
    codes = {str(items[outcome.index]): (outcome.code, outcome.attempts) for outcome in outcomes if outcome.failed}
    assert codes == {
        "refused": ("test", 1),  # it would be refused again
        "raises": ("unexpected", 2),
        "dies": ("killed", 2),
        "unsendable": ("unexpected", 2),
    }
    assert "RuntimeError: broken" in outcomes[3].error and "signal 9" in outcomes[5].error
    assert (work.calls("refused"), work.calls("raises"), work.calls("dies")) == (1, 2, 2)


def test_what_dies_once_is_done_by_another_process(work: Work) -> None:
    (outcome,) = map_in_order(work, ["dies once"], workers=1)
    assert (outcome.result, outcome.failed, outcome.attempts) == ("dies once", False, 2)


def test_processes_compute_on_one_thread_each(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    (outcome,) = map_in_order(work, ["threads"], workers=1)
    assert outcome.result == "1" and os.environ["OMP_NUM_THREADS"] == "7"


def test_closed_before_its_end_it_leaves_no_process(work: Work) -> None:
    before = children()
    outcomes = map_in_order(work, [1, *["slow"] * 1, *range(2, 50)], workers=2)
    assert next(outcomes).result == 1
    assert len(children()) > len(before)
    outcomes.close()
    assert children() == before


def children() -> set[str]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout
    running = set(found.split())
    return {pid for pid in running if "spawn_main" in command(pid)}


def command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_no_items_need_no_process(work: Work) -> None:
    assert list(map_in_order(work, [])) == []


def test_an_unknown_engine_is_refused(work: Work) -> None:
    with pytest.raises(InputError, match="unknown engine"):
        list(map_in_order(work, [1], engine="slurm"))  # type: ignore[arg-type]


def test_what_the_journal_has_is_not_done_again(work: Work, tmp_path: Path) -> None:
    path, items = tmp_path / "journal.jsonl", [3, "refused", 4]
    for _ in range(2):
        outcomes = list(map_resumed(work, items, ["a", "b", "c"], Journal(path, "squares"), workers=2))
        assert [outcome.result for outcome in outcomes] == [9, None, 16]
        assert [outcome.failed for outcome in outcomes] == [False, True, False]
    assert (work.calls(3), work.calls(4), work.calls("refused")) == (1, 1, 2)


def test_a_journal_cut_in_its_last_line_forgets_that_item(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    list(map_resumed(work, [3, 4], ["a", "b"], Journal(path, "squares"), workers=1))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    journal = Journal(path, "squares")
    assert "a" in journal and "b" not in journal
    list(map_resumed(work, [3, 4], ["a", "b"], journal, workers=1))
    assert path.read_bytes() == whole and (work.calls(3), work.calls(4)) == (1, 2)


def test_a_journal_of_other_settings_or_none_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, "one").record("a", 1)
    with pytest.raises(InputError, match="begun with other settings") as caught:
        Journal(path, "two")
    assert caught.value.code == "exists"
    path.write_text("something else\n")
    with pytest.raises(InputError, match="not a journal"):
        Journal(path, "one")


def test_two_items_of_one_key_are_refused(work: Work, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="key of its own"):
        list(map_resumed(work, [1, 2], ["a", "a"], Journal(tmp_path / "journal.jsonl", "")))


DRIVER = """
import sys
from pathlib import Path
from pfmhr.parallel import Journal, map_resumed
from tests.parallel.works import Work
folder = Path(sys.argv[1])
items = [*range(6), "slow", *range(6, 12)]
if __name__ == "__main__":
    journal = Journal(folder / "journal.jsonl", "")
    for outcome in map_resumed(Work(folder), items, list(map(str, items)), journal, workers=1):
        print(outcome.result, flush=True)
"""


def test_killed_in_the_middle_it_goes_on_and_its_processes_end(work: Work, tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])}
    command = [sys.executable, str(script), str(tmp_path)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert first.stdout is not None
    for _ in range(6):
        first.stdout.readline()
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    lines = (tmp_path / "journal.jsonl").read_text().splitlines()
    done = [json.loads(line)["key"] for line in lines[1:]]
    assert done[:6] == [str(number) for number in range(6)] and len(done) < 13
    time.sleep(1.0)  # the process of the killed one ends when nobody asks any more
    again = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert again.returncode == 0
    assert again.stdout.split() == [*(str(n * n) for n in range(6)), "slow", *(str(n * n) for n in range(6, 12))]
    assert all(work.calls(number) == 1 for number in range(6))


def test_ray_gives_the_same(work: Work) -> None:
    pytest.importorskip("ray")
    items = [1, "refused", 2, "raises", 3]
    outcomes = list(map_in_order(work, items, engine="ray", workers=2))
    assert [(outcome.index, outcome.result, outcome.code, outcome.attempts) for outcome in outcomes] == [
        (0, 1, "", 1), (1, None, "test", 1), (2, 4, "", 1), (3, None, "unexpected", 2), (4, 9, "", 1),
    ]  # fmt: skip
