"""Does sharing flow times among the poses of a batch cost anything? Both ways, at equal samples.

``python experiments/shared_times.py lafan1_g1`` made results/shared_times.json; docs/priors.md says what it found.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import tyro

from pfmhr.corpus import BuildConfig, build_corpus
from pfmhr.files import write_json
from pfmhr.learning.logging import read_metrics
from pfmhr.motion.checks import find_motion_files
from pfmhr.prior import PriorConfig, TrainConfig, train_prior
from pfmhr.provenance import provenance
from pfmhr.robots import Robot


def study_times(
    data: tyro.conf.Positional[tuple[Path, ...]],
    /,
    out: Path = Path("runs/shared-times"),
    steps: int = 1500,
    batch_size: int = 2048,
) -> None:
    """Train with few distinct times per batch and with one per pose (each run resumable); compare held-out losses.

    Args:
        data: motion files and folders.
        out: where corpus, runs and the result go.
        steps: of each run.
        batch_size: poses per step.
    """
    robot = Robot.load("g1")
    train = TrainConfig(steps=steps, batch_size=batch_size, ema_decay=0.995, evaluate_every=max(1, steps // 30))
    corpus = build_corpus(out / "corpus", find_motion_files(data), robot, BuildConfig(drop_jumps=True), print)
    ways = {"shared": train.distinct_times, "one per pose": train.batch_size}
    result: dict[str, object] = {"steps": train.steps, "batch_size": train.batch_size, "distinct_times": ways}
    for name, times in ways.items():
        run = out / name.replace(" ", "-")
        prior = train_prior(run, corpus, robot, PriorConfig(), replace(train, distinct_times=times), print)
        lines = read_metrics(run)
        curve = [(line["step"], line["held_out_loss"]) for line in lines if "held_out_loss" in line]
        result[name] = {"held_out_loss": prior.about["held_out_loss"], "curve": curve}
    result |= provenance()
    write_json(out / "shared_times.json", result)


if __name__ == "__main__":
    tyro.cli(study_times)
