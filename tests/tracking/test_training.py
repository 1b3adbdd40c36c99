"""Runs repeat, and go on after any interruption, to the bit."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.learning.logging import read_metrics
from pfmhr.learning.state import load_state
from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.tracking import ModulatorConfig, TrackerConfig, tracker_preset
from pfmhr.tracking.config import SeparateUpdates
from pfmhr.tracking.runs.evaluation import Evaluator
from pfmhr.tracking.runs.training import CHECKPOINT, Training

from ..score.priors import refused
from .learning import TINY, tiny

CONFIGS: dict[str, TrackerConfig] = {
    "add": TINY,
    "separate": replace(
        tiny(separate=SeparateUpdates(), learn_std=False, scale_rewards=False),
        environment=replace(TINY.environment, observation="world", actions="absolute"),
        adversary=replace(TINY.adversary, optimiser="sgd", joints="rotations"),
    ),
    "deepmimic": replace(TINY, reward="deepmimic"),
    "pfm": replace(TINY, modulator=ModulatorConfig("pfm", "g1-small")),
}
Run = Callable[..., Training]


class PowerCutError(Exception):
    """Nothing is saved before this."""


def cut(after: int, how: type[BaseException]) -> Callable[[int, int, str], None]:
    def progress(samples: int, total: int, text: str) -> None:
        if samples == after * TINY.samples_per_iteration:
            raise how

    return progress


def trained(directory: Path, robot: Robot, motion: Motion, config: TrackerConfig, **how: Any) -> Training:
    made = Training(directory, robot, [motion], config, threads=1)
    made.run(**how)
    return made


@pytest.fixture
def train(g1: Robot, walking: Motion, tmp_path: Path) -> Run:
    def run(name: str, config: TrackerConfig = TINY, **how: Any) -> Training:
        return trained(tmp_path / name, g1, walking, config, **how)

    return run


@pytest.fixture(scope="module")
def whole(g1: Robot, walking: Motion, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Training]:
    """Runs nobody interrupted, each made once."""
    folder = tmp_path_factory.mktemp("whole")
    return cache(lambda kind: trained(folder / kind, g1, walking, CONFIGS[kind]))


def metrics(training: Training) -> list[dict[str, Any]]:
    """What was logged, without what is measured by the clock."""
    lines = read_metrics(training.directory)
    return [
        {name: value for name, value in line.items() if name != "samples_per_second" and not name.startswith("time_")}
        for line in lines
    ]


def leaves(state: Any, name: str = "") -> dict[str, Any]:
    """Everything in a nested state by its path, without seconds."""
    if isinstance(state, dict | list):
        items = state.items() if isinstance(state, dict) else enumerate(state)
        found: dict[str, Any] = {}
        for key, part in items:
            found |= {} if key in ("seconds", "elapsed") else leaves(part, f"{name}/{key}")
        return found
    return {name: state}


def same_state(first: Path, second: Path) -> None:
    one, other = (leaves(load_state(directory / CHECKPOINT)) for directory in (first, second))
    assert list(one) == list(other) and len(one) > 50
    for name, value in one.items():
        equal = torch.equal(value, other[name]) if isinstance(value, Tensor) else value == other[name]
        assert equal, name


def test_a_run_logs_evaluates_and_saves(train: Run) -> None:
    shown: list[tuple[int, int]] = []
    made = train("run", progress=lambda samples, total, _: shown.append((samples, total)))
    assert shown == [(48 * number, 240) for number in range(1, 6)]
    assert [each.samples for each in made.evaluations] == [0, 96, 192, 240]
    steps = [line["step"] for line in read_metrics(made.directory)]
    assert steps == [0, 48, 96, 96, 144, 192, 192, 240, 240]
    line = read_metrics(made.directory)[1]
    shares = [value for name, value in line.items() if name.startswith("time_")]
    assert sum(shares) == pytest.approx(1.0)
    wanted = {"reward", "reward_tracking", "reward_tracking_std", "accuracy_policy", "samples_per_second"}
    wanted |= {"value_loss", "surrogate_loss", "discriminator_loss", "learning_rate", "ended_exploded"}
    assert wanted <= set(line)
    assert load_state(made.directory / CHECKPOINT)["iteration"] == 5


@pytest.mark.parametrize("kind", list(CONFIGS))
def test_the_same_seed_is_the_same_run(train: Run, whole: Callable[[str], Training], kind: str) -> None:
    again = train("again", replace(CONFIGS[kind], samples=3 * 48))
    first = [line for line in metrics(whole(kind)) if line["step"] <= 144]
    assert metrics(again)[:-1] == first and len(first) == 5


def test_another_seed_is_another_run(train: Run, whole: Callable[[str], Training]) -> None:
    other = train("other", replace(TINY, samples=48, seed=1))
    assert metrics(other)[1]["reward"] != metrics(whole("add"))[1]["reward"]


@pytest.mark.parametrize("kind", list(CONFIGS))
def test_a_run_goes_on_after_a_power_cut(train: Run, whole: Callable[[str], Training], kind: str) -> None:
    """Cut after three iterations: the third, after the last checkpoint, is done again."""
    with pytest.raises(PowerCutError):
        train("cut", CONFIGS[kind], progress=cut(3, PowerCutError))
    said: list[str] = []
    resumed = train("cut", CONFIGS[kind], say=said.append)
    assert said == ["going on after 96 samples"]
    assert metrics(resumed) == metrics(whole(kind))
    same_state(resumed.directory, whole(kind).directory)


def test_a_run_goes_on_after_a_power_cut_before_the_first_checkpoint(
    train: Run, whole: Callable[[str], Training]
) -> None:
    with pytest.raises(PowerCutError):
        train("cut", progress=cut(1, PowerCutError))
    resumed = train("cut")
    assert metrics(resumed) == metrics(whole("add"))
    same_state(resumed.directory, whole("add").directory)


def test_a_run_goes_on_after_control_c(train: Run, whole: Callable[[str], Training]) -> None:
    """It saves first, so nothing is done again."""
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        train("stopped", say=said.append, progress=cut(3, KeyboardInterrupt))
    assert said == ["stopped after 144 samples; the same command goes on from there"]
    resumed = train("stopped", say=said.append)
    assert said[1:] == ["going on after 144 samples"]
    assert metrics(resumed) == metrics(whole("add"))
    same_state(resumed.directory, whole("add").directory)


def test_a_run_of_two_clips_goes_on_after_control_c_before_it_began(
    g1: Robot, walking: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several clips the first rollout does not teach the policy, however often the run was begun."""

    def run(name: str) -> Training:
        made = Training(tmp_path / name, g1, [walking, walking], TINY, threads=1)
        made.run()
        return made

    whole = run("whole")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Evaluator, "run_each", lambda *_: signal.raise_signal(signal.SIGINT))
        run("cut")
    resumed = run("cut")
    assert metrics(resumed) == metrics(whole)
    same_state(resumed.directory, whole.directory)


