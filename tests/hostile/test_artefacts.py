"""Priors, fields and calibrations that were changed, lie about their size, or are no files at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

import pfmhr
from pfmhr import Calibration, PoseGeometryScore, PosePrior, RewardModulator
from pfmhr.errors import InputError
from pfmhr.motion import Motion

from .conftest import Run

BUNDLED = Path(pfmhr.__file__).parent / "prior" / "bundled" / "g1-small"


@pytest.fixture
def prior(tmp_path: Path) -> Path:
    """A copy of the bundled prior, to be spoiled."""
    return Path(shutil.copytree(BUNDLED, tmp_path / "prior"))


def edited(prior: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The prior with its config changed, and without its checksum, as one written before there were any."""
    config = json.loads((prior / "config.json").read_text())
    config.pop("config_sha256", None)
    change(config)
    (prior / "config.json").write_text(json.dumps(config))
    return prior


def refused(prior: Path, told: str) -> InputError:
    with pytest.raises(InputError, match=told) as caught:
        PosePrior.load(prior)
    assert caught.value.code == "bad_prior" and str(prior) in str(caught.value)
    return caught.value


# What a prior is known by


def test_a_changed_config_is_refused(prior: Path) -> None:
    config = json.loads((prior / "config.json").read_text())
    config["prior"]["network"]["time_scale"] = 1.0
    (prior / "config.json").write_text(json.dumps(config))
    refused(prior, "not as it was written")


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config["prior"]["network"].update(time_scale=1.0),
        lambda config: config["prior"].update(delta=0.01),
        lambda config: config["normalisation"]["scale"].__setitem__(0, 9.0),
        lambda config: config["joint_names"].reverse(),
    ],
    ids=["time scale", "delta", "normalisation", "joint names"],
)
@pytest.mark.filterwarnings("ignore:.*earlier version")
def test_no_calibration_of_another_network_is_taken(
    change: Callable[[dict[str, Any]], object], prior: Path, walk: Motion
) -> None:
    original = PoseGeometryScore(PosePrior.load("g1-small"))
    changed = PosePrior.load(edited(prior, change))
    assert changed.hash != original.prior.hash
    calibration = Calibration.fit(original, [walk], 1 / 30)
    with pytest.raises(InputError) as caught:
        RewardModulator(PoseGeometryScore(changed), calibration)
    assert caught.value.code == "wrong_calibration"


def test_a_config_of_before_loads_and_says_so_once(prior: Path) -> None:
    with pytest.warns(UserWarning, match="of an earlier version, whose configs have no checksum") as told:
        loaded = PosePrior.load(edited(prior, lambda config: None))
    assert len(told) == 1 and loaded.hash == PosePrior.load("g1-small").hash


def test_the_bundled_prior_keeps_the_hash_that_calibrations_of_before_name() -> None:
    assert PosePrior.load("g1-small").hash.startswith("e1634ff6")


@pytest.mark.parametrize("before", ["torch.set_default_dtype(torch.float64)", "torch.set_default_device('meta')"])
def test_no_default_of_torch_changes_a_prior(before: str) -> None:
    code = (
        f"import torch; {before}; from pfmhr import PosePrior; prior = PosePrior.load('g1-small'); "
        "out = prior.denoise(torch.zeros(2, 29, dtype=torch.float32, device='cpu'), 0.5); "
        "print(prior.hash, out.device, out.dtype, bool(torch.isfinite(out).all()))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = f"{PosePrior.load('g1-small').hash} cpu torch.float32 True\n"
    assert answer.stdout == expected, answer.stderr[-500:]


def test_bfloat16_as_default_changes_no_prior() -> None:
    code = (
        "import torch; torch.set_default_dtype(torch.bfloat16); from pfmhr import PosePrior; "
        "print(PosePrior.load('g1-small').hash)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == PosePrior.load("g1-small").hash, answer.stderr[-500:]


# What a config may ask for


@pytest.mark.filterwarnings("ignore:.*earlier version")
def test_sizes_that_the_weights_do_not_have_cost_nothing(prior: Path, pfmhr: Run) -> None:
    edited(prior, lambda config: config["prior"]["network"].update(width=16_000))
    answer = pfmhr("prior", "info", prior)
    assert answer.returncode == 2 and "has the wrong shape" in answer.stderr


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), 1e-45, 0.0, -1.0])
@pytest.mark.filterwarnings("ignore:.*earlier version")
def test_no_normalisation_divides_by_what_is_no_scale(scale: float, prior: Path) -> None:
    refused(edited(prior, lambda config: config["normalisation"]["scale"].__setitem__(3, scale)), "normalisation")


