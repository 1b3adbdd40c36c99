"""Which score sees what: the area by hand, the corruptions one by one, and scores of which it is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.score.priors import GaussianDenoiser, refused, seeded
from torch import Tensor, nn

from pfmhr.distance import PoseDistanceField
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior, PriorConfig
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.normalisation import Normalisation
from pfmhr.results.columns import PLAUSIBILITY
from pfmhr.results.statistics import chance_above
from pfmhr.robots import Robot
from pfmhr.studies import corruptions
from pfmhr.studies.corruptions import BAD_CHANGES, BAD_POSES
from pfmhr.studies.plausibility import plausibility_study
from pfmhr.studies.plots import plausibility_figure

torch.set_num_threads(1)  # two test workers share two cores


# The area under the curve


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ([2.0, 3.0], [0.0, 1.0], 1.0),
        ([0.0, 1.0], [2.0, 3.0], 0.0),
        ([3.0, 1.0], [2.0, 0.0], 0.75),  # 3 > 2, 3 > 0, 1 > 0
        ([1.0, 1.0], [1.0, 0.0], 0.75),  # two ties count half, two wins
        ([5.0, 5.0, 5.0], [5.0, 5.0], 0.5),
        ([1.0, 2.0, 3.0], [2.0], 0.5),  # one below, one tie, one above
        ([1.0], [0.0, 1.0, 2.0, 3.0], 0.375),
        ([-math.inf, 0.0], [-1.0], 0.5),
    ],
)
def test_the_area_by_hand(good: list[float], bad: list[float], expected: float) -> None:
    assert chance_above(torch.tensor(good), torch.tensor(bad)) == pytest.approx(expected)
    assert chance_above(torch.tensor(bad), torch.tensor(good)) == pytest.approx(1.0 - expected)


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    good, bad = torch.randn(40, generator=seeded(0)).round(decimals=1), torch.randn(30, generator=seeded(1)) - 0.5
    bad = bad.round(decimals=1)
    won = (good[:, None] > bad).double() + 0.5 * (good[:, None] == bad).double()
    assert chance_above(good, bad) == pytest.approx(float(won.mean()))


# The corruptions

ALL = {**BAD_POSES, **BAD_CHANGES}
MOVES_POSES_ALONE = ("jitter", "offset", "shuffled joints", "joints at limits", "upper body mirrored", "random motion")


@pytest.fixture(scope="module")
def poses(make_walk: Callable[..., Motion], g1: Robot) -> Tensor:
    walk = torch.from_numpy(make_walk(frames=60).joint_pos)
    return walk + 0.01 * torch.randn(walk.shape, generator=seeded(3))  # every joint moves


@pytest.mark.parametrize("name", ALL)
def test_a_broken_clip_has_as_many_steps_and_the_clip_is_left_alone(name: str, poses: Tensor, g1: Robot) -> None:
    given = poses.clone()
    before, after = ALL[name](given, g1, seeded(0))
    assert before.shape == after.shape == (59, 29) and before.dtype == after.dtype == torch.float32
    assert torch.equal(given, poses)
    assert bool(before.isfinite().all()) and bool(after.isfinite().all())
    assert not (torch.equal(before, poses[:-1]) and torch.equal(after, poses[1:]))


@pytest.mark.parametrize("name", ALL)
def test_a_corruption_follows_its_generator(name: str, poses: Tensor, g1: Robot) -> None:
    first, again = (torch.stack(ALL[name](poses, g1, seeded(0))) for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.parametrize("name", MOVES_POSES_ALONE)
def test_broken_poses_follow_one_another_within_the_limits(name: str, poses: Tensor, g1: Robot) -> None:
    before, after = ALL[name](poses, g1, seeded(0))
    assert torch.equal(before[1:], after[:-1])
    together = torch.cat([before[:1], after])
    assert bool((together >= torch.from_numpy(g1.lower) - 1e-5).all())
    assert bool((together <= torch.from_numpy(g1.upper) + 1e-5).all())


@pytest.mark.parametrize("name", ["joints frozen", "changes shuffled", "half of the changes flipped"])
def test_broken_changes_start_from_the_clips_own_poses(name: str, poses: Tensor, g1: Robot) -> None:
    assert torch.equal(ALL[name](poses, g1, seeded(0))[0], poses[:-1])


def test_an_offset_is_the_same_in_every_frame(g1: Robot) -> None:
    middle = torch.from_numpy((g1.lower + g1.upper) / 2)
    clip = middle + 0.01 * torch.randn(30, 29, generator=seeded(0))
    before, after = corruptions.offset(clip, g1, seeded(1))
    moved = torch.cat([before[:1], after])
    free = (moved > torch.from_numpy(g1.lower)).all(dim=0) & (moved < torch.from_numpy(g1.upper)).all(dim=0)
    shift = (moved - clip)[:, free]
    assert free.sum() > 20
    assert torch.allclose(shift, shift[:1].expand_as(shift), atol=1e-6)
    assert 0.15 < shift[0].square().mean().sqrt() < 0.45


def test_joints_are_exchanged_alike_in_every_frame(g1: Robot) -> None:
    """Angles that are the same in all frames stay so, and are the old ones in another order, cut to the limits."""
    angles = torch.linspace(-0.02, 0.02, 29) + 0.1  # 0.1 ± 0.02 lies within every joint's range
    before, after = corruptions.shuffled_joints(angles.repeat(4, 1), g1, seeded(0))
    assert torch.equal(before, after) and torch.equal(before[0], before[1])
    assert before[0].sort().values.tolist() == pytest.approx(angles.tolist())
    assert not torch.equal(before[0], angles)


def test_three_joints_are_held_at_a_limit(poses: Tensor, g1: Robot) -> None:
    before, after = corruptions.at_limits(poses, g1, seeded(0))
    broken = torch.cat([before[:1], after])
    changed = (broken != poses).any(dim=0).nonzero().flatten().tolist()
    assert len(changed) == 3
    for joint in changed:
        assert len(broken[:, joint].unique()) == 1
        assert float(broken[0, joint]) in (g1.lower[joint], g1.upper[joint])


def test_the_upper_body_is_mirrored_and_the_legs_are_not(poses: Tensor, g1: Robot) -> None:
    _, after = corruptions.mirrored_upper_body(poses, g1, seeded(0))
    column = {name.removesuffix("_joint"): number for number, name in enumerate(g1.joint_names)}
    legs = [n for name, n in column.items() if any(part in name for part in ("hip", "knee", "ankle"))]
    assert len(legs) == 12 and torch.equal(after[:, legs], poses[1:, legs])
    # Pitch axes keep their sign under a reflection, roll and yaw axes change it.
    for name in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw"):
        sign = -1.0 if name.endswith(("roll", "yaw")) else 1.0
        for side, other in (("left", "right"), ("right", "left")):
            assert torch.equal(after[:, column[f"{side}_{name}"]], sign * poses[1:, column[f"{other}_{name}"]])
    for name, sign in (("waist_yaw", -1.0), ("waist_roll", -1.0), ("waist_pitch", 1.0)):
        assert torch.equal(after[:, column[name]], sign * poses[1:, column[name]])


def test_jitter_is_a_hundredth_of_a_radian(g1: Robot) -> None:
    middle = torch.from_numpy((g1.lower + g1.upper) / 2).repeat(200, 1)
    before, after = corruptions.jitter(middle, g1, seeded(0))
    noise = torch.cat([before[:1], after]) - middle
    assert noise.std() == pytest.approx(0.01, rel=0.03)
    assert (after - before).std() == pytest.approx(0.01 * 2**0.5, rel=0.03)


def test_exactly_three_joints_of_each_step_are_frozen(poses: Tensor, g1: Robot) -> None:
    before, after = corruptions.frozen_joints(poses, g1, seeded(0))
    unmoved = after == before
    assert unmoved.sum(dim=1).tolist() == [3] * 59
    assert torch.equal(after[~unmoved], poses[1:][~unmoved])
    assert unmoved.any(dim=0).sum() > 25  # other joints in other steps


def test_changes_are_exchanged_among_the_joints(poses: Tensor, g1: Robot) -> None:
    before, after = corruptions.shuffled_changes(poses, g1, seeded(0))
    old, new = poses[1:] - poses[:-1], after - before
    assert torch.allclose(new.sort(dim=1).values, old.sort(dim=1).values, atol=1e-6)
    assert np.mean(np.isclose(new.numpy(), old.numpy(), atol=1e-6)) < 0.1


def test_half_of_the_joints_step_backwards(poses: Tensor, g1: Robot) -> None:
    before, after = corruptions.flipped_changes(poses, g1, seeded(0))
    old, new = poses[1:] - poses[:-1], after - before
    assert torch.allclose(new.abs(), old.abs(), atol=1e-6)
    large = old.abs() > 1e-3
    assert (torch.sign(new) != torch.sign(old))[large].float().mean() == pytest.approx(0.5, abs=0.05)


def test_time_reversed_is_the_clip_backwards(poses: Tensor, g1: Robot) -> None:
    before, after = corruptions.reversed_time(poses, g1, seeded(0))
    assert torch.equal(before, poses[1:].flip(0)) and torch.equal(after, poses[:-1].flip(0))


def test_a_random_motion_covers_the_ranges_slowly(poses: Tensor, g1: Robot) -> None:
    """Waves of at most 1 Hz at 30 steps per second: no step beyond π/30 of the range."""
    long = poses[:1].repeat(400, 1)
    before, after = corruptions.random_motion(long, g1, seeded(0))
    span = torch.from_numpy(g1.upper - g1.lower)
    assert bool(((after - before).abs() <= span * math.pi / 30 + 1e-5).all())
    assert bool((after.amax(dim=0) - after.amin(dim=0) > 0.95 * span).all())


# The study, with scores of which everything is known

WIDE = ("hip_pitch", "hip_roll", "hip_yaw", "shoulder_pitch", "shoulder_yaw")


def wide(g1: Robot) -> Tensor:
    """The joints that the prior below expects to move."""
    return torch.tensor([any(part in name for part in WIDE) for name in g1.joint_names])


def gaussian(g1: Robot, covariance: Tensor) -> PosePrior:
    """The exact prior of a Gaussian around the middle of the ranges, in rad."""
    middle = (g1.lower.astype(np.float64) + g1.upper) / 2
    units = Normalisation("standard", tuple(middle.tolist()), (1.0,) * 29)
    denoiser = Denoiser(GaussianDenoiser(torch.zeros(29), covariance.float()), "clean")  # type: ignore[arg-type]
    return PosePrior(PriorConfig(), units, "g1", g1.joint_names, denoiser)


@pytest.fixture(scope="module")
def independent(g1: Robot) -> PosePrior:
    return gaussian(g1, torch.diag(torch.where(wide(g1), 1.0, 0.01)))


@pytest.fixture(scope="module")
def together(g1: Robot) -> PosePrior:
    """Left and right move alike: their sum is wide, their difference is not."""
    mixed = torch.diag(torch.where(wide(g1), 0.505, 0.01))
    names = list(g1.joint_names)
    for left in (number for number, name in enumerate(names) if name.startswith("left") and wide(g1)[number]):
        right = names.index(names[left].replace("left", "right"))
        mixed[left, right] = mixed[right, left] = 0.495
    return gaussian(g1, mixed)


class FromTheMiddle(nn.Module):
    """The distance of a pose from the middle of the ranges."""

    def __init__(self, g1: Robot) -> None:
        super().__init__()
        self.middle = nn.Parameter(torch.from_numpy((g1.lower + g1.upper) / 2))

    def forward(self, pose: Tensor) -> Tensor:
        return (pose - self.middle).norm(dim=-1)


@pytest.fixture(scope="module")
def field(g1: Robot) -> PoseDistanceField:
    limits = tuple(map(float, g1.lower)), tuple(map(float, g1.upper))
    return PoseDistanceField("g1", g1.joint_names, (-1,) * 29, *limits, FromTheMiddle(g1))  # type: ignore[arg-type]


def wandering(g1: Robot, seed: int = 0, alike: bool = False) -> Motion:
    """Ten seconds in which the wide joints go to and fro, a few hundredths of a radian per step."""
    generator = np.random.default_rng(seed)
    change = 0.03 * generator.normal(size=(300, 29)) * wide(g1).numpy()
    if alike:
        right = [number for number, name in enumerate(g1.joint_names) if name.startswith("right")]
        left = [g1.joint_names.index(g1.joint_names[number].replace("right", "left")) for number in right]
        change[:, right] = change[:, left]
    swing = 0.98 ** np.arange(300)[::-1, None]
    poses = (g1.lower + g1.upper) / 2 + np.cumsum(change * swing, axis=0)
    return Motion.from_arrays(g1, poses, 30.0)


def chances(result: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(row["corruption"], method): row[method] for row in result["rows"] for method in PLAUSIBILITY}


@pytest.fixture(scope="module")
def seen(g1: Robot, independent: PosePrior, field: PoseDistanceField) -> dict[tuple[str, str], float]:
    """By corruption and score: independent joints, three clips, all transitions."""
    return chances(plausibility_study(independent, field, [wandering(g1, seed) for seed in range(3)]))


def test_every_score_is_asked_about_every_corruption(
    g1: Robot, independent: PosePrior, field: PoseDistanceField
) -> None:
    done: list[tuple[int, int]] = []
    result = plausibility_study(
        independent, field, [wandering(g1)], transitions=100, progress=lambda at, of: done.append((at, of))
    )
    assert [(row["group"], row["corruption"]) for row in result["rows"]] == [
        *(("poses", name) for name in BAD_POSES),
        *(("changes", name) for name in BAD_CHANGES),
    ]
    assert all(0.0 <= row[method] <= 1.0 for row in result["rows"] for method in PLAUSIBILITY)
    assert (result["transitions"], result["t_eval"]) == (100, 0.75)
    assert done == [(number, 10) for number in range(10)]


def test_the_study_repeats_to_the_bit(g1: Robot, independent: PosePrior, field: PoseDistanceField) -> None:
    runs = [plausibility_study(independent, field, [wandering(g1)], 100, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_transitions_are_those_of_the_control_rate(g1: Robot, independent: PosePrior, field: PoseDistanceField) -> None:
    """299 steps of a thirtieth of a second, 149 of a fifteenth, and of a single frame none."""
    motions = [wandering(g1), wandering(g1).frames(0, 1)]
    for rate, expected in ((30.0, 299), (15.0, 149)):
        assert plausibility_study(independent, field, motions, control_rate=rate)["transitions"] == expected


def test_the_geometry_score_of_a_gaussian_is_blind_to_time_and_place(seen: dict[tuple[str, str], float]) -> None:
    """One Jacobian for all poses, and no sign: ‖J·d‖² of a step is that of the step back, anywhere."""
    assert seen["time reversed", "PGS"] == pytest.approx(0.5, abs=0.002)
    assert seen["offset", "PGS"] == pytest.approx(0.5, abs=0.01)


def test_independent_joints_may_go_either_way(seen: dict[tuple[str, str], float]) -> None:
    assert seen["half of the changes flipped", "PGS"] == pytest.approx(0.5, abs=0.002)


def test_the_geometry_score_sees_changes_in_the_wrong_joints(seen: dict[tuple[str, str], float]) -> None:
    """All of a step lies in joints that may move; exchanged, two thirds of it do not."""
    assert seen["changes shuffled", "PGS"] > 0.99
    assert seen["jitter", "PGS"] > 0.95


def test_a_field_of_poses_is_blind_to_changes_and_sees_poses(seen: dict[tuple[str, str], float]) -> None:
    for change in ("half of the changes flipped", "changes shuffled", "joints frozen", "time reversed"):
        assert seen[change, "PDF-HR"] == pytest.approx(0.5, abs=0.03)
    for pose in ("offset", "random motion", "joints at limits"):
        assert seen[pose, "PDF-HR"] > 0.95


def test_a_field_judges_the_pose_after_the_step(g1: Robot, independent: PosePrior, field: PoseDistanceField) -> None:
    """The elbow stands still. Exchanged changes move it in 10 steps of 29, and only these are seen: ½ + 5/29."""

    class Elbow(FromTheMiddle):
        def forward(self, pose: Tensor) -> Tensor:
            return (pose - self.middle)[..., g1.joint_names.index("left_elbow_joint")].abs()

    limits = (field.lower, field.upper)
    elbow = PoseDistanceField("g1", g1.joint_names, field.parents, *limits, Elbow(g1))  # type: ignore[arg-type]
    found = chances(plausibility_study(independent, elbow, [wandering(g1, seed) for seed in range(3)]))
    assert found["changes shuffled", "PDF-HR"] == pytest.approx(0.5 + 5 / 29, abs=0.03)
    assert found["time reversed", "PDF-HR"] == 0.5


def test_reconstruction_sees_poses_and_hardly_changes(seen: dict[tuple[str, str], float]) -> None:
    for pose in ("random motion", "joints at limits"):
        assert seen[pose, "FM-Recon"] > 0.9
    assert seen["half of the changes flipped", "FM-Recon"] == pytest.approx(0.5, abs=0.05)


def test_joints_that_belong_together_may_not_go_apart(g1: Robot, together: PosePrior, field: PoseDistanceField) -> None:
    found = chances(plausibility_study(together, field, [wandering(g1, alike=True)]))
    assert found["half of the changes flipped", "PGS"] > 0.95
    assert found["joints frozen", "PGS"] > 0.6
    assert found["time reversed", "PGS"] == pytest.approx(0.5, abs=0.005)
    assert found["half of the changes flipped", "PDF-HR"] == pytest.approx(0.5, abs=0.03)


def test_clips_without_a_transition_are_refused(g1: Robot, independent: PosePrior, field: PoseDistanceField) -> None:
    with refused("no_transitions"):
        plausibility_study(independent, field, [wandering(g1).frames(0, 1)])
    with refused("no_transitions"):
        plausibility_study(independent, field, [])


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    rows = [{"group": "poses", "corruption": name, "PDF-HR": 0.9, "FM-Recon": 0.5, "PGS": 0.1} for name in BAD_POSES]
    plausibility_figure(tmp_path / "folder" / "figure.png", rows)
    assert (tmp_path / "folder" / "figure.png").read_bytes().startswith(b"\x89PNG")
