"""Options of ``pfmhr track train`` that are made from the dataclasses of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pfmhr.cli import main
from pfmhr.cli.commands import all_commands
from pfmhr.cli.parsing import bind
from pfmhr.cli.tracker_settings import as_options, changes_of, options_of
from pfmhr.errors import InputError
from pfmhr.tracking import RunSpec, TrackerConfig, tracker_preset

TRAIN = all_commands()["track train"]
SECTIONS = {"environment": "environment", "agent": "agent", "adversary": "adversary", "modulation": "modulator"}


def spec(*words: str) -> RunSpec:
    """The run that a command line asks for."""
    asked = bind(TRAIN, ["embedded:walk", "-o", "runs/walk", *words]).keywords  # type: ignore[attr-defined]
    changes = [change for name, place in SECTIONS.items() for change in changes_of(place, asked[name])]
    return options_of(asked["options"]).spec(["embedded:walk"], changes)


def test_nothing_said_is_the_preset() -> None:
    for preset in ("cpu", "paper"):
        assert spec("--preset", preset).tracker == tracker_preset(preset)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        (["--agent.discount", "0.95"], "agent.discount=0.95"),
        (["--agent.hidden", "512", "256"], "agent.hidden=[512,256]"),
        (["--agent.learn-std", "False"], "agent.learn_std=false"),
        (["--agent.critic-rate", "2e-3"], "agent.critic_rate=0.002"),
        (["--adversary.difference-clip", "none"], "adversary.difference_clip=null"),
        (["--environment.contacts", "torso_link", "pelvis"], 'environment.contacts=["torso_link","pelvis"]'),
        (["--environment.boxes", "[]"], "environment.boxes=[]"),
        (["--environment.observation", "world"], "environment.observation=world"),
        (["--checkpoint-every", "3"], "checkpoint_every=3"),
        (["--environments", "8"], "environment.environments=8"),
    ],
)
def test_an_option_is_the_setting_of_that_name(words: list[str], setting: str) -> None:
    found = spec(*words)
    assert found == spec("--set", setting) and found.tracker != TrackerConfig()


def test_settings_of_the_paper_s_separate_updates_have_options() -> None:
    separate = spec("--preset", "paper", "--agent.separate.momentum", "0.5").tracker.agent.separate
    usual = tracker_preset("paper").agent.separate
    assert usual is not None and separate == replace(usual, momentum=0.5)


def test_an_option_counts_even_where_it_is_the_preset_s_and_another_changed_it() -> None:
    """Absolute actions explore with 0.05; who says 0.25 means it."""
    assert spec("--actions", "absolute").tracker.agent.std == 0.05
    assert spec("--actions", "absolute", "--agent.std", "0.25").tracker.agent.std == 0.25


def test_set_says_what_to_write() -> None:
    asked = ["agent.discount=0.95", "agent.hidden=[512,256]", "evaluation_episodes=8", "adversary.difference_clip=null"]
    written = as_options(asked)
    assert written == "--agent.discount 0.95 --agent.hidden 512 256 --episodes 8 --adversary.difference-clip none"
    assert spec(*written.split()) == spec("--set", *asked)


def test_help_shows_real_defaults(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit):
        bind(TRAIN, ["--help"])
    page = capsys.readouterr().out
    assert "default: cpu 256, paper 4,096" in page and "default: cpu 2,000,000, paper 786,432,000" in page
    assert "--agent.discount FLOAT" in page and "what a reward is worth a step later; default: 0.99" in page
    assert "{None}" not in page.split("--preset")[1]
    assert "package.module:Class" in page


def test_settings_without_effect_are_refused() -> None:
    with pytest.raises(InputError, match=r"adversary\.epochs would change nothing with reward deepmimic"):
        spec("--reward", "deepmimic", "--adversary.epochs", "3")
    with pytest.raises(InputError, match=r"modulator\.fade would change nothing without a modulator"):
        spec("--modulator.fade", "300")
    assert main(["track", "train", "embedded:walk", "-o", "nowhere", "--t-eval", "0.9"]) == 2
