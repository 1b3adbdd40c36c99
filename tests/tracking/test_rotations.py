"""Quaternions in torch against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation
from torch import Tensor

from pfmhr.tracking.env.rotations import (
    angle_between,
    compose,
    hinge_six_numbers,
    inverse,
    rotate,
    rotate_back,
    six_numbers,
)

COUNT = 50


def turns(seed: int) -> Rotation:
    return Rotation.random(COUNT, rng=np.random.default_rng(seed))


def quats(rotations: Rotation) -> Tensor:
    return torch.from_numpy(rotations.as_quat(scalar_first=True))


def same_turn(found: Tensor, expected: Rotation) -> bool:
    """Quaternions of either sign are the same turn."""
    return bool(((found * quats(expected)).sum(dim=-1).abs() > 1.0 - 1e-12).all())


def vectors(seed: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(COUNT, 3)))


def test_composition_and_inverse() -> None:
    first, second = turns(0), turns(1)
    assert same_turn(compose(quats(first), quats(second)), first * second)
    assert same_turn(inverse(quats(first)), first.inv())


def test_composition_broadcasts() -> None:
    first, second = turns(0), turns(1)
    table = compose(quats(first)[:, None], quats(second)[None])
    assert table.shape == (COUNT, COUNT, 4)
    assert same_turn(table[:, 7], first * second[7])
    assert same_turn(table[7], first[7] * second)


def test_turned_vectors() -> None:
    first, some = turns(2), vectors(3)
    assert np.allclose(rotate(quats(first), some), first.apply(some))
    assert np.allclose(rotate_back(quats(first), some), first.inv().apply(some))
    assert np.allclose(rotate(quats(first)[:, None], some[None])[4], first[4].apply(some))


def test_six_numbers_are_the_turned_x_and_z_axes() -> None:
    first = turns(4)
    matrix = first.as_matrix()
    assert np.allclose(six_numbers(quats(first)), np.concatenate([matrix[:, :, 0], matrix[:, :, 2]], axis=1))


def test_six_numbers_of_a_hinge_are_those_of_its_turn() -> None:
    axes = vectors(5) / vectors(5).norm(dim=1, keepdim=True)
    angles = 6.0 * torch.rand(3, COUNT, dtype=torch.float64) - 3.0
    for row in range(3):
        expected = six_numbers(quats(Rotation.from_rotvec(axes * angles[row, :, None])))
        assert np.allclose(hinge_six_numbers(angles, axes)[row], expected)


def test_angles_are_geodesic() -> None:
    first, second = turns(6), turns(7)
    expected = (first.inv() * second).magnitude()
    assert np.allclose(angle_between(quats(first), quats(second)), expected)
    assert np.allclose(angle_between(quats(first), -quats(second)), expected)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 1e-3, 1.0, math.pi])
def test_small_angles_survive_float32(angle: float) -> None:
    turned = torch.tensor([math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0])
    assert angle_between(turned, torch.tensor([1.0, 0.0, 0.0, 0.0])).item() == pytest.approx(angle, rel=1e-6)
