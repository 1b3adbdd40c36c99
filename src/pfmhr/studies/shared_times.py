"""Does sharing flow times among the poses of a batch cost anything? Both ways, at equal samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pfmhr.corpus import BuildConfig, build_corpus
from pfmhr.files import write_json
from pfmhr.learning import Progress, Say
from pfmhr.learning.logging import read_metrics
from pfmhr.motion.checks import find_motion_files
from pfmhr.prior import PriorConfig, TrainConfig, train_prior
from pfmhr.provenance import provenance
from pfmhr.robots import Robot
from pfmhr.studies.plots import loss_figure


def shared_times_study(
    data: Sequence[Path], out: Path, robot: Robot, train: TrainConfig, say: Say, progress: Progress | None = None
) -> dict[str, Any]:
    """Train with few distinct times per batch and with one per pose (each run resumable); compare held-out losses."""
    corpus = build_corpus(out / "corpus", find_motion_files(data), robot, BuildConfig(drop_jumps=True), say)
    ways = {"shared": train.distinct_times, "one per pose": train.batch_size}
    result: dict[str, Any] = {"steps": train.steps, "batch_size": train.batch_size, "distinct_times": ways}
    curves = {}
    for name, times in ways.items():
        run = out / name.replace(" ", "-")
        prior = train_prior(run, corpus, robot, PriorConfig(), replace(train, distinct_times=times), say, progress)
        lines = read_metrics(run)
        curves[name] = [(line["step"], line["held_out_loss"]) for line in lines if "held_out_loss" in line]
        result[name] = {"held_out_loss": prior.about["held_out_loss"], "curve": curves[name]}
    loss_figure(out / "shared_times.png", curves)
    result |= provenance()
    write_json(out / "shared_times.json", result)
    return result
