"""The prior in the loop: by its settings, calibrated on the clips."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pfmhr.distance import PoseDistanceField
from pfmhr.distance.network import DistanceNetworkConfig, joint_parents
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.reward import (
    DistanceModulator,
    DistanceReward,
    Modulator,
    NoModulation,
    RandomModulation,
    ReconstructionModulator,
    RewardModulator,
    ShuffledModulation,
)
from pfmhr.reward.settings import PoseGeometrySettings
from pfmhr.robots import Robot
from pfmhr.tracking import ModulatorConfig
from pfmhr.tracking.modulation import make_modulator

from ..score.priors import seeded
from .learning import TINY, learner

DT = 1 / 30
POSES = torch.randn(400, 29, generator=seeded(0))


@pytest.fixture(scope="module")
def field(g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A distance field that has learned nothing: all poses are about as far."""
    made = PoseDistanceField.new(g1, joint_parents(g1), DistanceNetworkConfig(feature=4, hidden=5, head=(8, 6)), seed=3)
    path = tmp_path_factory.mktemp("distance") / "field"
    made.save(path)
    return str(path)


def test_every_kind_is_made(walking: Motion, field: str) -> None:
    kinds: dict[str, type] = {
        "none": NoModulation,
        "random": RandomModulation,
        "shuffled": ShuffledModulation,
        "pfm": RewardModulator,
        "recon": ReconstructionModulator,
        "pdf": DistanceModulator,
    }
    priors = {"pfm": "g1-small", "recon": "g1-small", "shuffled": "g1-small", "pdf": field}
    for kind, expected in kinds.items():
        made = make_modulator(ModulatorConfig(kind, priors.get(kind, "")), [walking], DT)
        assert type(made) is expected
        factors = made(POSES, POSES + 0.01, DT, motion_id=torch.zeros(400, dtype=torch.long), reference_pose=POSES)
        assert factors.shape == (400,)
        assert float(factors.min()) >= math.exp(-0.5) - 1e-6 and float(factors.max()) <= 1.0
        assert made.combine(torch.full((400,), 2.0), factors).tolist() == pytest.approx((2.0 * factors).tolist())


def test_settings_reach_the_score_and_the_ramp(walking: Motion) -> None:
    config = ModulatorConfig.of("pfm", "g1-small", t_eval=0.5, alpha=2.0, p_good=0.4, p_bad=0.2)
    made = make_modulator(config, [walking], DT)
    assert isinstance(made, RewardModulator)
    assert made.score.t_eval == 0.5  # type: ignore[attr-defined]
    assert (made.ramp.alpha, made.ramp.p_good, made.ramp.p_bad) == (2.0, 0.4, 0.2)


@pytest.mark.parametrize("alpha", [0.5, 3.0])
def test_the_strength_of_a_distance_field_is_a_setting(walking: Motion, field: str, alpha: float) -> None:
    made = make_modulator(ModulatorConfig.of("pdf", field, alpha=alpha), [walking], DT)
    assert isinstance(made, DistanceModulator) and made.settings.alpha == alpha


def test_pdf_hr_as_its_code_has_it_is_a_setting(walking: Motion, field: str) -> None:
    """Added and not multiplied; with a corpus of one clip every pose is bad unless ``bad`` is larger."""
    config = ModulatorConfig.of("pdf", field, good="static", bad=1.5, combine="add")
    made = make_modulator(config, [walking], DT)
    assert isinstance(made, DistanceModulator)
    assert made.settings == DistanceReward("static", "add", tolerance=0.05, bad=1.5, alpha=0.5, weight=0.2)
    bonus = made(walking.joint_pos[:5], walking.joint_pos[1:6], DT)
    assert made.combine(torch.ones(5), bonus).tolist() == pytest.approx([1.2] * 5)  # as near as the reference is
    with pytest.raises(InputError, match="bad"):
        ModulatorConfig.of("pdf", field, bad=0.0)


def test_a_calibration_has_steps_from_between_the_frames(walking: Motion) -> None:
    """A clip of 2.1 s has 63 control steps; four phases give four times as many."""
    counts = []
    for phases in (1, 4):
        made = make_modulator(ModulatorConfig.of("pfm", "g1-small", phases=phases), [walking], DT)
        assert isinstance(made, RewardModulator)
        counts.append(len(made.calibration.values[0][0]))
    draws = PoseGeometrySettings.draws
    assert 50 * draws < counts[0] < 70 * draws and counts[1] == pytest.approx(4 * counts[0], abs=4 * draws)


