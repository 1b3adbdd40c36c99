"""One training loop for everything that is trained on poses."""

from pfmhr.training.config import LoopConfig
from pfmhr.training.loop import Progress, Say, Task, processes, run_loop, said_by_first
from pfmhr.training.runs import claim

__all__ = ["LoopConfig", "Progress", "Say", "Task", "claim", "processes", "run_loop", "said_by_first"]
