"""Checks: is this file what it claims to be? Each fault is found, named and measured; none is repaired."""

from pfmhr.motion.checks.motion import CheckConfig, check_motion
from pfmhr.motion.checks.paths import Progress, check_paths, find_motion_files
from pfmhr.motion.checks.report import Fault, FileReport, Severity

__all__ = [
    "CheckConfig",
    "Fault",
    "FileReport",
    "Progress",
    "Severity",
    "check_motion",
    "check_paths",
    "find_motion_files",
]
