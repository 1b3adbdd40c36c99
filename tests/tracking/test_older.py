"""Runs that earlier versions wrote."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.reward import DistanceReward, Ramp
from pfmhr.reward.settings import CalibratedSettings, NoSettings, PoseGeometrySettings, RandomSettings
from pfmhr.robots import Robot
from pfmhr.tracking import ModulatorConfig, TrackerConfig
from pfmhr.tracking.older import modern_config, modern_run
from pfmhr.tracking.runs import TrackerRun, train_tracker
from pfmhr.tracking.settings import tracker_config_from_json

from .learning import TINY

FLAT = {
    **{"kind": "none", "prior": "", "t_eval": 0.75, "alpha": 0.5, "p_good": 0.05, "p_bad": 0.01, "pooled": False},
    **{"phases": 4, "fade": None, "pdf_good": "dynamic", "pdf_bad": 0.4, "pdf_combine": "multiply"},
}
"""A modulator as version 0.1.0 wrote it until it had settings of its own."""


@pytest.mark.parametrize(
    ("flat", "settings"),
    [
        ({}, NoSettings()),
        ({"kind": "random", "alpha": 2.0}, RandomSettings(2.0)),
        ({"kind": "pfm", "p_good": 0.3, "phases": 2}, PoseGeometrySettings(Ramp(p_good=0.3), phases=2, draws=1)),
        ({"kind": "shuffled", "prior": "p", "t_eval": 0.9}, PoseGeometrySettings(t_eval=0.9, draws=1)),
        ({"kind": "recon", "prior": "p", "pooled": True}, CalibratedSettings(pooled=True, draws=1)),
        ({"kind": "pdf", "pdf_good": "static", "pdf_bad": 1.5}, DistanceReward("static", bad=1.5)),
    ],
)
def test_a_flat_modulator_is_read_as_what_it_was(flat: dict[str, Any], settings: object) -> None:
    read = tracker_config_from_json({"modulator": {**FLAT, **flat}}).modulator
    assert read.settings == settings and (read.kind, read.prior) == (flat.get("kind", "none"), flat.get("prior", ""))


def test_fading_stays() -> None:
    flat = {**FLAT, "kind": "random", "fade": 300}
    assert tracker_config_from_json({"modulator": flat}).modulator == ModulatorConfig("random", fade=300)


def test_what_this_version_writes_and_what_is_none_of_ours_stay_as_they_are() -> None:
    now = json.loads(json.dumps(asdict(TrackerConfig(modulator=ModulatorConfig.of("pfm", "g1-small", alpha=2.0)))))
    assert modern_config(now) is now
    for odd in (None, 3, [], {"modulator": 3}, {"modulator": {"kind": "velvet", "alpha": 1}}):
        assert modern_config(odd) is odd
    assert modern_run({"robot": "g1"}) == {"robot": "g1"} and modern_run(3) == 3
    for odd in ({"modulator": {"kind": ["pfm"], "alpha": 1}}, {"modulator": {"kind": "pfm", "alpha": "much"}}):
        with pytest.raises(InputError) as caught:
            tracker_config_from_json(odd)
        assert caught.value.code == "bad_run"


def test_the_same_command_accepts_and_prolongs_an_older_run(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    """Without a modulator nothing has changed; with one, calibrations have, and the message says in what."""
    train_tracker(tmp_path, g1, [walking], TINY, threads=1)
    about = json.loads((tmp_path / "run.json").read_text())
    about["config"]["modulator"] = FLAT
    (tmp_path / "run.json").write_text(json.dumps(about))
    assert TrackerRun.load(tmp_path).config == TINY
    told: list[str] = []
    train_tracker(tmp_path, g1, [walking], TINY, threads=1, say=told.append)
    assert told == [f"already trained: {tmp_path}"]
    longer = train_tracker(tmp_path, g1, [walking], replace(TINY, samples=7 * 48), threads=1)
    assert longer.samples == 7 * 48
    about["config"]["modulator"] = {**FLAT, "kind": "pfm", "prior": "g1-small"}
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"another run is already here.*draws 1 → 16"):
        train_tracker(tmp_path, g1, [walking], replace(TINY, modulator=ModulatorConfig("pfm", "g1-small")), threads=1)
