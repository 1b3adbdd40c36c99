"""Human motion on robots: read it, find out how its skeleton is turned, solve for joints within their limits."""

from pfmhr.retarget.body import Body, RobotMap, load_robot_map
from pfmhr.retarget.human import Human
from pfmhr.retarget.maps import SkeletonMap, load_map
from pfmhr.retarget.retargeting import RetargetConfig, Retargeted, retarget
from pfmhr.retarget.sources import Source, read_human

__all__ = [
    "Body",
    "Human",
    "RetargetConfig",
    "Retargeted",
    "RobotMap",
    "SkeletonMap",
    "Source",
    "load_map",
    "load_robot_map",
    "read_human",
    "retarget",
]
