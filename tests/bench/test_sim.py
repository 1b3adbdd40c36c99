"""The benchmark of the simulation compares like with like and prints what it measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from pfmhr.bench import sim
from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.sim import BatchedSimulation, Scene

from ..sim.states import standing

Capture = pytest.CaptureFixture[str]


class Robots:
    """Remembers the data of every robot that MuJoCo makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[mujoco.MjData] = []
        make = mujoco.MjData

        def remember(model: mujoco.MjModel) -> mujoco.MjData:
            self.made.append(make(model))
            return self.made[-1]

        monkeypatch.setattr(mujoco, "MjData", remember)

    @property
    def positions(self) -> np.ndarray:
        return np.array([data.qpos for data in self.made])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    threads = torch.get_num_threads()
    monkeypatch.setattr(sim, "TRACKED", 4)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("small")
def test_the_benchmark_of_the_simulation(tmp_path: Path, capsys: Capture) -> None:
    command = ["bench", "sim", "--environments", "2", "3", "--seconds", "0.05", "--threads", "1"]
    assert main([*command, "--output", str(tmp_path / "bench.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "bench.json").read_text())
    assert printed["threads"] == 1 and {"commit", "cores", "processor", "mujoco", "torch"} <= set(printed)
    rows: list[dict[str, Any]] = printed["rows"]
    assert [(row["regime"], row["environments"]) for row in rows] == [
        (regime, count) for regime in ("standing", "moving") for count in (2, 3)
    ]
    for row in rows:
        ratio = row["control_steps_per_second"] / row["loop_control_steps_per_second"]
        assert row["ratio"] == pytest.approx(ratio, rel=0.01)
    assert printed["smallest_ratio"] == min(row["ratio"] for row in rows)
    tracker = printed["tracker"]
    whole = tracker["physics_milliseconds"] + tracker["outside_milliseconds"]
    assert tracker["environments"] == 4
    assert tracker["outside_physics"] == pytest.approx(tracker["outside_milliseconds"] / whole, abs=1e-3)
    assert tracker["control_steps_per_second"] == pytest.approx(4000.0 / whole, rel=0.01)
    library = printed["library"]
    assert library["clips"] == 34 and library["seconds_of_motion"] > 34.0
    # At 120 frames a second: 13 + 2·29 numbers of root and joints, 7 of each of 30 bodies, four bytes each.
    assert library["megabytes"] == pytest.approx(
        120 * library["seconds_of_motion"] * 4 * (13 + 58 + 210) / 1e6, rel=0.02
    )
    # Which is faster is not asked of a twentieth of a second on a machine with other work.
    assert min(library["frames_without_bodies_per_second"], library["frames_per_second"]) > 10_000


def test_batch_and_loop_step_the_same_robots_the_same_way(g1: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, robots = Scene(g1), Robots(monkeypatch)
    simulation = BatchedSimulation(scene, 3, threads=1)
    robots.made.clear()
    targets = g1.default_pose + 0.1 * np.random.default_rng(0).standard_normal((sim.NOISES, 3, 29))
    works = sim._batch(simulation, targets), sim._loop(scene, targets)
    for _ in range(4):
        for work in works:
            work()
    assert simulation.positions == pytest.approx(robots.positions, abs=1e-5)  # warm starts: as good, not the same
    assert [data.time for data in robots.made] == pytest.approx([4 / 30] * 3)


def test_who_has_fallen_stands_up_again_in_both(g1: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, robots = Scene(g1), Robots(monkeypatch)
    simulation = BatchedSimulation(scene, 2, threads=1)
    robots.made.clear()
    targets = np.tile(g1.default_pose, (sim.NOISES, 2, 1))
    works = sim._batch(simulation, targets), sim._loop(scene, targets)
    for fallen in (0.4, 2.0):  # nobody is that low after one step, then everybody
        monkeypatch.setattr(sim, "FALLEN", fallen)
        for work in works:
            work()
        up = [np.array_equal(robot, standing(scene)) for robot in (*simulation.positions, *robots.positions)]
        assert up == [fallen == 2.0] * 4


@pytest.mark.parametrize(("environments", "seconds"), [((), 1.0), ((4,), 0.0), ((4,), float("nan"))])
def test_nothing_to_measure_is_refused(environments: tuple[int, ...], seconds: float) -> None:
    with pytest.raises(InputError, match="a time above zero"):
        sim.bench_sim(environments, seconds, 1)
