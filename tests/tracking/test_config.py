"""Settings, and what becomes of them on disk."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.sim import Box
from pfmhr.tracking import AgentConfig, EnvironmentConfig, ModulatorConfig, TrackerConfig, tracker_preset
from pfmhr.tracking.config import SeparateUpdates
from pfmhr.tracking.env.skills import skill_of
from pfmhr.tracking.presets import with_actions
from pfmhr.tracking.settings import tracker_config_from_json

_SIDES = ("left", "right")
LEGS = tuple(f"{side}_{part}_link" for side in _SIDES for part in ("knee", "ankle_pitch", "ankle_roll"))
ARMS = tuple(f"{side}_{part}_link" for side in _SIDES for part in ("elbow", "wrist_roll", "wrist_pitch", "wrist_yaw"))

FULL = replace(
    tracker_preset("paper"),
    environment=EnvironmentConfig(
        contacts=("pelvis", "torso_link"), boxes=(Box((0.1, 0.2, 0.3), (1.0, 2.0, 3.0), 0.5), Box((1, 1, 1), (0, 0, 0)))
    ),
    modulator=ModulatorConfig.of("pfm", "g1-small", pooled=True, p_good=0.3),
    reward="deepmimic",
    seed=7,
)


@pytest.mark.parametrize("config", [tracker_preset("cpu"), tracker_preset("paper"), FULL], ids=["cpu", "paper", "full"])
def test_settings_survive_json(config: TrackerConfig) -> None:
    content = json.loads(json.dumps(asdict(config)))
    again = tracker_config_from_json(content)
    assert again == config and hash(again) == hash(config)
    assert isinstance(again.agent.hidden, tuple)
    assert type(again.agent.separate) is type(config.agent.separate)
    assert again.environment.boxes == config.environment.boxes


def test_settings_left_out_are_the_usual_ones() -> None:
    assert tracker_config_from_json({}) == TrackerConfig()
    assert tracker_config_from_json({"agent": {"separate": {"actor_batch": 8}}}).agent == AgentConfig(
        separate=SeparateUpdates(actor_batch=8)
    )


@pytest.mark.parametrize(
    ("content", "name"), [({"colour": 1}, "colour"), ({"agent": {"hidden": [8], "heads": 4}}, "heads")]
)
def test_unknown_settings_are_refused(content: dict[str, object], name: str) -> None:
    with pytest.raises(InputError, match=f"unknown entry of the tracker's config.*'{name}'") as caught:
        tracker_config_from_json(content)
    assert caught.value.code == "bad_run"


@pytest.mark.parametrize(
    "name", ["critic_rate", "learning_rate", "epochs", "minibatches", "gradient_norm", "desired_kl", "adapt"]
)
def test_what_separate_updates_do_not_heed_is_refused(name: str) -> None:
    value = "iteration" if name == "adapt" else 3
    with pytest.raises(InputError, match=f"no effect with separate updates .*{name} {value}"):
        replace(tracker_preset("paper").agent, **{name: value})
    replace(TrackerConfig().agent, **{name: value})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"hidden": ()}, "hidden must be"),
        ({"minibatches": 256 * 24 + 1}, "more minibatches than samples of an iteration .*6145 of 6144"),
    ],
)
def test_networks_without_layers_and_minibatches_without_samples_are_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        TrackerConfig(agent=replace(AgentConfig(), **change))


def test_iterations_cover_the_samples() -> None:
    config = replace(TrackerConfig(), environment=EnvironmentConfig(environments=10), agent=AgentConfig(steps=5))
    assert config.samples_per_iteration == 50
    counts = {samples: replace(config, samples=samples).iterations for samples in (1, 50, 51, 100, 101)}
    assert counts == {1: 1, 50: 1, 51: 2, 100: 2, 101: 3}


def test_absolute_actions_explore_less_in_the_small_preset() -> None:
    small, paper = tracker_preset("cpu"), tracker_preset("paper")
    assert with_actions(small, None) is small and with_actions(small, "residual") is small
    absolute = with_actions(small, "absolute")
    assert absolute.environment == replace(small.environment, actions="absolute")
    assert absolute.agent == replace(small.agent, std=0.05, learning_rate=1e-4)
    assert with_actions(absolute, "residual") == small
    assert with_actions(paper, "residual").agent == paper.agent
    assert with_actions(paper, "residual").environment.actions == "residual"


def test_skills_by_the_name_of_the_clip(g1: Robot) -> None:
    assert skill_of(("g1_walk",)) == skill_of(("anything",)) and skill_of(("g1_walk",)).contacts(g1) == LEGS
    assert skill_of(("g1_cartwheel",)).contacts(g1) == LEGS + ARMS and skill_of(("g1_cartwheel",)).distance == 1.0
    assert skill_of(("g1_speed_vault",)).distance == skill_of(("g1_double_kong",)).distance == 0.5
    assert [len(skill_of((name,)).boxes) for name in ("walk", "speed_vault", "double_kong")] == [0, 1, 2]
    assert skill_of(("g1_cartwheel", "g1_walk")).limbs == ()


def test_a_vault_among_other_clips_is_refused_unless_its_boxes_are_named() -> None:
    with pytest.raises(InputError, match=r"need boxes.*g1_speed_vault.*environment.boxes"):
        skill_of(("g1_walk", "g1_speed_vault"))
    assert skill_of(("g1_walk", "g1_speed_vault"), boxes_given=True) == skill_of(("g1_walk", "g1_run"))
