"""PDF-HR's reward by hand: distance → badness → factor or bonus, behind the interface of all modulators."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pfmhr.distance import PoseDistanceField
from pfmhr.errors import InputError
from pfmhr.reward import (
    Calibration,
    DistanceModulator,
    DistanceReward,
    Modulator,
    NoModulation,
    ReconstructionModulator,
    RewardModulator,
)
from pfmhr.score import ReconstructionScore

from ..score.priors import joint_names, refused, seeded
from .gauge import DT, clip, clip_scoring, gauge, percents, steps_scoring

HALF = math.exp(-0.5)
SHARES = ("share_good", "share_between", "share_bad")


class First(nn.Module):
    """The distance is the first angle."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, pose: Tensor) -> Tensor:
        return self.scale * pose[..., 0].abs()


@cache
def ruler(names: tuple[str, ...] = joint_names(2)) -> PoseDistanceField:
    """A field whose distance of a pose is its first angle."""
    limits = (-9.0,) * len(names), (9.0,) * len(names)
    return PoseDistanceField("toy", names, tuple(range(-1, len(names) - 1)), *limits, First())  # type: ignore[arg-type]


def at(*distances: float) -> Tensor:
    """Poses at these distances from the corpus."""
    return torch.tensor([[distance, 0.7] for distance in distances])


def static(*worst: float, **settings: Any) -> DistanceModulator:
    """References whose poses are at most so far away."""
    motions = [clip([[0.0, 0.0], [far, 1.0], [far / 2, 2.0]]) for far in worst]
    return DistanceModulator(ruler(), motions, DistanceReward(good="static", **settings))


def dynamic(**settings: Any) -> DistanceModulator:
    return DistanceModulator(ruler(), [], DistanceReward(**settings))


# Badness


@pytest.mark.parametrize(
    ("distance", "badness"),
    [(0.0, 0.0), (0.1, 0.0), (0.15, 0.0), (0.2125, 0.25), (0.275, 0.5), (0.4, 1.0), (0.9, 1.0), (50.0, 1.0)],
)
def test_badness_by_hand(distance: float, badness: float) -> None:
    """The reference at 0.1 rad: near enough up to 0.15, as bad as it gets from 0.4 on."""
    found = DistanceReward().badness(torch.tensor(distance), torch.tensor(0.1))
    assert found.item() == pytest.approx(badness, abs=1e-6)


@pytest.mark.parametrize(("distance", "badness"), [(0.395, 0.0), (0.396, 0.2), (0.3975, 0.5), (0.4, 1.0)])
@pytest.mark.parametrize("reference", [0.345, 0.4, 10.0, math.inf])
def test_a_reference_far_away_leaves_a_short_ramp(reference: float, distance: float, badness: float) -> None:
    """What is near enough ends at 0.395 of 0.4 rad, however far the reference is."""
    found = DistanceReward().badness(torch.tensor(distance), torch.tensor(reference))
    assert found.item() == pytest.approx(badness, abs=1e-4)


def test_badness_with_other_numbers_and_one_reference_each() -> None:
    """Without tolerance, bad from 2 rad on; references at 0, 1 and 1.5 rad."""
    settings = DistanceReward(tolerance=0.0, bad=2.0)
    found = settings.badness(torch.tensor([0.5, 1.25, 1.75]), torch.tensor([0.0, 1.0, 1.5]))
    assert found.tolist() == pytest.approx([0.25, 0.25, 0.5], abs=1e-6)
    assert settings.badness(torch.zeros(2, 3), torch.zeros(3)).shape == (2, 3)


