"""Runs on disk: begun, gone on with, finished, read."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pfmhr.layout import EPISODES
from pfmhr.learning.state import load_state
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.results.common import Episodes
from pfmhr.results.run_result import read_result
from pfmhr.robots import Robot
from pfmhr.sim import BatchedSimulation
from pfmhr.tracking import ModulatorConfig
from pfmhr.tracking.runs import TrackerRun, train_tracker
from pfmhr.tracking.runs.training import CHECKPOINT, Training

from ..score.priors import refused
from .clips import moving, still
from .learning import TINY

SHORT = replace(TINY, samples=2 * 48, environment=replace(TINY.environment, episode_seconds=0.1))


@pytest.fixture(scope="module")
def finished(g1: Robot, walking: Motion, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("finished") / "run"
    train_tracker(directory, g1, [replace(walking, name="g1_cartwheel")], SHORT, threads=1)
    return directory


def test_a_run_ends_with_its_result(finished: Path) -> None:
    result = read_result(finished)
    assert result.samples == 96 and result.grid == 96 and result.seed == 0
    assert (result.motions, result.modulator, result.reward) == (("g1_cartwheel",), "none", "add")
    assert [each.samples for each in result.evaluations] == [0, 96]
    assert {start: each.start for start, each in result.final.items()} == {
        "random": "random",
        "beginning": "beginning",
    }
    assert result.end.episodes == 256
    assert sum(result.time_shares.values()) == pytest.approx(1.0, abs=0.01)
    names = {"run.json", "result.json", EPISODES, "metrics.jsonl", "motions", CHECKPOINT}
    assert names <= {file.name for file in finished.iterdir()}


def test_a_finished_run_is_not_run_again(
    finished: Path, g1: Robot, walking: Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Training, "run", lambda *_: pytest.fail("trained again"))
    said: list[str] = []
    result = train_tracker(finished, g1, [replace(walking, name="g1_cartwheel")], SHORT, say=said.append)
    assert result == read_result(finished) and said == [f"already trained: {finished}"]


def test_a_finished_run_may_get_more_samples(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """In two parts to the bit what it is in one; fewer samples than it has are another run."""
    longer = replace(SHORT, samples=2 * SHORT.samples)
    train_tracker(tmp_path / "parts", g1, [walking], SHORT, threads=1)
    result = train_tracker(tmp_path / "parts", g1, [walking], longer, threads=1)
    train_tracker(tmp_path / "whole", g1, [walking], longer, threads=1)
    assert result.samples == 192 and [each.samples for each in result.evaluations] == [0, 96, 192]
    parts, whole = (load_state(tmp_path / name / CHECKPOINT)["algorithm"] for name in ("parts", "whole"))
    for name, value in whole["actor_state_dict"].items():
        assert torch.equal(parts["actor_state_dict"][name], value), name
    with refused("exists", "samples 192 → 96"):
        train_tracker(tmp_path / "parts", g1, [walking], SHORT, threads=1)
    with refused("exists", "seed 0 → 1"):
        train_tracker(tmp_path / "parts", g1, [walking], replace(longer, seed=1, samples=960), threads=1)
    assert read_result(tmp_path / "parts").samples == 192


def test_a_run_that_ended_between_evaluations_goes_on_without_that_one(
    g1: Robot, walking: Motion, tmp_path: Path
) -> None:
    three, five = (replace(SHORT, samples=iterations * 48) for iterations in (3, 5))
    first = train_tracker(tmp_path / "run", g1, [walking], three, threads=1)
    assert [each.samples for each in first.evaluations] == [0, 96, 144]
    second = train_tracker(tmp_path / "run", g1, [walking], five, threads=1)
    assert [each.samples for each in second.evaluations] == [0, 96, 192, 240]


def test_another_run_in_the_same_place_is_refused(finished: Path, g1: Robot, walking: Motion) -> None:
    with refused("exists", "another run is already here", "seed 0 → 3"):
        train_tracker(finished, g1, [replace(walking, name="g1_cartwheel")], replace(SHORT, seed=3))
    with refused("exists", "motions"):
        train_tracker(finished, g1, [replace(moving(g1), name="g1_cartwheel")], SHORT)


def test_what_cannot_be_trained_leaves_nothing_behind(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    needy = replace(SHORT, modulator=ModulatorConfig("pfm"))
    with refused("bad_config", "needs a prior"):
        train_tracker(tmp_path / "run", g1, [walking], needy, threads=1)
    with refused("short"):
        train_tracker(tmp_path / "run", g1, [moving(g1).frames(0, 2)], SHORT, threads=1)
    with refused("bad_input", "no motion"):
        train_tracker(tmp_path / "run", g1, [], SHORT, threads=1)
    assert not (tmp_path / "run").exists()


def test_a_finished_run_that_nobody_may_write_to_is_still_finished(
    finished: Path, g1: Robot, walking: Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pfmhr.tracking.runs.directory.exclusive", lambda _: pytest.fail("wanted to write"))
    clip = replace(walking, name="g1_cartwheel")
    assert train_tracker(finished, g1, [clip], SHORT) == read_result(finished)


def test_a_tracker_is_not_trained_among_files_of_others(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with refused("not_empty", "notes.txt"):
        train_tracker(tmp_path, g1, [walking], SHORT, threads=1)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_an_interrupted_run_is_finished_by_the_same_command(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_tracker(tmp_path / "run", g1, [walking], SHORT, threads=1, progress=stop)
    with refused("not_found", "not a finished tracking run"):
        read_result(tmp_path / "run")
    unfinished = TrackerRun.load(tmp_path / "run")
    assert unfinished.samples == 48
    result = train_tracker(tmp_path / "run", g1, [walking], SHORT, threads=1)
    assert result.samples == 96


def test_a_run_is_read_with_its_settings_clips_and_policy(finished: Path, walking: Motion) -> None:
    run = TrackerRun.load(finished)
    assert run.config == SHORT and run.samples == 96
    (clip,) = run.motions
    assert torch.equal(torch.from_numpy(clip.joint_pos), torch.from_numpy(walking.joint_pos))
    assert (clip.loop, clip.fps) == (walking.loop, walking.fps)
    weights = load_state(finished / CHECKPOINT)["algorithm"]["actor_state_dict"]
    assert torch.equal(run.policy.mlp[0].weight, weights["mlp.0.weight"])
    assert torch.equal(run.policy.mean, weights["obs_normalizer._mean"])


def test_a_prior_that_was_trained_anew_is_another_run(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    prior, out = tmp_path / "prior", tmp_path / "run"
    PosePrior.load("g1-small").save(prior)
    config = replace(SHORT, samples=48, modulator=ModulatorConfig("pfm", str(prior)))
    train_tracker(out, g1, [walking], config, threads=1)
    changed = PosePrior.load(prior)
    next(changed.denoiser.network.parameters()).data *= 1.01
    shutil.rmtree(prior)
    changed.save(prior)
    with refused("exists", "prior_sha256"):
        train_tracker(out, g1, [walking], config, threads=1)


def test_a_run_may_be_judged_at_several_horizons(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    longer = replace(SHORT, samples=48, horizons=(0.1, 0.5))
    result = train_tracker(tmp_path / "run", g1, [walking], longer, threads=1)
    assert [each.episodes for each in result.final.values()] == [256, 1]  # one clip has one beginning
    for found in (*result.evaluations, *result.final.values()):
        (other,) = found.horizons
        assert (found.horizon, other.horizon, found.episodes) == (0.1, 0.5, other.episodes)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines[0]["evaluation_0.5s_success"] == result.evaluations[0].horizons[0].success
    assert TrackerRun.load(tmp_path / "run").config == longer


@pytest.mark.parametrize("horizon", [0.0, -1.0, math.nan, math.inf])
def test_a_horizon_without_a_step_is_refused(horizon: float) -> None:
    with refused("bad_config", "at least one step"):
        replace(SHORT, horizons=(1.0, horizon))


def test_a_run_that_is_read_is_still_the_same_skill(finished: Path) -> None:
    """A cartwheel may touch the floor with its hands; what decides that is the clip's name."""
    run = TrackerRun.load(finished)
    assert [motion.name for motion in run.motions] == ["g1_cartwheel"]
    environment = run.evaluator(2, threads=1).environment
    hand = run.robot.body_names.index("left_wrist_yaw_link")
    assert not environment._forbidden[hand]