@pytest.mark.filterwarnings("ignore:.*earlier version")
def test_a_robot_without_a_name_is_refused(prior: Path) -> None:
    refused(edited(prior, lambda config: config.update(robot=None)), "robot")


def test_a_config_that_nests_without_end_is_refused(prior: Path) -> None:
    (prior / "config.json").write_text("[" * 200_000)
    refused(prior, "nested too deep")


def test_a_pipe_for_a_config_is_not_waited_for(prior: Path, pfmhr: Run) -> None:
    (prior / "config.json").unlink()
    os.mkfifo(prior / "config.json")
    answer = pfmhr("prior", "info", prior, timeout=30)
    assert answer.returncode == 2 and "a device, a pipe or a socket, not a file" in answer.stderr


@pytest.mark.parametrize("what", ["a folder", "/dev/zero"])
def test_weights_that_are_no_file_are_refused(what: str, prior: Path, pfmhr: Run) -> None:
    (prior / "model.safetensors").unlink()
    if what == "a folder":
        (prior / "model.safetensors").mkdir()
    else:
        (prior / "model.safetensors").symlink_to(what)
    answer = pfmhr("prior", "info", prior, timeout=30)
    assert answer.returncode == 2 and "model.safetensors" in answer.stderr and "unexpected" not in answer.stderr


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda value: torch.full_like(value, float("nan")), "NaN or infinity"),
        (lambda value: value.to(torch.int32), "wrong shape or type"),
    ],
    ids=["NaN", "whole numbers"],
)
@pytest.mark.filterwarnings("ignore:.*earlier version")
def test_weights_that_are_no_finite_floats_are_refused(
    change: Callable[[torch.Tensor], torch.Tensor], told: str, prior: Path
) -> None:
    weights = safetensors.torch.load_file(prior / "model.safetensors")
    name = next(iter(weights))
    safetensors.torch.save_file({**weights, name: change(weights[name])}, prior / "model.safetensors")
    signature = hashlib.sha256((prior / "model.safetensors").read_bytes()).hexdigest()
    refused(edited(prior, lambda config: config.update(weights_sha256=signature)), told)


# Where a prior comes from


@pytest.mark.parametrize("name", ["runs/prior", "owner/name"])
def test_a_path_that_is_not_there_is_never_fetched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *given, **_: asked.append(given) or str(BUNDLED))
    with pytest.raises(InputError, match=r"g1-small.*hf:owner/name") as caught:
        PosePrior.load(name)
    assert caught.value.code == "not_found" and not asked


# Calibrations


@pytest.mark.parametrize(
    "spoil",
    [
        lambda header: header.update(settings=None),
        lambda header: header.update(settings=[1]),
        lambda header: header.update(samples=float("nan"), settings={**header["settings"], "samples": float("nan")}),
        lambda header: header["settings"].update(t_eval="x"),
        lambda header: header.update(dt=1e-300),
    ],
    ids=["no settings", "a list", "samples", "t_eval", "dt"],
)
def test_no_header_of_a_calibration_is_taken_on_trust(
    spoil: Callable[[dict[str, Any]], object], walk: Motion, tmp_path: Path, pfmhr: Run
) -> None:
    score = PoseGeometryScore(PosePrior.load("g1-small"))
    Calibration.fit(score, [walk], 1 / 30).save(tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as content:
        arrays = {name: content[name] for name in content.files}
    header = json.loads(bytes(arrays.pop("header")))
    spoil(header)
    np.savez(tmp_path / "c.npz", header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    walk.write(tmp_path / "walk.npz")
    answer = pfmhr("score", "walk.npz", "--calibration", "c.npz")
    assert answer.returncode == 2 and "unexpected" not in answer.stderr and "Traceback" not in answer.stderr
