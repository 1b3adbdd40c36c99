"""A distance field: on disk, with any input, and, trained on a line, what geometry says."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import Tensor

from pfmhr.corpus import PoseCorpus
from pfmhr.distance import PoseDistanceField
from pfmhr.distance.network import DistanceNetworkConfig, joint_parents
from pfmhr.learning.identity import checksum_of_config
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot

from ..score.priors import normal, refused

SMALL = DistanceNetworkConfig(feature=4, hidden=5, head=(8, 6))


@pytest.fixture
def field(g1: Robot) -> PoseDistanceField:
    made = PoseDistanceField.new(g1, joint_parents(g1), SMALL, seed=3)
    made.about = {"made": "for tests"}
    return made


def poses(count: int, seed: int = 0) -> Tensor:
    return normal(count, 29, seed=seed, dtype=torch.float32)


# On disk


def test_what_is_saved_is_loaded(field: PoseDistanceField, tmp_path: Path, g1: Robot) -> None:
    field.save(tmp_path / "field")
    loaded = PoseDistanceField.load(tmp_path / "field", g1)
    assert loaded.hash == field.hash and loaded.about == {"made": "for tests"}
    assert torch.allclose(loaded(poses(9)), field(poses(9)), rtol=1e-4, atol=1e-6)
    assert torch.allclose(loaded.gradient(poses(9))[1], field.gradient(poses(9))[1], rtol=1e-4, atol=1e-6)
    for name in ("robot", "joint_names", "parents", "lower", "upper"):
        assert getattr(loaded, name) == getattr(field, name)
    assert loaded.network.config == SMALL
    names = {file.name for file in (tmp_path / "field").iterdir()}
    assert names == {"model.safetensors", "config.json", "README.md"}


def test_a_frozen_field_asks_for_no_gradients(field: PoseDistanceField) -> None:
    assert not any(parameter.requires_grad for parameter in field.network.parameters())
    assert not field(poses(3).requires_grad_(True)).requires_grad


def edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        change(config)
        config["config_sha256"] = checksum_of_config(config)
        (folder / "config.json").write_text(json.dumps(config))

    return apply


def rewrite_weights(change: Callable[[dict[str, Tensor]], object]) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        weights = safetensors.torch.load_file(folder / "model.safetensors")
        change(weights)
        safetensors.torch.save_file(weights, folder / "model.safetensors")

    return apply


def without(key: str) -> Callable[[Path], object]:
    return edit(lambda config: config.pop(key))


DAMAGES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "not_found", "not a distance field"),
    "half a config": (lambda folder: (folder / "config.json").write_text("{"), "bad_distance_field", "unreadable JSON"),
    "a list for a config": (lambda folder: (folder / "config.json").write_text("[]"), "bad_distance_field", "list"),
    "a prior's config": (edit(lambda c: c.update(format="pfmhr-prior")), "bad_distance_field", "this is a prior, not"),
    "a future version": (
        edit(lambda c: c.update(version=99)),
        "bad_distance_field",
        "unknown version of a distance field's config",
    ),
    **{
        f"no {key}": (without(key), "bad_distance_field", f"incomplete or wrong: Object missing required field `{key}`")
        for key in ("robot", "joint_names", "parents", "lower", "upper", "network", "weights_sha256")
    },
    "a joint too few": (edit(lambda c: c["joint_names"].pop()), "bad_distance_field", ""),
    "a limit too few": (edit(lambda c: c["lower"].pop()), "bad_distance_field", ""),
    "no tree": (edit(lambda c: c.update(parents=[])), "bad_distance_field", ""),
    "a tree that is none": (edit(lambda c: c.update(parents=[28] * 29)), "bad_distance_field", ""),
    "another tree": (edit(lambda c: c.update(parents=[-1] * 29)), "bad_distance_field", "another network"),
    "another size": (edit(lambda c: c["network"].update(hidden=6)), "bad_distance_field", "wrong shape"),
    "a size that is none": (edit(lambda c: c["network"].update(hidden=-6)), "bad_distance_field", ""),
    "an unknown setting": (edit(lambda c: c["network"].update(depth=2)), "bad_distance_field", "depth"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "bad_distance_field", "weights are missing"),
    "half the weights": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:3000]),
        "bad_distance_field",
        "truncated or foreign weights",
    ),
    "a pickle for weights": (
        lambda folder: (folder / "model.safetensors").write_bytes(pickle.dumps({"a": 1})),
        "bad_distance_field",
        "truncated or foreign weights",
    ),
    "an LFS pointer": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n"),
        "lfs_pointer",
        "git lfs pull",
    ),
    "a missing tensor": (rewrite_weights(lambda w: w.pop("head.0.bias")), "bad_distance_field", "head.0.bias"),
    "a wrong shape": (
        rewrite_weights(lambda w: w.update({"head.0.bias": torch.zeros(3)})),
        "bad_distance_field",
        "wrong shape",
    ),
    "other weights": (
        rewrite_weights(lambda w: w["head.0.bias"].add_(1.0)),
        "bad_distance_field",
        "not those the config describes",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_gives_a_clear_error(damage: str, field: PoseDistanceField, tmp_path: Path) -> None:
    apply, code, message = DAMAGES[damage]
    field.save(tmp_path / "field")
    apply(tmp_path / "field")
    with refused(code, str(tmp_path / "field"), message):
        PoseDistanceField.load(tmp_path / "field")


def test_a_prior_is_called_a_prior_and_a_field_a_field(field: PoseDistanceField, tmp_path: Path) -> None:
    with refused("not_found", "'g1-small' is a prior", "not a distance field", "pfmhr distance train"):
        PoseDistanceField.load("g1-small")
    field.save(tmp_path / "field")
    with refused("bad_prior", "this is a distance field, not a prior"):
        PosePrior.load(tmp_path / "field")


def test_weights_of_another_field_of_the_same_size_are_refused(tmp_path: Path, g1: Robot) -> None:
    for seed in (0, 1):
        PoseDistanceField.new(g1, joint_parents(g1), SMALL, seed).save(tmp_path / str(seed))
    (tmp_path / "1" / "model.safetensors").replace(tmp_path / "0" / "model.safetensors")
    with refused("bad_distance_field", "not those the config describes"):
        PoseDistanceField.load(tmp_path / "0")


def test_a_field_for_another_robot_is_refused(field: PoseDistanceField, tmp_path: Path, arm: Robot) -> None:
    field.save(tmp_path / "field")
    with refused("wrong_robot", "robot 'arm'", "left_hip_pitch_joint", str(tmp_path / "field")):
        PoseDistanceField.load(tmp_path / "field", arm)


def test_a_field_for_another_order_is_refused(field: PoseDistanceField, tmp_path: Path, g1: Robot) -> None:
    field.joint_names = (field.joint_names[1], field.joint_names[0], *field.joint_names[2:])
    field.save(tmp_path / "field")
    with refused("wrong_robot"):
        PoseDistanceField.load(tmp_path / "field", g1)


# Any input


def test_the_size_of_a_chunk_does_not_show(field: PoseDistanceField) -> None:
    given = poses(50)
    assert torch.allclose(field(given, chunk=7), field(given), atol=1e-6)
    assert field(given, chunk=7).shape == (50,)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_pose_that_is_none_is_infinitely_far(broken: float, field: PoseDistanceField) -> None:
    given = poses(4)
    expected = field(given)
    given[2, 5] = broken
    found = field(given)
    assert found[2] == math.inf
    assert torch.allclose(found[[0, 1, 3]], expected[[0, 1, 3]], rtol=1e-4, atol=1e-6)


def test_no_poses_give_no_distances(field: PoseDistanceField) -> None:
    distance, gradient = field.gradient(poses(0))
    assert field(poses(0)).shape == distance.shape == (0,)
    assert gradient.shape == field.project(poses(0), steps=2).shape == (0, 29)


def test_poses_may_be_arrays_of_numpy(field: PoseDistanceField) -> None:
    given = poses(6)
    for array in (given.numpy(), given.double().numpy(), np.asfortranarray(given.numpy())):
        assert torch.allclose(field(array), field(given), rtol=1e-4, atol=1e-6)
        assert torch.allclose(field.gradient(array)[1], field.gradient(given)[1], rtol=1e-4, atol=1e-6)


def test_a_clip_played_backwards_is_a_batch_of_poses_too(field: PoseDistanceField) -> None:
    given = poses(6).numpy()
    assert torch.allclose(field(given[::-1]), field(given).flip(0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [(29,), (4, 28), (4, 30), (2, 3, 29), (29, 4)])
def test_wrong_shapes_are_refused(shape: tuple[int, ...], field: PoseDistanceField) -> None:
    for method in (field, field.gradient, field.project):
        with refused("bad_shape", "(N, 29)"):
            method(torch.zeros(shape))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_everything_works_in_any_mode_of_autograd(mode: Any, field: PoseDistanceField) -> None:
    given = poses(5)
    distance, (_, gradient), walked = field(given), field.gradient(given), field.project(given, steps=3)
    with mode():
        inside = given.clone()
        assert torch.allclose(field(inside), distance, rtol=1e-4, atol=1e-6)
        assert torch.allclose(field.gradient(inside)[1], gradient, rtol=1e-4, atol=1e-6)
        assert torch.allclose(field.project(inside, steps=3), walked, rtol=1e-4, atol=1e-6)


def test_a_field_loaded_in_inference_mode_has_a_gradient(field: PoseDistanceField, tmp_path: Path) -> None:
    field.save(tmp_path / "field")
    with torch.inference_mode():
        loaded = PoseDistanceField.load(tmp_path / "field")
    assert torch.allclose(loaded.gradient(poses(3))[1], field.gradient(poses(3))[1], rtol=1e-4, atol=1e-6)


def test_what_is_given_is_left_as_it_was(field: PoseDistanceField) -> None:
    given = poses(5)
    before = given.clone()
    for method in (field, field.gradient, lambda poses: field.project(poses, steps=2)):
        method(given)
    assert torch.equal(given, before) and not given.requires_grad


# Trained on poses with both angles the same


def off_the_line(count: int) -> tuple[Tensor, Tensor]:
    """Poses within the limits, and how far they are from the line: |a − b|/√2."""
    given = 2.0 * torch.rand(count, 2, generator=torch.Generator().manual_seed(1)) - 1.0
    return given, (given[:, 0] - given[:, 1]).abs() / 2**0.5


def test_poses_of_the_corpus_are_nearly_at_distance_0(line_field: PoseDistanceField, line: PoseCorpus) -> None:
    assert line_field(np.array(line.poses[:])).max() < 0.05


def test_the_learned_distance_is_the_distance(line_field: PoseDistanceField) -> None:
    given, true = off_the_line(500)
    error = (line_field(given) - true).abs()
    assert error.mean() < 0.015 and error.max() < 0.08


def test_the_gradient_has_length_1_and_points_away(line_field: PoseDistanceField) -> None:
    given, true = off_the_line(500)
    given = given[true > 0.15]
    distance, gradient = line_field.gradient(given)
    assert torch.allclose(distance, line_field(given), rtol=1e-4, atol=1e-6)
    length = gradient.norm(dim=1)
    assert (length - 1.0).abs().mean() < 0.08
    away = torch.sign(given[:, :1] - given[:, 1:]) * torch.tensor([1.0, -1.0]) / 2**0.5
    assert ((gradient * away).sum(dim=1) / length).min() > 0.95


def test_walking_along_it_leads_to_the_corpus_within_the_limits(line_field: PoseDistanceField) -> None:
    given, true = off_the_line(200)
    walked = line_field.project(given, steps=60)
    assert bool((walked.abs() <= 1.0).all())
    left = (walked[:, 0] - walked[:, 1]).abs() / 2**0.5
    assert true.mean() > 0.4 and left.max() < 0.05
    assert bool((left < 0.5 * true)[true > 0.1].all())
    # Straight towards the line: what the angles have in common does not change much.
    inner = given.sum(dim=1).abs() < 1.5
    assert (walked - given).sum(dim=1)[inner].abs().max() < 0.15


def test_each_step_goes_a_share_of_the_way(line_field: PoseDistanceField) -> None:
    given = torch.tensor([[0.5, -0.5], [-0.2, 0.6]])
    distance = line_field(given)
    for rate in (0.1, 0.5):
        stepped = line_field.project(given, steps=1, rate=rate)
        assert torch.allclose((stepped - given).norm(dim=1), rate * distance, rtol=1e-4)


def test_a_walk_from_outside_the_limits_ends_inside(line_field: PoseDistanceField) -> None:
    walked = line_field.project(torch.tensor([[3.0, -2.0], [-1.5, 0.2]]), steps=40)
    assert bool((walked.abs() <= 1.0).all())
    assert (walked[:, 0] - walked[:, 1]).abs().max() < 0.1


class Beyond(torch.nn.Module):
    """d = 3 − q₁: the way back leads out of the limits."""

    def __init__(self) -> None:
        super().__init__()
        self.far = torch.nn.Parameter(torch.tensor(3.0))

    def forward(self, pose: Tensor) -> Tensor:
        return self.far - pose[..., 0]


def test_a_walk_ends_at_the_limit_it_meets() -> None:
    """A tenth of 3 rad first, to 0.3; then it would go on beyond 1."""
    field = PoseDistanceField("toy", ("a", "b"), (-1, 0), (-1.0,) * 2, (1.0,) * 2, Beyond())  # type: ignore[arg-type]
    start = torch.tensor([[0.0, 0.5]])
    assert field.project(start, steps=1)[0].tolist() == pytest.approx([0.3, 0.5])
    assert field.project(start, steps=30)[0].tolist() == [1.0, 0.5]


def test_a_pose_that_is_none_stops_nobody_else(line_field: PoseDistanceField) -> None:
    given = torch.tensor([[0.5, -0.5], [math.nan, 0.0]])
    walked = line_field.project(given, steps=20)
    assert torch.allclose(walked[0], line_field.project(given[:1], steps=20)[0], atol=1e-5)
