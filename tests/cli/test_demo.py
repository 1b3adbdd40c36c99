"""The demo: to the end, on after an interruption, not twice, and clear words where it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from pfmhr.cli import demo, main

Capture = pytest.CaptureFixture[str]
TINY = demo.Length(variations=1, prior_steps=3, samples=96)
SETTINGS = "environments = 4\nepisodes = 2\n"
"""One iteration of four robots."""
ADD = "add = {{}}\n"
"""The tracker without the prior, for tests that have no time for two."""


@pytest.fixture(autouse=True)
def few_threads() -> Iterator[None]:
    """The demo chooses torch's threads; what it leaves behind is no business of other tests."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "FAST", TINY)
    monkeypatch.setattr(demo, "use_threads", lambda _: torch.set_num_threads(1))  # test workers share the cores
    monkeypatch.setattr(demo, "MATRIX", demo.MATRIX.replace("actions =", f"{SETTINGS}actions ="))


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the prior on: what comes before is not what these tests are about."""
    for name in ("show_motions", "show_checks", "make_corpus"):
        monkeypatch.setattr(demo, name, lambda *_: None)


def made(folder: Path) -> dict[str, int]:
    """When everything that costs time was written: clips are rewritten, and the page is always new."""
    kept = ("corpus-1/manifest.json", "prior-3/model.safetensors", "motions.png")
    results = folder.glob("trackers-96/*/result.json")
    return {str(path): path.stat().st_mtime_ns for path in (*(folder / name for name in kept), *results)}


def interrupted(*_: Any, progress: Callable[[int, int, str], None], **__: Any) -> None:
    """Half the matrix, which says itself how long the rest will take."""
    for done in (10, 50):
        progress(done, 100, "0 of 2 cells, 3 min left")
    raise KeyboardInterrupt


def test_a_demo_that_was_stopped_goes_on_to_the_end_and_repeats_nothing(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / 'a "demo"'
    monkeypatch.setattr(demo, "MATRIX", demo.MATRIX.replace(ADD, ""))
    with monkeypatch.context() as patch:
        patch.setattr("pfmhr.experiments.run_matrix", interrupted)
        assert main(["demo", "--fast", "-o", str(out)]) == 130
    said = capsys.readouterr()
    assert "the same command goes on" in said.err
    told = [line for line in said.err.splitlines() if "training trackers" in line]
    assert [line.count(" left") for line in told] == [1, 1]
    for verdict in ("sound", "degrees", "joint_order", "jump", "repeated_frames"):
        assert verdict in said.out
    before = made(out)
    assert len(before) == 3 and (out / "motions" / "walk.npz").exists()

    assert main(["demo", "--fast", "-o", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == str(out / "report.html")
    assert "already" in "\n".join(lines)  # the prior is trained
    assert any(line.startswith("walk-000, ADD + PFM-HR, residual") for line in lines)
    finished = made(out)
    assert len(finished) == 4 and finished.items() >= before.items()

    page = (out / "report.html").read_text()
    for title in ("A clip and a broken copy", "What the prior knows", "Watch", "Tracking"):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<iframe") == 2
    page_of = {path.name for path in (out / "report-figures").iterdir()}
    assert {"correlations.svg", "modes.pdf"} <= page_of

    monkeypatch.setattr(demo, "_report", lambda *_: out / "report.html")  # the page alone is always made anew
    assert main(["demo", "--fast", "-o", str(out)]) == 0
    assert made(out) == finished


@pytest.mark.usefixtures("without_pictures")
def test_a_tracker_that_fails_is_one_clear_error(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "FAST", demo.Length(prior_steps=0, samples=96))
    broken = demo.MATRIX.replace("embedded:{clip}", "embedded:crawl").replace(ADD, "")
    monkeypatch.setattr(demo, "MATRIX", broken)
    assert main(["demo", "--fast", "-o", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "5. The prior: g1-small, which comes with the package" in said.out
    (error,) = [line for line in said.err.splitlines() if line.startswith("pfmhr:")]
    place = tmp_path / "trackers-96" / "walk-pfm-residual-0"
    assert error.startswith(f"pfmhr: {place}: training failed: ") and "crawl" in error
    assert not (tmp_path / "report.html").exists()


def test_help_says_what_it_takes(capsys: Capture) -> None:
    assert main(["demo", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--fast" in shown and "goes on after an interruption" in " ".join(shown.split())


KILLED = f"""
from pfmhr.cli import demo, main
demo.FAST = demo.{TINY!r}
demo.MATRIX = demo.MATRIX.replace("actions =", {SETTINGS + "actions ="!r})
main(["demo", "--fast", "-o", "out"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["motions/walk.npz", "corpus-1/.lock", "prior-3/run.json", "trackers-96/*/run.json"])
def test_a_demo_that_was_killed_goes_on(moment: str, tmp_path: Path) -> None:
    """At once and without a word, together with the processes it started."""
    command = [sys.executable, "-c", KILLED]
    first = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL)
    while not list((tmp_path / "out").glob(moment)):
        assert first.poll() is None
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL and not (tmp_path / "out" / "report.html").exists()
    again = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert again.stdout.splitlines()[-1] == "out/report.html"
    assert len(list((tmp_path / "out").glob("trackers-96/*/result.json"))) == 2
    assert (tmp_path / "out" / "report.html").read_text().count("<iframe") == 3