@pytest.mark.parametrize("pooled", [False, True])
def test_each_clip_has_its_own_distribution_unless_pooled(g1: Robot, walking: Motion, pooled: bool) -> None:
    clips = [walking, embedded_motion("wave", g1)]
    made = make_modulator(ModulatorConfig.of("pfm", "g1-small", pooled=pooled), clips, DT)
    assert isinstance(made, RewardModulator)
    values = made.score.evaluate(POSES, POSES + 0.01, DT, generator=seeded(1))[0]
    first, second = (made.percentile(values, number) for number in (0, 1))
    assert torch.equal(first, second) is pooled


@pytest.mark.parametrize(
    ("kind", "what"), [("pfm", "prior"), ("recon", "prior"), ("shuffled", "prior"), ("pdf", "distance field")]
)
def test_a_missing_prior_is_refused(walking: Motion, kind: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"modulator '{kind}' needs a {what}.*--prior") as caught:
        make_modulator(ModulatorConfig(kind), [walking], DT)
    assert caught.value.code == "bad_config"
    with pytest.raises(InputError, match="nowhere"):
        make_modulator(ModulatorConfig(kind, str(tmp_path / "nowhere")), [walking], DT)


# Controls


def drawn(alpha: float, count: int = 4000) -> torch.Tensor:
    torch.manual_seed(0)
    return RandomModulation(alpha)(torch.zeros(count, 2), torch.zeros(count, 2), DT)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 3.0])
def test_random_factors_are_even_between_their_bounds(alpha: float) -> None:
    factors, low = drawn(alpha), math.exp(-alpha)
    assert float(factors.min()) >= low and float(factors.max()) <= 1.0
    assert float(factors.mean()) == pytest.approx((low + 1.0) / 2, abs=0.02)
    assert float(factors.std()) == pytest.approx((1.0 - low) / math.sqrt(12.0), abs=0.01)


def test_random_factors_leave_what_is_not_valid_alone() -> None:
    made = RandomModulation(3.0)
    valid = torch.arange(50) % 2 == 0
    factors = made(torch.zeros(50, 2), torch.zeros(50, 2), DT, valid=valid, motion_id=3)
    assert bool((factors[~valid] == 1.0).all()) and bool((factors[valid] < 1.0).all())
    assert made.statistics()["multiplier"] == pytest.approx(float(factors.mean()))
    assert made.statistics() == {"multiplier": 0.0}


def test_shuffled_factors_are_the_prior_s_on_other_transitions(walking: Motion) -> None:
    """The same numbers, so the same mean and shares; those after a reset stay where they are."""
    strict = {"p_good": 1.0, "p_bad": 0.0}
    plain, shuffled = (
        make_modulator(ModulatorConfig.of(kind, "g1-small", **strict), [walking], DT) for kind in ("pfm", "shuffled")
    )
    valid = torch.arange(400) % 4 != 0
    before = torch.from_numpy(walking.joint_pos)[torch.arange(400) % 60]
    after = torch.from_numpy(walking.joint_pos)[torch.arange(400) % 60 + 1] + 0.005 * POSES
    torch.manual_seed(5)
    told = plain(before, after, DT, valid=valid)
    torch.manual_seed(5)
    mixed = shuffled(before, after, DT, valid=valid)
    assert bool((mixed[~valid] == 1.0).all())
    assert torch.equal(mixed.sort().values, told.sort().values)
    assert abs(float(torch.corrcoef(torch.stack([told[valid], mixed[valid]]))[0, 1])) < 0.15
    assert float(told[valid].std()) > 0.02
    assert shuffled.statistics() == plain.statistics()


# In a learner


@pytest.mark.parametrize("kind", ["pfm", "random", "shuffled"])
def test_a_modulated_learner_learns_from_less(g1: Robot, walking: Motion, kind: str) -> None:
    strict = {} if kind == "random" else {"p_good": 1.0, "p_bad": 0.5}
    config = replace(TINY, modulator=ModulatorConfig.of(kind, "g1-small", **strict))
    made: Modulator = make_modulator(config.modulator, [walking], DT)
    learning = learner(g1, [walking], config, made)
    told = learning.collect()
    plain = float(learning.adversary.reward(told["difference"]).mean())
    figures = learning.algorithm.update()
    assert math.exp(-0.5) < figures["modulator_multiplier"] < 0.99
    assert figures["reward"] == pytest.approx(plain * figures["modulator_multiplier"], rel=0.05)


def test_a_distance_field_leaves_the_seed_s_numbers_to_the_policy(walking: Motion, field: str) -> None:
    """Otherwise a tracker with one would begin with another policy than its partner without."""
    numbers = []
    for config in (ModulatorConfig(), ModulatorConfig("pdf", field), ModulatorConfig("pfm", "g1-small")):
        torch.manual_seed(4)
        make_modulator(config, [walking], DT)
        numbers.append(float(torch.rand(1)))
    assert numbers[0] == numbers[1] == numbers[2]
