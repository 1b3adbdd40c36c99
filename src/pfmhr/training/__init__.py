"""One training loop for everything that is trained on poses."""

from pfmhr.training.config import LoopConfig
from pfmhr.training.limits import require_memory, require_numbers
from pfmhr.training.loop import Progress, Say, Task, processes, run_loop, said_by_first
from pfmhr.training.runs import claim, given_up, is_done

__all__ = [
    "LoopConfig",
    "Progress",
    "Say",
    "Task",
    "claim",
    "given_up",
    "is_done",
    "processes",
    "require_memory",
    "require_numbers",
    "run_loop",
    "said_by_first",
]
