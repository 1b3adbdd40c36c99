"""The same cells as tasks of a Ray cluster: a real one, on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.experiments import run_matrix
from tests.experiments.conftest import STUB, Declare, attempts, steps
from tests.experiments.test_running import alive, until

CLUSTER = """
import ray, sys
made = ray.init(address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
print(made.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""
"""Somebody else's cluster; it lives until nobody holds the other end of its standard input."""

DRIVER = """
import json, sys
from pathlib import Path
from pfmhr.errors import InputError
from pfmhr.experiments import Matrix, run_matrix
matrix, folder, program = Matrix.read(Path(sys.argv[1])), Path(sys.argv[2]), json.loads(sys.argv[3])
if sys.argv[4]:
    import ray
    ray.init(log_to_driver=False)
seen = []
try:
    options = {"program": tuple(program), "attempts": int(sys.argv[5]), "progress": lambda *now: seen.append(now)}
    outcomes = run_matrix(matrix, folder, engine="ray", **options)
    told = {each.cell.name: [each.finished, each.said] for each in outcomes}
except InputError as error:
    told = str(error)
import ray
print(json.dumps({"told": told, "seen": seen, "connected": ray.is_initialized()}))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, str]]:
    """An environment that knows of a cluster."""
    assert importlib.util.find_spec("ray"), "`make setup-dev` installs it"
    known = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32)}
    for _ in range(3):  # Ray gives parts of itself 15 s to start, which is too little on a busy machine
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [sys.executable, "-c", CLUSTER],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            env={**os.environ, **known},
        ) as owner:
            assert owner.stdout is not None
            address = owner.stdout.readline().strip()
            if address:
                yield {**os.environ, **known, "RAY_ADDRESS": address}
            _, said = owner.communicate(timeout=60)
        if address:
            return
    pytest.fail(f"no cluster could be started: {said[-500:]}")


def driver(
    folder: Path, environment: dict[str, str], connected_before: bool = False, attempts: int = 2
) -> subprocess.Popen[str]:
    """A process of its own that runs the declared matrix on Ray: what Ray does to a process is not ours to undo."""
    words = [str(folder / "stubs.toml"), str(folder / "far"), json.dumps(STUB), "yes" if connected_before else ""]
    words.append(str(attempts))
    return subprocess.Popen([sys.executable, "-c", DRIVER, *words], stdout=subprocess.PIPE, text=True, env=environment)


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, _ = process.communicate(timeout=180)
    return json.loads(said.splitlines()[-1])


def results(out: Path) -> dict[str, str]:
    return {path.parent.name: path.read_text() for path in out.glob("*/result.json")}


def test_a_cluster_runs_the_same_cells_as_this_machine(
    tmp_path: Path, declare: Declare, cluster: dict[str, str]
) -> None:
    """Equal results, equal outcomes, equal numbers of attempts: two cells fail for good, two come round."""
    matrix = declare("fine", "fails", "refused", "fails_once", "dies_once")
    far = ended(driver(tmp_path, cluster))
    near = run_matrix(matrix, tmp_path / "near", program=STUB)
    assert far["told"] == {each.cell.name: [each.finished, each.said] for each in near}
    assert sum(finished for finished, _ in far["told"].values()) == 3
    assert results(tmp_path / "far") == results(tmp_path / "near")
    for skill in matrix.skills:
        assert len(attempts(tmp_path / "far", skill)) == len(attempts(tmp_path / "near", skill))
    assert far["seen"][-1] == [300, 500, "3 of 5 cells, 2 failed, 0 s left"]
    assert not far["connected"]  # it left, and the cluster stays: the next test uses it


def test_finished_cells_are_not_repeated_and_a_connection_is_left_as_it_was(
    tmp_path: Path, declare: Declare, cluster: dict[str, str]
) -> None:
    declare("fine", "fails_once", seeds=2)
    (tmp_path / "far" / "fine-add-residual-0").mkdir(parents=True)
    final = {"random": {"success": 0.9, "position_error": 0.02, "rotation_error": 0.1}}
    there = {"samples_to_80": 80, "samples": 100, "grid": 10, "seconds": 6.0, "final": final, "evaluations": []}
    (tmp_path / "far" / "fine-add-residual-0" / "result.json").write_text(json.dumps(there))
    told = ended(driver(tmp_path, cluster, connected_before=True))
    assert told["connected"] and all(finished for finished, _ in told["told"].values())
    assert attempts(tmp_path / "far", "fine", seed=0) == [] and len(attempts(tmp_path / "far", "fine", seed=1)) == 1


def kill_worker(out: Path) -> None:
    """Kill Ray's process behind the cell that waits, and see the cell's own process go with it."""
    until(lambda: len(steps(out, "waits")) == 5, 120.0)
    (first,) = attempts(out, "waits")
    worker = int(Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1])
    assert "ray::run_one" in Path(f"/proc/{worker}/cmdline").read_text()
    os.kill(worker, signal.SIGKILL)
    until(lambda: not alive(first))


def test_a_worker_that_dies_once_too_often_takes_no_other_cell_with_it(
    tmp_path: Path, declare: Declare, cluster: dict[str, str]
) -> None:
    declare("waits", "fine")
    process = driver(tmp_path, cluster, attempts=1)
    kill_worker(tmp_path / "far")
    told = ended(process)["told"]
    assert told["fine-add-residual-0"] == [True, ""]
    finished, said = told["waits-add-residual-0"]
    assert not finished and "worker" in said and "\n" not in said
    assert json.loads((tmp_path / "far" / "waits-add-residual-0" / "failed.json").read_text()) == {"said": said}


def test_a_cell_whose_worker_is_killed_goes_on_with_another(
    tmp_path: Path, declare: Declare, cluster: dict[str, str]
) -> None:
    """Its own process goes with the worker, or the next one would find the directory taken."""
    declare("waits", "fine")
    out, process = tmp_path / "far", driver(tmp_path, cluster)
    kill_worker(out)
    (out / "waits-add-residual-0" / "go").touch()
    assert ended(process)["told"] == {"waits-add-residual-0": [True, ""], "fine-add-residual-0": [True, ""]}
    lines = [json.loads(line) for line in steps(out, "waits")]
    assert [line["step"] for line in lines] == list(range(10, 101, 10))  # nothing twice
    assert [line["process"] for line in lines] == [attempts(out, "waits")[int(place > 4)] for place in range(10)]


def test_an_interruption_stops_the_cells_of_a_cluster(
    tmp_path: Path, declare: Declare, cluster: dict[str, str]
) -> None:
    declare("waits")
    out, process = tmp_path / "far", driver(tmp_path, cluster)
    until(lambda: len(steps(out, "waits")) == 5, 120.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode != 0
    (first,) = attempts(out, "waits")
    until(lambda: not alive(first))
    assert (out / "waits-add-residual-0" / "interrupted").read_text() == "once\n"


def test_a_cluster_that_is_not_there_is_told(tmp_path: Path, declare: Declare) -> None:
    declare("fine")
    environment = {**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
    told = ended(driver(tmp_path, environment))["told"]
    assert told.startswith("127.0.0.1:1: cannot reach the Ray cluster of RAY_ADDRESS")


REAL = """
environments = 4
episodes = 4
evaluate_every = 1
[methods]
add = {}
pfm = { prior = "g1-small" }
[skills]
walk = { motion = "embedded:walk", samples = 200, trim = [0.0, 0.5] }
"""


@pytest.mark.slow
def test_real_cells_learn_the_same_on_a_cluster_made_for_them(tmp_path: Path) -> None:
    """No address, no cluster: one is made, and is gone afterwards. Two trainings on each engine, equal to the bit."""
    (tmp_path / "real.toml").write_text(REAL)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    before = servers()
    for engine in ("ray", "local"):
        words = ["experiment", "run", "real.toml", "-o", engine, "--engine", engine, "--workers", "2", "--json"]
        command = [sys.executable, "-m", "pfmhr", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
        told = json.loads(done.stdout)
        assert told == {"folder": engine, "cells": 2, "finished": 2, "failed": {}} and done.returncode == 0
        assert " of 2 cells, " in done.stderr and " left" in done.stderr and "Traceback" not in done.stderr
    assert servers() == before
    far, near = results(tmp_path / "ray"), results(tmp_path / "local")
    assert set(far) == {"walk-add-residual-0", "walk-pfm-residual-0"}
    assert [learned(far[name]) for name in far] == [learned(near[name]) for name in far]
    assert all(json.loads(result)["threads"] == 1 for result in far.values())


def learned(result: str) -> dict[str, Any]:
    """A result without the times it took and the command, which names its folder."""
    left_out = ("seconds", "time_shares", "made_by")
    return {name: value for name, value in json.loads(result).items() if name not in left_out}


def servers() -> set[str]:
    """Processes that are the head of a Ray cluster."""
    found = (path for path in Path("/proc").glob("[0-9]*/comm") if path.exists())
    return {path.parent.name for path in found if path.read_text().strip() == "gcs_server"}


def test_without_ray_the_engine_says_what_to_install(
    tmp_path: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'pfm-hr\[ray\]'"):
        run_matrix(declare("fine"), tmp_path, engine="ray", program=STUB)
