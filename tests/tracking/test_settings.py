"""Any number of a tracker by its name."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.sim import Box
from pfmhr.tracking import TrackerConfig
from pfmhr.tracking.presets import tracker_preset
from pfmhr.tracking.settings import tracker_config_from_json, with_settings


@pytest.mark.parametrize(
    ("setting", "place", "value"),
    [
        ("agent.discount=0.95", ("agent", "discount"), 0.95),
        ("agent.discount=1", ("agent", "discount"), 1),
        ("agent.hidden=[64, 32]", ("agent", "hidden"), (64, 32)),
        ("agent.normaliser_samples=null", ("agent", "normaliser_samples"), None),
        ("agent.normaliser_samples=7", ("agent", "normaliser_samples"), 7),
        ("agent.learn_std=false", ("agent", "learn_std"), False),
        ("environment.observation=world", ("environment", "observation"), "world"),
        (' environment.key_bodies = ["torso_link"]', ("environment", "key_bodies"), ("torso_link",)),
        ("checkpoint_every=5", ("checkpoint_every",), 5),
        ("environment.boxes=[]", ("environment", "boxes"), ()),
        ("environment.weights=[1, 2.5]", ("environment", "weights"), (1, 2.5)),
    ],
)
def test_a_setting_changes_that_and_nothing_else(setting: str, place: tuple[str, ...], value: object) -> None:
    before, after = asdict(TrackerConfig()), asdict(changed := with_settings(TrackerConfig(), [setting]))
    inner_before, inner_after = before, after
    for name in place[:-1]:
        inner_before, inner_after = inner_before[name], inner_after[name]
    assert inner_after[place[-1]] == value
    inner_before[place[-1]] = value
    assert before == after
    assert tracker_config_from_json(json.loads(json.dumps(after))) == changed


def test_a_box_is_set_by_its_names() -> None:
    text = 'environment.boxes=[{"size": [0.2, 1, 0.3], "position": [1.7, 0.5, 0.05]}]'
    (box,) = with_settings(TrackerConfig(), [text]).environment.boxes or ()
    assert box == Box((0.2, 1, 0.3), (1.7, 0.5, 0.05))


def test_whole_numbers_are_settings_like_others() -> None:
    """As JSON, 1 and 1.0 would be two trackers."""
    whole, point = (with_settings(TrackerConfig(), [f"agent.discount={text}"]) for text in ("1", "1.0"))
    assert json.dumps(asdict(whole)) == json.dumps(asdict(point))


def test_settings_within_settings_and_in_order() -> None:
    paper = with_settings(tracker_preset("paper"), ["agent.separate.momentum=0.5", "agent.std=0.1", "agent.std=0.2"])
    assert paper.agent.separate is not None and paper.agent.separate.momentum == 0.5 and paper.agent.std == 0.2


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("agent.discount", "section.name=value"),
        ("agent.discont=0.9", "Did you mean 'discount'"),
        ("agnet.discount=0.9", "Did you mean 'agent'"),
        ("agent=3", "agent.discount"),
        ("samples.x=3", "no settings inside"),
        ("agent.separate.momentum=0.5", "no settings inside"),  # the small preset has none
        ("agent.steps=2.5", "a whole number"),
        ("agent.steps=true", "a whole number"),
        ("agent.std=much", "a number"),
        ("agent.std=NaN", "a number"),
        ("environment.boxes=[3]", '{"size": a list such as [1, 2] of a number'),
        ('environment.boxes=[{"size": [1, 2, 3]}]', '"position"'),
        ('environment.boxes=[{"size": [1, 2], "position": [0, 0, 0]}]', '"size"'),
        ('environment.boxes=[{"size": [1, 2, 3], "position": [0, 0, 0], "colour": 3}]', '"yaw"'),
        ("agent.steps=0", "steps must be at least 1 (got 0)"),
        ("agent.hidden=[64, 0]", "hidden must be"),
        ("agent.minibatches=0", "minibatches must be"),
        ("agent.discount=1.5", "from 0 to 1"),
        ("agent.learning_rate=0", "above 0"),
        ("adversary.minibatches=0", "minibatches must be"),
        ("adversary.difference_clip=0", "difference_clip must be"),
        ("adversary.gradient_penalty=-1", "0 or more"),
        ("modulator.phases=0", "phases would change nothing without a modulator"),
        ("modulator.kind=velvet", "unknown modulator 'velvet'"),
        ("evaluate_every=0", "evaluate_every must be"),
        ("checkpoint_every=0", "checkpoint_every must be"),
        ("agent.hidden=3", "a list"),
        ("agent.learn_std=1", "true or false"),
        ("environment.actions=relative", "residual or absolute"),
        ("environment.action_scale=-1", "must be positive"),
    ],
)
def test_what_cannot_be_set_is_said_so(setting: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        with_settings(TrackerConfig(), [setting])
    assert told in str(caught.value)


def test_settings_reach_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["track", "train", "embedded:walk", "-o", str(tmp_path / "run"), "--environments", "2", "--samples", "4"]
    small = ["agent.steps=2", "agent.minibatches=1", "agent.hidden=[8]", "environment.episode_seconds=0.1"]
    assert main([*command, "--episodes", "1", "--set", *small]) == 0
    kept = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert (kept["agent"]["steps"], kept["agent"]["hidden"], kept["environment"]["episode_seconds"]) == (2, [8], 0.1)
    assert main([*command, "--set", "agent.steps"]) == 2
    assert "section.name=value" in capsys.readouterr().err
