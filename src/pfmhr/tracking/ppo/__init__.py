"""PPO for trackers: networks, updates, and the rewards of whole rollouts."""

from pfmhr.tracking.ppo.algorithm import TrackerPPO
from pfmhr.tracking.ppo.networks import Policy, TrackerNetwork

__all__ = ["Policy", "TrackerNetwork", "TrackerPPO"]