def test_a_run_that_is_read_evaluates_as_it_did(finished: Path) -> None:
    run = TrackerRun.load(finished)
    (found,), episodes = run.evaluator(256, threads=1).trace(run.policy, [0.1], "random", seed=1)
    assert found == read_result(finished).end
    kept = Episodes.read(finished / EPISODES)
    assert kept is not None and np.array_equal(kept.frame, episodes.frame)
    assert np.allclose(kept.position_error, episodes.position_error, rtol=1e-3, equal_nan=True)


def test_many_clips_keep_their_order(g1: Robot, tmp_path: Path) -> None:
    clips = [still(g1, seconds=0.1 + 0.1 * number, name=f"clip{number}") for number in range(3)]
    train_tracker(tmp_path / "run", g1, clips, replace(SHORT, samples=48), threads=1)
    run = TrackerRun.load(tmp_path / "run")
    assert [(motion.name, motion.num_frames) for motion in run.motions] == [("clip0", 4), ("clip1", 7), ("clip2", 10)]


def test_threads_are_those_asked_for(
    g1: Robot, walking: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []
    start = BatchedSimulation.__init__

    def begin(self: BatchedSimulation, scene: Any, environments: int, threads: int | None = None) -> None:
        asked.append(threads)
        start(self, scene, environments, threads)

    monkeypatch.setattr(BatchedSimulation, "__init__", begin)
    train_tracker(tmp_path / "run", g1, [walking], replace(SHORT, samples=48), threads=1)
    assert asked == [1, 1, 1, 1]  # training, evaluations, and both starts of the last


def change(name: str, content: bytes | None) -> Callable[[Path], object]:
    return lambda run: (run / name).unlink() if content is None else (run / name).write_bytes(content)


def other_robot(run: Path) -> None:
    """As if the robot's file had been another when the run was made."""
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**about, "robot_sha256": "0" * 64}))


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (change("run.json", None), "not_found"),
        (change("run.json", b"{"), "bad_run"),
        (change("run.json", b"[]"), "bad_run"),
        (change("run.json", b'{"kind": "prior"}'), "bad_run"),
        (change("run.json", b'{"kind": "tracker"}'), "bad_run"),
        (change("run.json", b'{"kind": "tracker", "config": 3, "robot": "g1"}'), "bad_run"),
        (change(CHECKPOINT, None), "not_found"),
        (change(CHECKPOINT, b"half"), "bad_checkpoint"),
        (change("motions/0000.npz", None), "not_found"),
        (other_robot, "bad_run"),
    ],
    ids=[
        *("no run", "half a run", "a list", "another kind", "no settings", "settings of another kind"),
        *("no checkpoint", "half a checkpoint", "no clip", "a robot"),
    ],
)
def test_a_spoiled_run_is_refused(finished: Path, tmp_path: Path, spoil: Callable[[Path], object], code: str) -> None:
    shutil.copytree(finished, tmp_path / "run")
    spoil(tmp_path / "run")
    with refused(code):
        TrackerRun.load(tmp_path / "run")


def test_a_spoiled_result_is_refused(tmp_path: Path) -> None:
    with refused("not_found", "no tracking run here"):
        read_result(tmp_path)
    (tmp_path / "result.json").write_text("{")
    with refused("bad_run", "unreadable"):
        read_result(tmp_path)
