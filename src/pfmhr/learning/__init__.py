"""One training loop for everything that is trained on poses."""

from typing import TYPE_CHECKING

from pfmhr.lazy import attributes

if TYPE_CHECKING:
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

_LOOP = ("Progress", "Say", "Task", "processes", "run_loop", "said_by_first")
_HOMES = {
    "LoopConfig": "pfmhr.learning.config",
    **dict.fromkeys(("require_memory", "require_numbers"), "pfmhr.learning.limits"),
    **dict.fromkeys(_LOOP, "pfmhr.learning.loop"),
    **dict.fromkeys(("claim", "given_up", "is_done"), "pfmhr.learning.runs"),
}

__getattr__ = attributes(__name__, _HOMES)
