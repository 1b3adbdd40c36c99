"""Training runs on disk: begun, resumed, finished, loaded and evaluated."""

from pfmhr.tracking.runs.directory import CLIPS, require_entries, train_tracker
from pfmhr.tracking.runs.evaluation import Evaluator
from pfmhr.tracking.runs.loaded import TrackerRun, spec_of_run
from pfmhr.tracking.runs.training import CHECKPOINT, Training

__all__ = [
    "CHECKPOINT",
    "CLIPS",
    "Evaluator",
    "TrackerRun",
    "Training",
    "require_entries",
    "spec_of_run",
    "train_tracker",
]
