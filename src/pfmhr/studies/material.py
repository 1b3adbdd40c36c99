"""The clips a study of a trained prior looks at: all of some data, or those the prior has or has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.split import split_by_source
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import find_motion_files
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.prior import PosePrior, TrainConfig
from pfmhr.robots import Robot

Seen = Literal["all", "trained", "held-out"]


def study_motions(
    prior: PosePrior,
    data: Sequence[Path],
    seen: Seen = "all",
    most: int = 100,
    seed: int = 0,
    robot: Robot | None = None,
) -> list[Motion]:
    """At most ``most`` clips of the data, chosen at random; ``seen`` selects by the prior's own held-out list.

    They are read for ``robot``, or for the bundled one that the prior names.
    """
    robot = robot or prior.load_robot()
    prior.require(robot)
    options = ReadOptions(robot, assume_fps=True)
    motions = [motion for file in find_motion_files(list(data)) for motion in read_motions(file, options)]
    if seen != "all":
        held_out = _held_out(prior)
        motions = [motion for motion in motions if is_among(motion, held_out) == (seen == "held-out")]
    if not motions or most < 1:
        raise InputError(f"no clip to study ({seen})", where=", ".join(map(str, data)), code="no_transitions")
    chosen = np.sort(np.random.default_rng(seed).permutation(len(motions))[:most])
    return [motions[index] for index in chosen]


def held_out_motions(files: Sequence[Path], corpus: PoseCorpus, robot: Robot, train: TrainConfig) -> list[Motion]:
    """The clips that training on this corpus, or on a subset of it, leaves out."""
    if len(corpus.sources) == 1:
        text = "of one clip none is left to be studied: its end alone is not trained on"
        raise InputError(text, where=corpus.sources[0].path, fix="Give several clips.", code="no_transitions")
    split = split_by_source(corpus, train.held_out, train.seed)
    starts = set(split.held_out.starts.tolist())
    sources = [(source.path, source.clip) for source in corpus.sources if source.start in starts]
    options = ReadOptions(robot, assume_fps=True)
    motions = (motion for file in files for motion in read_motions(file, options))
    return [motion for motion in motions if is_among(motion, sources)]


def _held_out(prior: PosePrior) -> list[tuple[str, str]]:
    sources = prior.about.get("held_out_sources")
    if not sources:
        raise InputError(
            "the prior does not say which clips it was not trained on",
            fix="Use --clips all, or train it with this version.",
            code="bad_prior",
        )
    return [(path, clip) for path, clip, *cut in sources if not cut]  # of one that was cut the beginning was seen


def is_among(motion: Motion, sources: Sequence[tuple[str, str]]) -> bool:
    """Whether one of the sources (path, clip) is this clip: paths in a corpus begin at the folder that was given."""
    parts = Path(motion.source).absolute().parts
    return any(
        parts[-len(tail) :] == tail and clip in ("", motion.name)
        for tail, clip in ((Path(path).parts, clip) for path, clip in sources)
    )
