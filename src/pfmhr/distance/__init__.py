"""PDF-HR: how far a pose is from the poses of a corpus, learned as a field."""

from pfmhr.distance.field import PoseDistanceField
from pfmhr.distance.pairs import PairConfig, make_pairs
from pfmhr.distance.training import DistanceConfig, train_distance

__all__ = ["DistanceConfig", "PairConfig", "PoseDistanceField", "make_pairs", "train_distance"]
