"""What a frozen prior says about a pose or a pose change."""

from typing import TYPE_CHECKING

from pfmhr.lazy import attributes

if TYPE_CHECKING:
    from pfmhr.score.geometry import PoseGeometry
    from pfmhr.score.pose_geometry import PoseGeometryScore
    from pfmhr.score.reconstruction import ReconstructionScore

__all__ = ["PoseGeometry", "PoseGeometryScore", "ReconstructionScore"]

_HOMES = {
    "PoseGeometry": "pfmhr.score.geometry",
    "PoseGeometryScore": "pfmhr.score.pose_geometry",
    "ReconstructionScore": "pfmhr.score.reconstruction",
}

__getattr__ = attributes(__name__, _HOMES)
