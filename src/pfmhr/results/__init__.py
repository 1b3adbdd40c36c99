"""What runs found: read, aggregated over seeds, compared, and put into words, tables and figures.

Everything here works on files of results alone. It needs neither torch nor a simulator.
"""

from pfmhr.results.evaluation import Evaluation
from pfmhr.results.run_result import RunResult
from pfmhr.results.summary import Summary

__all__ = ["Evaluation", "RunResult", "Summary"]
