"""What scores are made with where nothing else is named."""

from __future__ import annotations

T_EVAL = 0.75
"""Flow time of the query: the paper's."""
