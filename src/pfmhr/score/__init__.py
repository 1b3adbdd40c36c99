"""What a frozen prior says about a pose or a pose change."""

from pfmhr.score.geometry import PoseGeometry
from pfmhr.score.pose_geometry import PoseGeometryScore
from pfmhr.score.reconstruction import ReconstructionScore

__all__ = ["PoseGeometry", "PoseGeometryScore", "ReconstructionScore"]
