"""Motions: one type, one reader per file format, resampling, checks, repairs, embedded clips."""

from pfmhr.motion.motion import Motion

__all__ = ["Motion"]
