"""One training loop for everything that is trained on poses."""

from pfmhr.learning.config import LoopConfig
from pfmhr.learning.limits import require_memory, require_numbers
from pfmhr.learning.loop import Progress, Say, Task, processes, run_loop, said_by_first
from pfmhr.learning.runs import claim, given_up, is_done

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