def test_evaluations_do_not_change_what_is_learned(train: Run, whole: Callable[[str], Training]) -> None:
    seldom = train("seldom", replace(TINY, evaluate_every=99))
    assert [each.samples for each in seldom.evaluations] == [0, 240]
    pairs = zip(seldom.algorithm.actor.parameters(), whole("add").algorithm.actor.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in pairs)


def test_a_run_that_diverges_is_stopped_and_keeps_its_last_good_state(
    train: Run, g1: Robot, walking: Motion, tmp_path: Path
) -> None:
    train("run", replace(TINY, samples=2 * 48))
    made = Training(tmp_path / "run", g1, [walking], TINY, threads=1)
    update = made.algorithm.update
    made.algorithm.update = lambda: {**update(), "value_loss": float("nan")}  # type: ignore[method-assign]
    with refused("diverged", "iteration 3", "value_loss", "learning rate"):
        made.run()
    assert load_state(tmp_path / "run" / CHECKPOINT)["iteration"] == 2


def test_a_critic_that_breaks_is_never_saved(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """Not even if no figure of the iteration shows it, and no state is named that is not there."""
    made = Training(tmp_path / "run", g1, [walking], replace(TINY, checkpoint_every=1), threads=1)
    made.directory.mkdir()
    update = made.algorithm.update

    def breaking() -> dict[str, float]:
        figures = update()
        next(made.algorithm.critic.parameters()).data[0] = float("inf")
        return figures

    made.algorithm.update = breaking  # type: ignore[method-assign]
    with pytest.raises(InputError, match=r"iteration 1.*critic") as caught:
        made.run()
    assert "last good state" not in str(caught.value) and not (made.directory / CHECKPOINT).exists()


@pytest.mark.slow
def test_fifty_iterations_on_two_threads_are_the_same_twice(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """The preset itself, but for half a million samples less."""
    config = replace(tracker_preset("cpu"), samples=50 * 6144, evaluate_every=25, evaluation_episodes=8)
    runs = [Training(tmp_path / name, g1, [walking], config, threads=2) for name in ("one", "other")]
    for run in runs:
        torch.manual_seed(config.seed)
        run.run()
    one, other = map(metrics, runs)
    assert len(one) == 53 and one == other


@pytest.mark.slow
def test_a_walk_is_learned(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """0.3 M samples of the small preset: more of the reference is tracked, and nearer to it."""
    config = replace(tracker_preset("cpu"), samples=300_000, evaluate_every=1000)
    made = Training(tmp_path / "run", g1, [walking], config, threads=None)
    made.run()
    first, last = made.evaluations
    assert last.success > 1.4 * first.success
    assert last.success_strict > 1.7 * first.success_strict
    assert last.body_error < 0.75 * first.body_error
