"""Everything measured, on one page: ours beside the paper's."""

from pfmhr.report.building import build_report

__all__ = ["build_report"]
