"""Tracking rewards: those of the table, one's own, and what the environment emits for them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.learning.state import load_state, save_state
from pfmhr.motion import Motion
from pfmhr.results.comparing import name_of
from pfmhr.robots import Robot
from pfmhr.tracking import MotionLibrary, TrackerConfig, TrackingEnvironment
from pfmhr.tracking.env.rotations import turn_vector
from pfmhr.tracking.env.transitions import Transitions
from pfmhr.tracking.rewards import REWARDS, TrackingReward, make_reward, reward_kind
from pfmhr.tracking.rewards.available import label_of, refuse_idle_sections
from pfmhr.tracking.runs import train_tracker
from pfmhr.tracking.settings import plain_config, tracker_config_from_json, with_settings

from .clips import moving
from .learning import TINY, Learner, learner, tiny

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = "own_reward:BodyReward"


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> str:
    """The reward of the examples, importable."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return OWN


class Plain(TrackingReward):
    """Nothing but what has to be written."""

    def __init__(self, *_: Any) -> None: ...

    def compute(self, rollout: Transitions) -> torch.Tensor:
        return torch.full((len(rollout),), 0.25)


# The table


@pytest.mark.parametrize("name", REWARDS)
def test_every_reward_of_the_table_is_made_and_learns(g1: Robot, walking: Motion, name: str) -> None:
    made = learner(g1, [walking], replace(TINY, reward=name))
    made.collect()
    rewards = made.algorithm.storage.rewards
    assert bool(rewards.isfinite().all()) and float(rewards.std()) > 0
    assert all(math.isfinite(value) for value in made.algorithm.update().values())


def test_a_section_of_settings_belongs_to_the_reward_that_heeds_it() -> None:
    sections = {row.section for row in REWARDS.values() if row.section}
    assert sections == {"adversary"} and sections <= set(TrackerConfig.__dataclass_fields__)
    refuse_idle_sections("add", ["adversary.epochs=1"])
    with pytest.raises(InputError, match=r"adversary\.epochs would change nothing with reward deepmimic"):
        refuse_idle_sections("deepmimic", ["agent.epochs=1", "adversary.epochs=1"])


def test_a_name_that_is_no_reward_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="deepmimic") as error:
        TrackerConfig(reward="deepmimik")
    assert error.value.code == "unknown_name"


# One's own


def test_only_compute_has_to_be_written(g1: Robot, walking: Motion) -> None:
    made = learner(g1, [walking], replace(tiny(scale_rewards=False), reward=f"{__name__}:Plain"))
    told = made.collect()
    expected = 0.25 + 0.99 * told["late"] * made.algorithm.storage.values.flatten()
    assert torch.allclose(made.algorithm.storage.rewards.flatten(), expected)
    assert made.algorithm.update()["reward_tracking"] == 0.25 and made.algorithm.not_finite() == []
    made.algorithm.load(made.algorithm.save())


def test_a_reward_of_ones_own_is_trained_with_and_named_in_the_result(
    g1: Robot, walking: Motion, own: str, tmp_path: Path
) -> None:
    config = replace(TINY, reward=own, reward_settings={"position": 0.2}, samples=96)
    result = train_tracker(tmp_path / "run", g1, [walking], config, threads=1)
    assert result.reward == own and label_of(own) == "BodyReward"
    assert name_of(result) == "walk-000, BodyReward, residual"
    stored = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert stored["reward_settings"] == {"position": 0.2}
    assert tracker_config_from_json(stored) == config
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    parts = [line[f"reward_{name}"] for line in lines if "reward" in line for name in ("position", "rotation", "spin")]
    assert len(parts) == 6 and all(0 < part <= 1 for part in parts)


