"""A tracking reward of one's own: every body where it should be, turned and moving as it should.

Run ``python examples/own_reward.py``; it trains a walk for a few seconds with this reward into ``own-reward/``. The
command line takes it too, from the folder of this file:

    PYTHONPATH=. pfmhr track train embedded:walk -o runs/walk --reward own_reward:BodyReward
"""

from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
from torch import Tensor

from pfmhr import Robot
from pfmhr.motion.embedded import embedded_motion
from pfmhr.tracking import AgentConfig, EnvironmentConfig, TrackerConfig, train_tracker
from pfmhr.tracking.env.rotations import angle_between
from pfmhr.tracking.env.transitions import Transitions
from pfmhr.tracking.rewards import TrackingReward


@dataclass(frozen=True)
class BodySettings:
    """How far off a body may be before its part of the reward falls to 1/e."""

    position: float = 0.3
    """m."""
    rotation: float = 0.4
    """rad."""
    velocity: float = 1.0
    """m/s."""
    spin: float = 3.14
    """rad/s."""


class BodyReward(TrackingReward):
    """exp(−mean squared error / σ²) of positions, rotations and velocities of all bodies, summed."""

    Settings = BodySettings
    needs = ("body_motion",)

    def __init__(self, settings: BodySettings, robot: Robot, environment: EnvironmentConfig) -> None:
        self.settings = settings
        self._means: dict[str, float] = {}

    def compute(self, rollout: Transitions) -> Tensor:
        """The reward ``(N,)`` in [0, 4]."""
        own, wanted = rollout.bodies, rollout.reference_bodies
        assert own is not None and wanted is not None  # asked for above
        errors = {
            "position": (rollout.reference.body_pos - rollout.state.body_pos).square().sum(dim=-1),
            "rotation": angle_between(own.quat, wanted.quat).square(),
            "velocity": (wanted.velocity - own.velocity).square().sum(dim=-1),
            "spin": (wanted.spin - own.spin).square().sum(dim=-1),
        }
        parts = {
            name: torch.exp(-error.mean(dim=1) / getattr(self.settings, name) ** 2).nan_to_num(0.0)
            for name, error in errors.items()
        }
        self._means = {name: float(part.mean()) for name, part in parts.items()}
        return torch.stack(list(parts.values())).sum(dim=0)

    def statistics(self) -> dict[str, float]:
        """Mean of each part, for the log."""
        return self._means


def main(out: Path = Path("own-reward"), samples: int = 4096) -> None:
    """Train a walk with it."""
    robot = Robot.load("g1")
    config = TrackerConfig(
        EnvironmentConfig(environments=64),
        AgentConfig(steps=16),
        reward=f"{__name__}:BodyReward",
        reward_settings={"position": 0.2},
        samples=samples,
        evaluation_episodes=8,
    )
    result = train_tracker(out, robot, [embedded_motion("walk", robot)], config, say=print)
    print(f"{result.end.success:.1%} of the walk tracked after {samples:,} samples")


if __name__ == "__main__":
    tyro.cli(main)
