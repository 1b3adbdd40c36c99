"""A prior on disk: what goes in comes out, and every way it can be wrong has its own message."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from pfmhr.errors import InputError
from pfmhr.learning.identity import checksum_of_config
from pfmhr.prior import PosePrior
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import new_denoiser
from pfmhr.robots import Robot

from .conftest import TOY


@pytest.fixture
def prior(g1: Robot) -> PosePrior:
    denoiser = new_denoiser(TOY, 29)
    with torch.no_grad():
        for parameter in denoiser.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    return PosePrior(TOY, Normalisation.from_limits(g1), "g1", g1.joint_names, denoiser, {"made": "for tests"})


def test_what_is_saved_is_loaded(prior: PosePrior, tmp_path: Path, g1: Robot) -> None:
    prior.save(tmp_path / "prior")
    loaded = PosePrior.load(tmp_path / "prior", robot=g1)
    noisy = torch.randn(4, 29)
    assert loaded.hash == prior.hash
    assert torch.allclose(loaded.denoise(noisy, 0.75), prior.denoise(noisy, 0.75), rtol=1e-4, atol=1e-6)
    assert loaded.about == {"made": "for tests"}
    assert {file.name for file in (tmp_path / "prior").iterdir()} == {"model.safetensors", "config.json", "README.md"}


def test_normalising_and_back_changes_nothing(prior: PosePrior) -> None:
    poses = np.random.default_rng(0).normal(size=(10, 29)).astype(np.float32)
    assert torch.allclose(prior.denormalise(prior.normalise(poses)), torch.from_numpy(poses), atol=1e-6)


def test_samples_follow_the_generator(prior: PosePrior) -> None:
    draws = [prior.sample(5, generator=torch.Generator().manual_seed(seed), steps=4) for seed in (0, 0, 1)]
    assert draws[0].shape == (5, 29)
    assert torch.allclose(draws[0], draws[1], rtol=1e-4, atol=1e-6) and not torch.equal(draws[0], draws[2])


def test_a_frozen_prior_asks_for_no_gradients(prior: PosePrior) -> None:
    assert not any(parameter.requires_grad for parameter in prior.denoiser.parameters())


def edit(change: Callable[[dict], None]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        config["config_sha256"] = checksum_of_config(config)
        (folder / "config.json").write_text(json.dumps(config))

    return apply


def rewrite_weights(change: Callable[[dict], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        weights = safetensors.torch.load_file(folder / "model.safetensors")
        change(weights)
        safetensors.torch.save_file(weights, folder / "model.safetensors")

    return apply


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "not a prior"),
    "half a config": (lambda folder: (folder / "config.json").write_text("{"), "unreadable JSON"),
    "a foreign config": (edit(lambda config: config.update(format="other")), "not a prior's config"),
    "a future version": (edit(lambda config: config.update(version=99)), "unknown version of a prior's config"),
    "a missing key": (edit(lambda config: config.pop("normalisation")), "incomplete or wrong: .*`normalisation`"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "weights are missing"),
    "half the weights": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:5000]),
        "truncated or foreign weights",
    ),
    "a pickle for weights": (
        lambda folder: (folder / "model.safetensors").write_bytes(pickle.dumps({"a": 1})),
        "truncated or foreign weights",
    ),
    "an LFS pointer": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n"),
        "Git-LFS pointer",
    ),
    "a missing tensor": (rewrite_weights(lambda weights: weights.pop("output.bias")), "another network"),
    "a wrong shape": (rewrite_weights(lambda weights: weights.update({"output.bias": torch.zeros(3)})), "wrong shape"),
    "other weights": (
        rewrite_weights(lambda weights: weights.update({"output.bias": torch.ones(29)})),
        "not those the config describes",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_gives_a_clear_error(damage: str, prior: PosePrior, tmp_path: Path) -> None:
    prior.save(tmp_path / "prior")
    apply, message = DAMAGES[damage]
    apply(tmp_path / "prior")
    with pytest.raises(InputError, match=message) as error:
        PosePrior.load(tmp_path / "prior")
    assert str(tmp_path / "prior") in str(error.value)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"prior": {}, "training": {"steps": 20_000}}, "not finished: 1,500 of 20,000 steps.*`pfmhr prior train`"),
        ({"prior": {}, "training": {"steps": 9}, "extends": "abc"}, "not finished: .*`pfmhr prior extend`"),
        ({"prior": {}, "training": 3}, "not finished: 1,500 of unknown steps"),
        ({"kind": "tracker", "motions": []}, "this holds a tracker, not a prior"),
    ],
    ids=["begun", "an extension", "half known", "a tracker"],
)
def test_a_prior_that_is_not_there_yet_says_why(run: dict[str, Any], told: str, tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    for step in (1000, 1500):
        (tmp_path / "training" / f"step-{step:09d}.safetensors").touch()
    (tmp_path / "run.json").write_text(json.dumps(run))
    with pytest.raises(InputError, match=told) as error:
        PosePrior.load(tmp_path)
    assert error.value.code == "not_found"


def test_another_robot_and_another_order_are_told_apart(prior: PosePrior, tmp_path: Path, g1: Robot) -> None:
    prior.joint_names = tuple(reversed(prior.joint_names))
    with pytest.raises(InputError, match="same joints in another order"):
        prior.require(g1)
    prior.joint_names = tuple(f"other_{name}" for name in prior.joint_names)
    with pytest.raises(InputError, match="other joints"):
        prior.require(g1)


def test_unknown_names_and_plain_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown prior 'nothing'"):
        PosePrior.load("nothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a prior is a directory"):
        PosePrior.load(tmp_path / "file")


@pytest.mark.parametrize("shape", [(29, 3), (28,), (0,)])
def test_wrong_widths_are_refused(shape: tuple[int, ...], prior: PosePrior) -> None:
    with pytest.raises(InputError, match="wrong width"):
        prior.normalise(torch.zeros(shape))


def test_one_time_per_pose_or_one_for_all(prior: PosePrior) -> None:
    noisy = torch.randn(4, 29)
    assert torch.allclose(prior.denoise(noisy, 0.5), prior.denoise(noisy, torch.full((4,), 0.5)), atol=1e-6)
    with pytest.raises(InputError):
        prior.denoise(noisy, torch.zeros(3))


def test_a_repository_id_is_fetched_from_hugging_face(
    prior: PosePrior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prior.save(tmp_path / "snapshot")
    asked: list[tuple[str, list[str]]] = []

    def download(repository: str, allow_patterns: list[str]) -> str:
        asked.append((repository, allow_patterns))
        return str(tmp_path / "snapshot")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert PosePrior.load("hf:somebody/a-prior").hash == prior.hash
    # Nothing else of the repository is fetched: no code, no pickles.
    assert asked == [("somebody/a-prior", ["model.safetensors", "config.json", "README.md"])]


def test_what_hugging_face_does_not_have_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(repository: str, allow_patterns: list[str]) -> str:
        raise OSError("404 Client Error\nlong trace")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(InputError, match="Hugging Face did not give it: 404 Client Error") as caught:
        PosePrior.load("hf:somebody/nothing")
    assert caught.value.code == "not_found" and "long trace" not in str(caught.value)


def test_without_the_hub_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"pip install 'pfm-hr\[hub\]'"):
        PosePrior.load("hf:somebody/a-prior")


def test_arrays_of_any_layout_and_width_are_taken(g1: Robot) -> None:
    prior = PosePrior.load("g1-small")
    poses = np.random.default_rng(0).normal(size=(4, 29))
    wanted = prior.denoise(torch.from_numpy(poses).float(), 0.5)
    assert torch.equal(prior.denoise(poses, 0.5), wanted)
    assert torch.equal(prior.denoise(poses[::-1], 0.5), wanted.flip(0))
    assert torch.equal(prior.normalise(poses[::-1]), prior.normalise(poses).flip(0))
