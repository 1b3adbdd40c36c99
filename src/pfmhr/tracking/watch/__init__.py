"""What a policy does: recorded, filmed, exported."""

from pfmhr.tracking.watch.episode import Episode, record_episode
from pfmhr.tracking.watch.export import export_policy
from pfmhr.tracking.watch.play import film

__all__ = ["Episode", "export_policy", "film", "record_episode"]
