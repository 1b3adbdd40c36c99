"""A declared matrix of tracking runs, its cells on workers, and its statistics."""

from pfmhr.experiments.matrix import Cell, Matrix
from pfmhr.experiments.processes import Outcome
from pfmhr.experiments.running import run_matrix

__all__ = ["Cell", "Matrix", "Outcome", "run_matrix"]
