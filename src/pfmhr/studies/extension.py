"""Is extending a prior cheaper than training it anew? The paper's 30 M → 60 M, 65 against 100 GPU-hours.

Half of the clips make a prior. Then all clips: once from scratch, once going on from the half prior.
Both see the same held-out clips in the same coordinates, and the question is after how many steps
the extended prior is as good as the one from scratch is at its end.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pfmhr.corpus import BuildConfig, PoseCorpus, add_to_corpus, build_corpus
from pfmhr.errors import InputError
from pfmhr.files import write_json
from pfmhr.learning import Progress, Say
from pfmhr.learning.logging import read_metrics
from pfmhr.motion.checks import find_motion_files
from pfmhr.prior import PosePrior, PriorConfig, TrainConfig, extend_prior, train_prior
from pfmhr.prior.prior import new_denoiser
from pfmhr.provenance import provenance
from pfmhr.results.paper import EXTENSION
from pfmhr.robots import Robot


def extension_study(
    data: Sequence[Path],
    out: Path,
    robot: Robot,
    train: TrainConfig,
    say: Say = lambda _: None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run the three trainings under ``out`` (each resumable) and compare their held-out curves."""
    config = PriorConfig()
    corpus, whole = _corpora(data, out, robot, say)
    half = train_prior(out / "half", corpus, robot, config, train, say, progress)
    untrained = new_denoiser(config, robot.num_joints, train.seed)
    judged_by = {"held_out_sources": half.about["held_out_sources"]}
    fresh = PosePrior(config, half.normalisation, robot.name, robot.joint_names, untrained, about=judged_by)
    scratch = extend_prior(fresh, out / "scratch", whole, robot, train, say, progress)
    shorter = replace(train, steps=train.steps // 2)
    extended = extend_prior(half, out / "extended", whole, robot, shorter, say, progress)
    curves = {name: _curve(out / name) for name in ("scratch", "extended")}
    reached = next((step for step, loss in curves["extended"] if loss <= scratch.about["held_out_loss"]), None)
    result = {
        "poses": {"half": len(corpus), "whole": len(whole)},
        "held_out_loss": {
            "half": half.about["held_out_loss"],
            "scratch": scratch.about["held_out_loss"],
            "extended": extended.about["held_out_loss"],
        },
        "steps_from_scratch": train.steps,
        "steps_until_extended_is_as_good": reached,
        "ratio": reached / train.steps if reached else None,
        "curves": curves,
        "batch_size": train.batch_size,
        "seed": train.seed,
        "paper": EXTENSION,
        **provenance(),
    }
    write_json(out / "extension.json", result)
    return result


def _corpora(data: Sequence[Path], out: Path, robot: Robot, say: Say) -> tuple[PoseCorpus, PoseCorpus]:
    """A corpus of about half the clips, by the hashes of their names, and one of all: the first grown by the rest."""
    files = find_motion_files(data)
    first = [file for file in files if zlib.crc32(file.name.encode()) % 2 == 0]
    if not 0 < len(first) < len(files):
        raise InputError(
            "these clips do not fall into two halves",
            where=", ".join(map(str, data)),
            expected="names of files that fall on both sides of a split",
            got=f"{len(first)} of {len(files)} in the first half",
            fix="Give more clips.",
            code="bad_input",
        )
    config = BuildConfig(drop_jumps=True)
    half = build_corpus(out / "corpus-half", first, robot, config, say)
    build_corpus(out / "corpus-whole", first, robot, config, say)
    return half, add_to_corpus(out / "corpus-whole", [file for file in files if file not in first], robot, config, say)


def _curve(run: Path) -> list[tuple[int, float]]:
    """(step, held-out loss) of a run."""
    return [(line["step"], line["held_out_loss"]) for line in read_metrics(run) if "held_out_loss" in line]