@pytest.mark.parametrize(
    "settings",
    [
        {"bad": 0.0},
        {"bad": -1.0},
        {"bad": math.nan},
        {"tolerance": -0.1},
        {"tolerance": math.nan},
        {"alpha": -0.1},
        {"alpha": math.nan},
        {"alpha": math.inf},
        {"weight": -0.1},
        {"weight": math.nan},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings: dict[str, Any]) -> None:
    with refused("bad_config"):
        DistanceReward(**settings)


@pytest.mark.parametrize("settings", [{"good": "statc"}, {"combine": "multiplied"}], ids=str)
def test_unknown_ways_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        DistanceReward(**settings)


# Factor and bonus


def test_the_factor_by_hand() -> None:
    """exp(−s/2), s = 0, ½ and 1; each environment with the reference of its own moment."""
    references = at(0.1, 0.1, 0.1, 0.0, 10.0)
    factors = dynamic()(at(9, 9, 9, 9, 9), at(0.15, 0.275, 0.4, 0.225, 0.3975), DT, reference_pose=references)
    expected = [1.0, math.exp(-0.25), HALF, math.exp(-0.25), math.exp(-0.25)]
    assert factors.tolist() == pytest.approx(expected, abs=1e-4)


def test_the_factor_with_another_strength() -> None:
    factors = dynamic(alpha=2.0)(at(0), at(0.275), DT, reference_pose=at(0.1))
    assert factors.item() == pytest.approx(math.exp(-1.0), abs=1e-5)
    assert dynamic(alpha=0.0)(at(0), at(9.0), DT, reference_pose=at(0.1)).item() == 1.0


def test_the_bonus_by_hand() -> None:
    """0.2·exp(−s): α has no part in it."""
    poses, references = at(0.15, 0.275, 0.4), at(0.1, 0.1, 0.1)
    for alpha in (0.0, 0.5):
        bonus = dynamic(combine="add", alpha=alpha)(poses, poses, DT, reference_pose=references)
        assert bonus.tolist() == pytest.approx([0.2, 0.2 * math.exp(-0.5), 0.2 * math.exp(-1.0)], abs=1e-6)
    double = dynamic(combine="add", weight=0.4)(poses, poses, DT, reference_pose=references)
    assert double.tolist() == pytest.approx([2 * value for value in bonus.tolist()], abs=1e-6)


def test_a_factor_is_multiplied_and_a_bonus_added() -> None:
    reward, value = torch.tensor([2.0, 4.0]), torch.tensor([0.5, 0.25])
    assert dynamic().combine(reward, value).tolist() == [1.0, 1.0]
    assert dynamic(combine="add").combine(reward, value).tolist() == [2.5, 4.25]


def test_near_enough_is_the_clips_largest_distance_or_that_of_the_moment() -> None:
    """The clip is never farther than 0.3 rad; at this moment it is at 0.1."""
    modulator, poses = static(0.3), at(0.35, 0.375, 0.4)
    assert modulator(poses, poses, DT).tolist() == pytest.approx([1.0, math.exp(-0.25), HALF], abs=1e-5)
    assert torch.allclose(
        modulator(poses, poses, DT, reference_pose=at(9, 9, 9)), modulator(poses, poses, DT), rtol=1e-4, atol=1e-6
    )
    moment = dynamic()(poses, poses, DT, reference_pose=at(0.1, 0.1, 0.1))
    assert moment.tolist() == pytest.approx([math.exp(-0.4), math.exp(-0.45), HALF], abs=1e-5)


def test_environments_on_different_motions() -> None:
    """Clips up to 0.1 and 0.3 rad away: 0.275 is half bad by the first and well within the second."""
    modulator, poses = static(0.1, 0.3), at(0.275, 0.275, 0.375)
    factors = modulator(poses, poses, DT, motion_id=torch.tensor([0, 1, 1]))
    assert factors.tolist() == pytest.approx([math.exp(-0.25), 1.0, math.exp(-0.25)], abs=1e-5)
    assert modulator(poses, poses, DT, motion_id=1).tolist() == pytest.approx([1.0, 1.0, math.exp(-0.25)], abs=1e-5)


def test_a_broken_frame_of_the_reference_does_not_excuse_everything() -> None:
    """The clip's finite frames are at most 0.1 rad away."""
    motion = clip([[0.0, 0.0], [math.nan, 0.0], [0.1, 0.0]])
    modulator = DistanceModulator(ruler(), [motion], DistanceReward(good="static"))
    assert modulator(at(0), at(0.275), DT).item() == pytest.approx(math.exp(-0.25), abs=1e-5)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(("combine", "neutral", "bad"), [("multiply", 1.0, HALF), ("add", 0.2, 0.2 * math.exp(-1.0))])
def test_broken_poses_are_left_alone_and_counted(broken: float, combine: str, neutral: float, bad: float) -> None:
    """A pose that is none gets what a good one gets."""
    modulator, poses = dynamic(combine=combine), at(0.4, 0.4, 0.4)
    poses[1, 1] = broken
    values = modulator(at(0, 0, 0), poses, DT, reference_pose=at(0.1, 0.1, 0.1))
    assert values.tolist() == pytest.approx([bad, neutral, bad], abs=1e-6)
    assert modulator.statistics()["not_finite"] == 1


def test_the_pose_before_does_not_matter() -> None:
    poses, before = at(0.275), torch.full((1, 2), math.nan)
    assert torch.allclose(static(0.1)(before, poses, DT), static(0.1)(poses, poses, 7.0), rtol=1e-4, atol=1e-6)


def test_invalid_transitions_are_left_alone() -> None:
    poses, references = at(0.4, 0.4, 0.4), at(0.1, 0.1, 0.1)
    valid = torch.tensor([True, False, True])
    factors = dynamic()(poses, poses, DT, valid=valid, reference_pose=references)
    assert factors.tolist() == pytest.approx([HALF, 1.0, HALF], abs=1e-6)


def test_statistics_by_hand() -> None:
    """Judged: s = 0, ½ and 1. Not judged: one invalid, one not finite."""
    modulator, poses = static(0.1), at(0.1, 0.275, 0.4, 0.4, math.nan)
    modulator(poses, poses, DT, valid=torch.tensor([True, True, True, False, True]))
    expected = {
        "multiplier": (1.0 + math.exp(-0.25) + HALF) / 3,
        "percentile": 0.5,
        "share_good": 1 / 3,
        "share_between": 1 / 3,
        "share_bad": 1 / 3,
        "masked": 2.0,
        "not_finite": 1.0,
    }
    assert modulator.statistics(reset=False) == pytest.approx(expected, abs=1e-6)
    assert modulator.statistics() == pytest.approx(expected, abs=1e-6)
    assert modulator.statistics() == {}


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_factors_need_no_gradients(mode: Any) -> None:
    with mode():
        factors = static(0.1)(at(0), at(0.275), DT)
    assert factors.item() == pytest.approx(math.exp(-0.25), abs=1e-5) and not factors.requires_grad


def test_no_environments_and_arrays_of_numpy() -> None:
    assert static(0.1)(at(), torch.zeros(0, 2), DT).shape == (0,)
    poses = at(0.275, 0.4).double().numpy()
    factors = dynamic()(poses, poses, DT, reference_pose=np.tile([0.1, 0.0], (2, 1)))
    assert factors.tolist() == pytest.approx([math.exp(-0.25), HALF], abs=1e-5)
    assert factors.dtype == torch.float32


# Refusals


def test_without_the_reference_of_the_moment_the_dynamic_reward_is_refused() -> None:
    with refused("bad_config", "reference_pose", "static"):
        dynamic()(at(0.1), at(0.1), DT)


def test_without_reference_motions_the_static_reward_is_refused() -> None:
    with refused("bad_calibration", "reference motions"):
        static()(at(0.1), at(0.1), DT)


def test_motions_of_other_joints_are_refused() -> None:
    for names in (("joint_1", "joint_0"), ("a", "b")):
        with refused("wrong_robot", "aside"):
            DistanceModulator(ruler(), [clip([[0.0, 0.0]]), clip([[0.0, 0.0]], joint_names=names, name="aside")])


def test_a_motion_without_frames_is_refused() -> None:
    with pytest.raises(InputError):
        DistanceModulator(ruler(), [clip(np.zeros((0, 2)))], DistanceReward(good="static"))


def test_what_does_not_fit_is_refused_as_by_the_other_modulators() -> None:
    modulator, poses = static(0.1, 0.3), at(0.1, 0.9)
    for number in (2, -1, torch.tensor([0, 2])):
        with refused("unknown_name", "motion number"):
            modulator(poses, poses, DT, motion_id=number)
    for number in (torch.tensor([0.0, 0.0]), torch.tensor([0]), torch.tensor([[0, 0]])):
        with refused("bad_shape", "motion number"):
            modulator(poses, poses, DT, motion_id=number)


@pytest.mark.parametrize("good", ["static", "dynamic"])
def test_a_mask_that_is_none_is_refused_as_by_the_other_modulators(good: str) -> None:
    modulator = DistanceModulator(ruler(), [clip([[0.1, 0.0]])], DistanceReward(good=good))  # type: ignore[arg-type]
    poses = at(0.1, 0.9)
    for valid in (torch.ones(2), torch.ones(3, dtype=torch.bool), torch.ones(2, 1, dtype=torch.bool)):
        with refused("bad_shape", "valid"):
            modulator(poses, poses, DT, valid=valid, reference_pose=poses)


def test_poses_of_another_width_are_refused() -> None:
    with refused("bad_shape", "(N, 2)"):
        static(0.1)(torch.zeros(2, 3), torch.zeros(2, 3), DT)
    with refused("bad_shape", "(N, 2)"):
        dynamic()(at(0.1), at(0.1), DT, reference_pose=torch.zeros(1, 3))


@pytest.mark.parametrize(("poses", "references"), [(3, 2), (1, 3)])
def test_references_of_another_number_are_refused(poses: int, references: int) -> None:
    given, moment = at(*[0.3] * poses), at(*[0.1] * references)
    with refused("bad_shape"):
        dynamic()(given, given, DT, reference_pose=moment)


# One interface for all


@cache
def modulators() -> dict[str, Modulator]:
    error = ReconstructionScore(gauge().prior)
    calibration = Calibration.fit(error, [clip_scoring([0.1, 0.9])], DT, seeded(0))
    return {
        "none": NoModulation(),
        "PFM-HR": RewardModulator(gauge(), percents()),
        "FM-Recon": ReconstructionModulator(error, calibration),
        "PDF-HR": DistanceModulator(ruler(), [clip_scoring([0.1, 0.9])]),
        "PDF-HR, static": static(0.1),
    }


def modulate(modulator: Modulator, before: Tensor, after: Tensor, valid: Tensor) -> tuple[Tensor, dict[str, float]]:
    """As a training loop does, whatever the modulator."""
    factor = modulator(
        before,
        after,
        DT,
        motion_id=torch.zeros(len(after), dtype=torch.long),
        valid=valid,
        generator=seeded(0),
        reference_pose=torch.zeros_like(after),
    )
    return modulator.combine(torch.full((len(after),), 3.0), factor), modulator.statistics()


@pytest.mark.parametrize("name", ["none", "PFM-HR", "FM-Recon", "PDF-HR", "PDF-HR, static"])
def test_all_modulators_are_called_alike(name: str) -> None:
    before, after = steps_scoring([0.0, 0.5, 1.0, 0.0, 0.0])
    after[3, 0] = math.nan
    valid = torch.tensor([True, True, True, True, False])
    reward, figures = modulate(modulators()[name], before, after, valid)
    assert reward.shape == (5,) and reward.dtype == torch.float32
    assert bool((reward >= 3.0 * HALF - 1e-5).all()) and bool((reward <= 3.0).all())
    assert reward[3:].tolist() == [3.0, 3.0]  # broken, and without a pose before
    if name != "none":
        assert set(figures) == {"multiplier", "percentile", *SHARES, "masked", "not_finite"}
        assert figures["not_finite"] == 1.0
    else:
        assert reward.tolist() == [3.0] * 5 and figures == {}
