"""One map over many files or tasks: in order, resumable, surviving failures, on local processes or on Ray."""

from pfmhr.parallel.journal import Journal
from pfmhr.parallel.mapping import Engine, Outcome, map_in_order, map_resumed

__all__ = ["Engine", "Journal", "Outcome", "map_in_order", "map_resumed"]
