"""The spec of a run: written, read, found again after a move."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.tracking import Clip, ModulatorConfig, RunOptions, RunSpec, tracker_preset, train_tracker
from pfmhr.tracking.run_options import default_of, place_of
from pfmhr.tracking.runs import spec_of_run

from .learning import TINY


def test_a_spec_is_read_as_it_was_written(tmp_path: Path) -> None:
    paper = replace(tracker_preset("paper"), reward="own:Reward", reward_settings={"scale": 2.5, "name": "x"}, seed=3)
    for spec in (
        RunSpec((Clip("embedded:walk"),)),
        RunSpec((Clip("a.csv", 30.0, (1.0, 2.5)), Clip("b.pkl", name="b")), "my.xml", paper),
        RunOptions(prior="g1-small", pooled=True, horizon=(1.0, 2.0)).spec(["a.npz"]),
    ):
        spec.write(tmp_path / "spec.json")
        assert RunSpec.read(tmp_path / "spec.json") == spec


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"motoins": []}, "motoins"),
        ({"kind": "prior"}, "not the spec of a run"),
        ({"motions": [{"place": 3}]}, "motions"),
        ({"tracker": {"samples": 0}}, "samples"),
        ({"robot": 3}, "robot"),
    ],
)
def test_a_spec_that_is_wrong_is_refused(change: dict[str, object], told: str, tmp_path: Path) -> None:
    RunSpec((Clip("embedded:walk"),)).write(tmp_path / "spec.json")
    content = json.loads((tmp_path / "spec.json").read_text())
    (tmp_path / "spec.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(InputError, match=told) as caught:
        RunSpec.read(tmp_path / "spec.json")
    assert caught.value.code == "bad_run" and "spec.json" in str(caught.value)


def test_files_are_found_below_a_folder_and_embedded_clips_where_they_are() -> None:
    spec = RunSpec((Clip("embedded:walk"), Clip("g1/run.pkl"))).below(Path("clips"))
    assert [clip.place for clip in spec.motions] == ["embedded:walk", "clips/g1/run.pkl"]


def test_every_choice_has_words_and_a_default_that_is_the_preset_s() -> None:
    """Those without one of their own say in words what happens."""
    assert default_of("environments") == "cpu 256, paper 4,096" and default_of("samples").endswith("paper 786,432,000")
    assert default_of("p_good") == "0.05" and default_of("actions") == "cpu residual, paper absolute"
    for each in fields(RunOptions):
        assert default_of(each.name) or each.default is not None, each.name
    assert place_of("episodes") == "evaluation_episodes"


def test_choices_without_effect_are_refused() -> None:
    for options, told in (
        (RunOptions(alpha=0.2), "--alpha would change nothing without a modulator"),
        (RunOptions(modulator="random", t_eval=0.9), "--t-eval would change nothing with modulator random"),
        (RunOptions(reward="deepmimic", set=("adversary.epochs=1",)), "adversary.epochs would change nothing"),
    ):
        with pytest.raises(InputError, match=told):
            options.spec(["embedded:walk"])


def test_a_run_that_was_moved_with_its_prior_goes_on(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    there, then = tmp_path / "there", tmp_path / "elsewhere" / "deep"
    PosePrior.load("g1-small").save(there / "priors" / "mine")
    modulator = ModulatorConfig("pfm", str(there / "priors" / "mine"))
    config = replace(TINY, modulator=modulator, samples=48)
    train_tracker(there / "runs" / "walk", g1, [walking], config, threads=1)
    about = json.loads((there / "runs" / "walk" / "run.json").read_text())
    assert about["prior"] == "../../priors/mine" and len(about["prior_sha256"]) == 64
    then.parent.mkdir()
    shutil.move(there, then)
    spec = spec_of_run(then / "runs" / "walk")
    assert Path(spec.tracker.modulator.prior).resolve() == (then / "priors" / "mine").resolve()
    said: list[str] = []
    longer = replace(spec, tracker=replace(spec.tracker, samples=96))
    assert longer.train(then / "runs" / "walk", threads=1, say=said.append).samples == 96
    assert said == ["going on after 48 samples"]


def test_a_prior_of_the_same_hash_is_the_same_prior_and_another_is_not(
    g1: Robot, walking: Motion, tmp_path: Path
) -> None:
    prior = PosePrior.load("g1-small")
    prior.save(tmp_path / "copy")
    config = replace(TINY, modulator=ModulatorConfig("pfm", "g1-small"), samples=48)
    train_tracker(tmp_path / "run", g1, [walking], config, threads=1)
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(
        json.dumps({k: v for k, v in about.items() if k != "prior"})
    )  # as before
    said: list[str] = []
    copied = replace(config, modulator=ModulatorConfig("pfm", str(tmp_path / "copy")))
    train_tracker(tmp_path / "run", g1, [walking], copied, threads=1, say=said.append)
    assert said == [f"already trained: {tmp_path / 'run'}"]
    (tmp_path / "run" / "run.json").write_text(json.dumps({**about, "prior_sha256": "0" * 64}))
    with pytest.raises(InputError, match="another run is already here"):
        train_tracker(tmp_path / "run", g1, [walking], copied, threads=1)
