"""The table of modulators: one row decides what the rest of the package says about one."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, get_type_hints

import pytest

from pfmhr.cli.tracker_settings import Options
from pfmhr.errors import InputError
from pfmhr.reward import DistanceReward, Ramp
from pfmhr.reward.available import CHOICES, HELP, MODULATORS, label_of, modulator_kind, require_modulator, suffix_of
from pfmhr.reward.configuring import OwnSettings, carried_over, places_of, refuse_idle, settings_of, with_changes
from pfmhr.reward.settings import CalibratedSettings, NoSettings, PoseGeometrySettings, RandomSettings
from pfmhr.tracking import RunOptions


def test_command_line_help_and_experiments_know_every_row() -> None:
    for name, row in MODULATORS.items():
        assert row.name == name and f"{name}: {row.about}" in HELP and name in CHOICES.split("|")
        assert modulator_kind(name) is row
        assert f"'{name}'" in str(get_type_hints(Options, include_extras=True)["modulator"])
        require_modulator(name)
        assert RunOptions(modulator=name).spec(["embedded:walk"]).tracker.modulator.kind == name
    own = RunOptions(modulator="package.module:Class", modulator_settings=("margin=2",)).spec(["embedded:walk"])
    assert own.tracker.modulator.settings == {"margin": 2}
    with pytest.raises(InputError, match="velvet"):
        RunOptions(modulator="velvet").spec(["embedded:walk"])


def test_labels_are_those_of_the_tables() -> None:
    assert [suffix_of(name) for name in ("none", "pfm", "recon")] == ["", " + PFM-HR", " + FM-Recon"]
    assert suffix_of("random") == " × random" and suffix_of("shuffled") == " × PFM-HR's factors, shuffled"
    assert label_of("package.module:Class.Inner") == "Class.Inner" and suffix_of("a:B") == " + B"


def test_names_and_settings_never_wait_for_torch() -> None:
    code = "import sys, pfmhr.experiments.matrix; from pfmhr.reward.configuring import settings_of"
    code += "; settings_of('pfm', None); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("none", NoSettings),
        ("pfm", PoseGeometrySettings),
        ("shuffled", PoseGeometrySettings),
        ("recon", CalibratedSettings),
        ("pdf", DistanceReward),
        ("random", RandomSettings),
    ],
)
def test_settings_are_the_kind_s_own(name: str, kind: type) -> None:
    assert settings_of(name, None) == settings_of(name, {}) == settings_of(name, kind()) == kind()
    with pytest.raises(InputError, match=f"settings of modulator {name}: 'colour'"):
        settings_of(name, {"colour": 3})
    with pytest.raises(InputError, match="settings of another modulator"):
        settings_of(name, Ramp())


def test_single_settings_are_found_wherever_they_lie() -> None:
    assert places_of(PoseGeometrySettings)["alpha"] == ("ramp", "alpha")
    assert places_of(PoseGeometrySettings)["t_eval"] == ("t_eval",)
    changed = with_changes("pfm", PoseGeometrySettings(pooled=True), {"alpha": 2, "p_bad": 0.3, "p_good": 0.6})
    assert changed == PoseGeometrySettings(Ramp(2.0, 0.6, 0.3), pooled=True)


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("pfm", {"p_good": 0.005}, "impossible ramp"),
        ("pfm", {"t_eval": 1.2}, "t_eval must be from 0 to 1"),
        ("pfm", {"phases": 0}, "phases must be at least 1"),
        ("recon", {"draws": 0}, "draws must be at least 1"),
        ("random", {"alpha": -1.0}, "alpha must be 0 or more"),
        ("pfm", {"alpha": "much"}, "float"),
        ("pfm", {"good": "static"}, "good would change nothing with modulator pfm"),
        ("recon", {"t_eval": 0.5}, "t_eval would change nothing with modulator recon"),
        ("none", {"alpha": 0.5}, "alpha would change nothing without a modulator"),
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        with_changes(name, settings_of(name, None), changes)


def test_a_prior_and_fading_are_heeded_where_there_is_something_to_heed_them() -> None:
    refuse_idle("pfm", {"--prior": "prior", "--fade": "fade"})
    refuse_idle("own:Modulator", {"--anything": "anything"})
    for name, given in (("random", {"--prior": "prior"}), ("none", {"--fade": "fade"})):
        with pytest.raises(InputError, match=f"{next(iter(given))} would change nothing"):
            refuse_idle(name, given)


def test_what_two_modulators_share_is_carried_over() -> None:
    strong = PoseGeometrySettings(Ramp(2.0, 0.005, 0.001), phases=2, t_eval=0.9)
    assert carried_over(strong, "recon") == CalibratedSettings(Ramp(2.0, 0.005, 0.001), phases=2)
    assert carried_over(strong, "random") == RandomSettings(2.0)
    assert carried_over(strong, "none") == NoSettings() and carried_over(strong, "own:Modulator") == OwnSettings()
    assert carried_over(OwnSettings(alpha=3.0), "random") == RandomSettings()


def test_unknown_modulators_are_refused_with_those_there_are() -> None:
    for refuse in (require_modulator, modulator_kind, lambda name: settings_of(name, None)):
        with pytest.raises(InputError, match=r"unknown modulator 'pfmm'. Did you mean 'pfm'\? .*package.module:Class"):
            refuse("pfmm")
