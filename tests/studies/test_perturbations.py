"""Perturbations of joint changes, and the law that a set of signs and its complement score alike."""

from __future__ import annotations

import pytest
import torch

from pfmhr.studies.perturbations import flip, permute, rotate


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


directions = torch.randn(200, 29, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("degrees", [15.0, 60.0, 90.0])
def test_rotation_keeps_the_length_and_turns_by_the_angle(degrees: float) -> None:
    turned = rotate(directions, degrees, generator())
    assert torch.allclose(turned.norm(dim=1), directions.norm(dim=1), rtol=1e-4)
    cosine = torch.nn.functional.cosine_similarity(turned, directions)
    assert torch.allclose(cosine, torch.cos(torch.deg2rad(torch.tensor(degrees))).expand(200), atol=1e-4)


@pytest.mark.parametrize(("fraction", "moved"), [(0.25, 7), (0.5, 14), (1.0, 29)])
def test_permutation_keeps_the_set_of_changes_and_moves_only_the_chosen(fraction: float, moved: int) -> None:
    shuffled = permute(directions, fraction, generator())
    assert torch.equal(shuffled.sort(dim=1).values, directions.sort(dim=1).values)
    assert int((shuffled != directions).sum(dim=1).max()) <= moved


@pytest.mark.parametrize(("fraction", "count"), [(0.25, 7), (0.5, 14), (0.75, 22), (1.0, 29)])
def test_flipping_reverses_so_many_joints(fraction: float, count: int) -> None:
    flipped = flip(directions, fraction, generator())
    assert torch.equal(flipped.abs(), directions.abs())
    assert ((flipped != directions).sum(dim=1) == count).all()
