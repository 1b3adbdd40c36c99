"""Environments that diverge are named; MuJoCo neither prints about them nor leaves a file behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from pfmhr.robots import Robot
from pfmhr.sim import BatchedSimulation, Scene, SceneConfig

from .states import standing, started

MANY = 256


@pytest.fixture(autouse=True)
def no_handler() -> Iterator[None]:
    """MuJoCo as it is when nobody has made a simulation yet."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(None)
    yield
    mujoco.set_mju_user_warning(before)


def explode(scene: Scene, simulation: BatchedSimulation, every: int = 1) -> np.ndarray:
    """Make every n-th environment far too fast, step, and return who exploded."""
    count = simulation.environments
    simulation.reset(np.arange(count), np.tile(standing(scene), (count, 1)), np.zeros((count, scene.model.nv)))
    simulation.velocities[::every] = 1e9
    return simulation.step(np.tile(scene.robot.default_pose, (count, 1)))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_explosions_are_reported_without_a_word_or_a_file(
    scene: Scene, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    simulation = started(scene, np.tile(standing(scene), (MANY, 1)), threads=threads)
    exploded = explode(scene, simulation, every=2)
    simulation.close()
    assert exploded.tolist() == [True, False] * (MANY // 2) and simulation.exploded == MANY // 2
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("substeps", [1, 2, 4])
def test_an_explosion_right_after_a_reset_is_seen_whatever_the_number_of_physics_steps(
    g1: Robot, substeps: int
) -> None:
    # After one physics step MuJoCo's own restart and a new episode would show the same time.
    scene = Scene(g1, SceneConfig(physics_rate=30.0 * substeps))
    simulation = started(scene, np.tile(standing(scene), (4, 1)))
    simulation.positions[0, 0] = np.nan
    simulation.velocities[1] = 1e9
    simulation.velocities[2, 8] = np.inf
    assert simulation.step(np.tile(g1.default_pose, (4, 1))).tolist() == [True, True, True, False]


def test_mujoco_by_itself_would_write_a_file(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = mujoco.MjData(scene.model)
    data.qvel[:] = 1e12
    mujoco.mj_step(scene.model, data)
    assert [file.name for file in tmp_path.iterdir()] == ["MUJOCO_LOG.TXT"]
    assert "unstable" in "".join(capfd.readouterr())


def test_no_bit_of_the_others_changes_though_one_thread_steps_them_all(scene: Scene) -> None:
    start = np.tile(standing(scene), (16, 1))
    wanted = scene.robot.default_pose + np.random.default_rng(0).normal(scale=0.1, size=(16, 29))
    calm, wild = started(scene, start), started(scene, start)
    for _ in range(5):
        wild.positions[::2, 9] = np.nan
        assert wild.step(wanted)[::2].all() and not calm.step(wanted).any()
        assert np.array_equal(wild.state[1::2], calm.state[1::2])
        assert np.array_equal(wild.frames("position")[1::2], calm.frames("position")[1::2])


def test_when_all_explode_at_every_step_the_threads_still_come_back(scene: Scene) -> None:
    simulation = started(scene, np.tile(standing(scene), (MANY, 1)), threads=4)
    begun = time.perf_counter()
    for _ in range(10):
        assert explode(scene, simulation).all()
    assert time.perf_counter() - begun < 60.0  # half a second on idle cores
    simulation.close()


def test_who_already_listens_to_warnings_goes_on_hearing_them(scene: Scene) -> None:
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    simulation = started(scene, np.tile(standing(scene), (2, 1)), threads=2)
    assert explode(scene, simulation, every=2).tolist() == [True, False]
    assert heard and "unstable" in heard[0]
    simulation.close()
