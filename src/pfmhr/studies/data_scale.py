"""How the best evaluation time moves with the size of the corpus: nested subsets ×1, ×4, ×16.

The subsets thin the poses, not the clips: the same movements, with fewer neighbours around each pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfmhr.corpus import BuildConfig, build_corpus, make_subset
from pfmhr.files import write_json
from pfmhr.learning import Progress, Say
from pfmhr.motion.checks import find_motion_files
from pfmhr.prior import PriorConfig, TrainConfig, train_prior
from pfmhr.provenance import provenance
from pfmhr.robots import Robot
from pfmhr.studies.material import held_out_motions
from pfmhr.studies.plots import scale_figure
from pfmhr.studies.timestep import timestep_study
from pfmhr.studies.transitions import Transitions

FRACTIONS = (1 / 16, 1 / 4, 1.0)
"""Shares of the corpus: ×1, ×4 and ×16 of the smallest."""


def data_scale_study(
    data: Sequence[Path],
    out: Path,
    robot: Robot,
    train: TrainConfig,
    transitions: int,
    say: Say,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a prior on each subset (each run resumable), then the timestep study on clips none of them saw."""
    files = find_motion_files(data)
    whole = build_corpus(out / "corpus", files, robot, BuildConfig(drop_jumps=True), say)
    drawn = Transitions.draw(held_out_motions(files, whole, robot, train), transitions)
    sizes, curves = {}, {}
    for fraction in FRACTIONS:
        size = round(fraction * len(whole))
        corpus = whole if fraction == 1.0 else make_subset(whole, out / f"corpus-{size}", size, stratify=False)
        prior = train_prior(out / f"prior-{size}", corpus, robot, PriorConfig(), train, say, progress)
        study = timestep_study(prior, drawn)
        sizes[str(size)] = {"held_out_loss": prior.about["held_out_loss"], **study}
        curves[f"{size:,} poses"] = study["rows"]
        say(f"{size:,} poses: best t_eval {study['best_t_eval']:g}")
    scale_figure(out / "data_scale.png", curves)
    result = {"sizes": sizes, "steps": train.steps, "batch_size": train.batch_size, **provenance()}
    write_json(out / "data_scale.json", result)
    return result
