"""How fast poses are labelled with their distance to a corpus, against comparing with every pose."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus import PoseCorpus
from pfmhr.distance.neighbours import NeighbourIndex, brute_force
from pfmhr.distance.pairs import PairConfig, draw_poses
from pfmhr.motion.embedded import embedded_motions
from pfmhr.provenance import provenance
from pfmhr.robots import Robot

GROWTH = (1, 4, 16)
TARGET = 60_000_000


def bench_distance(corpus: Path | None, poses: int, queries: int) -> dict[str, Any]:
    """Labels per second by index and by brute force in one run, and how both grow with the corpus."""
    robot = Robot.load("g1")
    base = _base(corpus, poses)
    rows = [_measure(_grown(base, factor), robot, queries, exact=min(queries, 2000)) for factor in GROWTH]
    per_label = [row["microseconds_per_label"] for row in rows]
    # Cells grow with the square root of the corpus and so does the work per query; fitted, not assumed.
    power = float(np.polyfit(np.log([row["poses"] for row in rows]), np.log(per_label), 1)[0])
    at_target = per_label[-1] * (TARGET / rows[-1]["poses"]) ** power
    return {
        "rows": rows,
        "growth_exponent": round(power, 3),
        "projection": {
            "poses": TARGET,
            "labels": TARGET,
            "microseconds_per_label": round(at_target, 1),
            "hours_on_this_machine": round(at_target * TARGET / 1e6 / 3600, 1),
        },
        **provenance(),
    }


def _base(corpus: Path | None, poses: int) -> NDArray[np.float32]:
    if corpus is not None:
        opened = PoseCorpus.open(corpus)
        stored = np.asarray(opened.poses[:])
    else:
        stored = np.concatenate([motion.joint_pos for motion in embedded_motions(20)])
    rows = np.random.default_rng(0).permutation(len(stored))[:poses]
    return stored[np.sort(rows)]


def _grown(base: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    """The base and copies of it, each pose moved by about 0.2 rad: more poses, as different from each other."""
    generator = np.random.default_rng(1)
    spread = 0.2 / np.sqrt(base.shape[1])
    copies = [base + generator.normal(scale=spread, size=base.shape).astype(np.float32) for _ in range(factor - 1)]
    return np.concatenate([base, *copies])


def _measure(poses: NDArray[np.float32], robot: Robot, queries: int, exact: int) -> dict[str, Any]:
    asked = draw_poses(lambda rows: poses[rows], len(poses), robot, PairConfig(on_manifold=0.0), 0, queries)[0]
    start = time.perf_counter()
    index = NeighbourIndex(poses)
    built = time.perf_counter() - start
    start = time.perf_counter()
    index.distances(asked)
    ours = (time.perf_counter() - start) / len(asked)
    start = time.perf_counter()
    brute_force(poses, asked[:exact])
    theirs = (time.perf_counter() - start) / exact
    return {
        "poses": len(poses),
        "seconds_to_build": round(built, 2),
        "labels_per_second": round(1 / ours),
        "microseconds_per_label": round(1e6 * ours, 2),
        "brute_force_labels_per_second": round(1 / theirs),
        "ratio": round(theirs / ours, 1),
        "recall_within_1_percent": round(index.recall(asked[:exact]), 4),
    }
