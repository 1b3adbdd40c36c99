"""Many copies of a robot in plain MuJoCo, stepped together."""

from pfmhr.sim.batch import BatchedSimulation
from pfmhr.sim.scene import Box, Scene, SceneConfig

__all__ = ["BatchedSimulation", "Box", "Scene", "SceneConfig"]
