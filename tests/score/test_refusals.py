"""What a score cannot be asked: shapes, noise, times and settings that make no sense."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

from pfmhr.score import PoseGeometryScore, pose_geometry

from .priors import random_prior, refused

DT = 0.02
JOINTS = 5


@cache
def score(samples: int = 1) -> PoseGeometryScore:
    return PoseGeometryScore(random_prior(JOINTS, dtype=torch.float32), samples=samples)


@pytest.mark.parametrize("shape", [(JOINTS,), (3, JOINTS - 1), (3, JOINTS + 1), (1, 3, JOINTS), (0,), ()])
def test_poses_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    poses, good = torch.zeros(shape), torch.zeros(3, JOINTS)
    for before, after in ((poses, poses), (poses, good), (good, poses)):
        with refused("bad_shape", f"(N, {JOINTS})"):
            score()(before, after, DT)
        with refused("bad_shape"):
            score().contributions(before, after, DT)
    with refused("bad_shape"):
        score().geometry(poses)


def test_different_numbers_of_poses_are_refused() -> None:
    with refused("bad_shape", "(3, 5)", "(4, 5)"):
        score()(torch.zeros(3, JOINTS), torch.zeros(4, JOINTS), DT)
    with refused("bad_shape"):
        score()(torch.zeros(1, JOINTS), torch.zeros(4, JOINTS), DT)


@pytest.mark.parametrize("shape", [(3, 5), (1, 3, 5), (2, 5), (2, 2, 5), (2, 4, 5), (2, 3, 4), (3, 3, 5), (1, 2, 3, 5)])
def test_noise_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with refused("bad_shape", "noise"):
        score(samples=2)(torch.zeros(3, JOINTS), torch.zeros(3, JOINTS), DT, noise=torch.zeros(shape))


@pytest.mark.parametrize("extra", [1, 16])
def test_too_much_noise_is_refused_for_whole_chunks_too(extra: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pose_geometry, "POSES_PER_CHUNK", 16)
    poses = torch.zeros(32, JOINTS)
    with refused("bad_shape", "noise"):
        score()(poses, poses, DT, noise=torch.zeros(1, 32 + extra, JOINTS))


@pytest.mark.parametrize("dt", [0.0, -0.02, float("nan"), "0.02", None])
def test_impossible_time_steps_are_refused(dt: Any) -> None:
    poses = torch.zeros(3, JOINTS)
    with refused("bad_dt"):
        score()(poses, poses, dt)
    with refused("bad_dt"):
        score().contributions(poses, poses, dt)


@pytest.mark.parametrize("t_eval", [0.0, -0.1, 0.9995, 1.0, 1.5, float("nan")])
def test_flow_times_without_a_score_are_refused(t_eval: float) -> None:
    with refused("bad_flow_time", "0.999"):
        PoseGeometryScore(score().prior, t_eval)


@pytest.mark.parametrize(("samples", "stabiliser"), [(0, 1e-6), (-1, 1e-6), (1, 0.0), (1, -1.0), (1, float("nan"))])
def test_impossible_settings_are_refused(samples: int, stabiliser: float) -> None:
    with refused("bad_config"):
        PoseGeometryScore(score().prior, samples=samples, stabiliser=stabiliser)