def test_settings_of_ones_own_reward_are_set_by_name_and_checked(g1: Robot, own: str) -> None:
    config = with_settings(TrackerConfig(reward=own), ["reward_settings.position=0.2", "reward_settings.spin=2"])
    assert config.reward_settings == {"position": 0.2, "spin": 2}
    assert vars(make_reward(config, g1))["settings"].position == 0.2
    for wrong in ({"positoin": 0.2}, {"position": "far"}):
        with pytest.raises(InputError, match="position") as error:
            make_reward(replace(config, reward_settings=wrong), g1)
        assert error.value.code in ("bad_config", "unknown_name")
    with pytest.raises(InputError, match="no such settings"):
        make_reward(TrackerConfig(reward_settings={"position": 0.2}), g1)
    assert "reward_settings" not in plain_config(TrackerConfig())


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"needs": ("smell",)}, "no environment emits"),
        ({"Settings": dict}, "must be a dataclass"),
        ({"compute": None}, "method compute"),
    ],
)
def test_what_is_no_reward_is_refused(
    monkeypatch: pytest.MonkeyPatch, attributes: dict[str, Any], message: str
) -> None:
    module = SimpleNamespace(Broken=type("Broken", (Plain,), attributes), __name__="broken")
    monkeypatch.setattr("importlib.import_module", lambda _: module)
    with pytest.raises(InputError, match=message) as error:
        reward_kind("broken:Broken")
    assert error.value.code == "bad_extension"


# State


def test_a_checkpoint_from_before_rewards_had_a_name_goes_on(g1: Robot, walking: Motion, tmp_path: Path) -> None:
    made: Learner = learner(g1, [walking], TINY)
    made.collect()
    made.algorithm.update()
    state = made.algorithm.save()
    save_state(tmp_path / "old", {"adversary": state.pop("tracking_reward"), **state})
    other = learner(g1, [walking], TINY)
    other.algorithm.load(load_state(tmp_path / "old"))
    assert torch.equal(other.adversary.replay.rows, made.adversary.replay.rows)
    assert all(map(torch.equal, other.adversary.network.parameters(), made.adversary.network.parameters()))


# What the environment emits


def test_turn_vectors_are_scipys() -> None:
    turns = Rotation.from_rotvec(np.random.default_rng(0).normal(size=(50, 3)))
    quats = torch.from_numpy(turns.as_quat(scalar_first=True))
    for signed in (quats, -quats):
        assert np.allclose(turn_vector(signed), turns.as_rotvec(), atol=1e-9)
    tiny_turn = torch.tensor([1.0, 0.0, 5e-9, 0.0])
    assert turn_vector(tiny_turn).tolist() == pytest.approx([0.0, 1e-8, 0.0], rel=1e-6)


def test_bodies_of_a_reference_by_hand(g1: Robot) -> None:
    """0.6 m/s ahead and 0.5 rad/s about z: a body at r from the root also moves at 0.5·(−r_y, r_x)."""
    library = MotionLibrary(g1, [moving(g1, turning=0.5)])
    where = torch.zeros(2, dtype=torch.long), torch.tensor([0, 11])
    found, at = library.body_motion(*where), library.at(*where)
    assert torch.equal(found.quat, at.body_quat)
    expected = torch.tensor([0.0, 0.0, 0.5]).expand(2, 30, 3).clone()
    legs = ("left_hip", "left_knee", "left_ankle")  # which joint 0 turns at 0.9 rad/s
    still = [body for body, name in enumerate(g1.body_names) if not name.startswith(legs)]
    assert torch.allclose(found.spin[:, still], expected[:, still], atol=2e-3)
    leg = g1.body_names.index("left_hip_pitch_link")
    assert torch.allclose((found.spin[:, leg] - expected[:, leg]).norm(dim=-1), torch.tensor(0.9), atol=2e-3)
    r = at.body_pos[:, still]
    turned = torch.stack([0.6 - 0.5 * r[..., 1], 0.5 * r[..., 0], torch.zeros_like(r[..., 0])], dim=-1)
    assert torch.allclose(found.velocity[:, still], turned, atol=5e-3)


def test_bodies_of_robots_that_were_put_on_their_reference_are_the_references(
    environment: Callable[..., TrackingEnvironment], g1: Robot
) -> None:
    """With a control step of one physics step, what is sensed in it is the state it began with."""
    made = environment(moving(g1, turning=0.5), body_motion=True, control_rate=120.0, termination_distance=9.0)
    told: Transitions = made.step(torch.zeros(4, 29))[3]["transitions"]
    assert told.bodies is not None and told.reference_bodies is not None
    for name, tolerance in (("quat", 1e-5), ("velocity", 5e-3), ("spin", 5e-3)):
        own, wanted = getattr(told.bodies, name), getattr(told.reference_bodies, name)
        assert own.shape == wanted.shape and torch.allclose(own, wanted, atol=tolerance), name
    assert float(told.bodies.velocity.abs().max()) > 0.5
    assert torch.allclose(told.state.body_pos, told.reference.body_pos, atol=1e-5)
