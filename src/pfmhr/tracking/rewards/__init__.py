"""Tracking rewards: how well a robot follows its reference."""

from typing import TYPE_CHECKING, Any

from pfmhr.tracking.rewards.available import REWARDS, RewardKind, make_reward, reward_kind

if TYPE_CHECKING:
    from pfmhr.tracking.rewards.reward import TrackingReward

__all__ = ["REWARDS", "RewardKind", "TrackingReward", "make_reward", "reward_kind"]


def __getattr__(name: str) -> Any:
    """The protocol on first use: with it comes torch, which the table of rewards does without."""
    if name == "TrackingReward":
        from pfmhr.tracking.rewards.reward import TrackingReward

        return TrackingReward
    raise AttributeError(f"module 'pfmhr.tracking.rewards' has no attribute '{name}'; it has {', '.join(__all__)}")
