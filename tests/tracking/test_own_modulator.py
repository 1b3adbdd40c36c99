"""A modulator of a user's own, named as package.module:Class."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.results.comparing import name_of
from pfmhr.results.run_result import read_result
from pfmhr.reward import Fading
from pfmhr.tracking import ModulatorConfig, TrackerConfig
from pfmhr.tracking.modulation import make_modulator, prior_hash
from pfmhr.tracking.runs import TrackerRun
from pfmhr.tracking.settings import with_settings

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = "own_modulator:SpeedLimit"
DT = 1 / 30


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_the_example_cuts_what_is_faster_than_the_reference(walking: Motion) -> None:
    made = make_modulator(ModulatorConfig.of(OWN, margin=2.0, lowest=0.25), [walking], DT)
    poses = walking.resample(30.0).joint_pos
    fastest = np.abs(np.diff(poses, axis=0)).max(axis=0)
    before = np.zeros((4, len(fastest)), dtype=np.float32)
    after = np.stack([1.9 * fastest, fastest, fastest, fastest])
    after[1:3, 7] *= 2.1
    factors = made(before, after, DT, valid=torch.tensor([True, True, False, True]), motion_id=torch.zeros(4).long())
    assert factors.tolist() == [1.0, 0.25, 1.0, 1.0]
    assert made.combine(torch.full((4,), 2.0), factors).tolist() == [2.0, 0.5, 2.0, 2.0]


def test_it_fades_as_any_other(walking: Motion) -> None:
    made = make_modulator(ModulatorConfig.of(OWN, fade=8, lowest=0.25, margin=0.0), [walking], DT)
    assert isinstance(made, Fading)
    before, after = torch.zeros(4, 29), torch.ones(4, 29)
    found = [made(before, after, DT).tolist()[0] for _ in range(3)]
    assert found == pytest.approx([0.25, 0.5, 1.0])


def test_a_setting_it_does_not_have_is_refused_when_it_is_made(walking: Motion) -> None:
    with pytest.raises(InputError, match=r"settings of own_modulator:SpeedLimit.*'margn'.*Did you mean 'margin'"):
        make_modulator(ModulatorConfig.of(OWN, margn=2.0), [walking], DT)
    with pytest.raises(InputError, match=r"settings of own_modulator:SpeedLimit.*float"):
        make_modulator(ModulatorConfig.of(OWN, margin="much"), [walking], DT)


def test_settings_are_named_as_for_any_other() -> None:
    config = with_settings(TrackerConfig(), ["modulator.margin=1.2", f"modulator.kind={OWN}", "modulator.fade=10"])
    assert config.modulator == ModulatorConfig.of(OWN, fade=10, margin=1.2)
    assert hash(config) == hash(replace(config)) and config.modulator.settings == {"margin": 1.2}


@pytest.mark.parametrize(
    ("attribute", "told"), [("needs = 3", "nothing, prior or field"), ("Settings = 3", "dataclass")]
)
def test_a_class_that_says_nonsense_about_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attribute: str, told: str
) -> None:
    (tmp_path / f"odd{len(told)}.py").write_text(f"class Odd:\n    {attribute}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=f"odd.*Odd: .*{told}"):
        prior_hash(ModulatorConfig(f"odd{len(told)}:Odd"))


def test_a_class_that_needs_a_prior_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walking: Motion) -> None:
    code = "class Needy:\n    needs = 'prior'\n    def __init__(self, given, _): given.load_prior()\n"
    (tmp_path / "needy.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="modulator 'needy:Needy' needs a prior"):
        make_modulator(ModulatorConfig("needy:Needy"), [walking], DT)
    assert type(make_modulator(ModulatorConfig("needy:Needy", "g1-small"), [walking], DT)).__name__ == "Needy"
    assert len(prior_hash(ModulatorConfig("needy:Needy", "g1-small"))) == 64


def test_a_tracker_is_trained_with_it_and_read_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = ["track", "train", "embedded:walk", "-o", str(run), "--environments", "2", "--samples", "4"]
    small = ["agent.steps=2", "agent.minibatches=1", "agent.hidden=[8]", "environment.episode_seconds=0.1"]
    own = ["--modulator", OWN, "--set", *small, "modulator.margin=1.2"]
    assert main([*command, "--episodes", "1", *own]) == 0
    kept = json.loads((run / "run.json").read_text())["config"]["modulator"]
    assert kept == {"kind": OWN, "prior": "", "settings": {"margin": 1.2}, "fade": None}
    assert name_of(read_result(run)) == "walk-000, ADD + SpeedLimit, residual"
    assert main([*command, "--episodes", "1", *own]) == 0
    assert "already trained" in "".join(capsys.readouterr())
    monkeypatch.undo()
    sys.modules.pop("own_modulator")
    assert TrackerRun.load(run).config.modulator.settings == {"margin": 1.2}
    assert "own_modulator" not in sys.modules
    assert main([*command[:-1], "8", "--episodes", "1", *own]) == 2
    assert "there is no module 'own_modulator'" in capsys.readouterr().err
