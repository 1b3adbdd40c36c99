"""Clips of any length in bounded memory: the solver works on overlapping windows, and their ends are blended."""

from __future__ import annotations

import numpy as np

from pfmhr.retarget.body import Body
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.rotations import Array, compose, exponential, inverse, logarithm
from pfmhr.retarget.solver import Closeness, Weights, solve
from pfmhr.retarget.targets import Targets

WINDOW = 1024
"""Frames solved together."""
OVERLAP = 64
"""Frames that two windows share. What happens further away changes a frame by nothing that could be seen."""


def solve_windows(
    targets: Targets,
    start: Pose,
    body: Body,
    weights: Weights,
    iterations: int,
    closeness: Closeness | None = None,
) -> Pose:
    """Like :func:`solve`, window by window."""
    frames = targets.num_frames
    done: Pose | None = None
    for begin, end in _windows(frames):
        part = Pose(start.root_pos[:, begin:end], start.root_rot[..., begin:end], start.joints[:, begin:end])
        close = None if closeness is None else closeness.window(begin, end)
        solved = solve(targets.window(begin, end), part, body, weights, iterations, close)
        done = solved if done is None else _joined(done, solved, done.joints.shape[1] - begin)
    assert done is not None
    return done


def _windows(frames: int) -> list[tuple[int, int]]:
    if frames <= WINDOW + OVERLAP:
        return [(0, frames)]
    starts = range(0, frames - OVERLAP, WINDOW)
    return [(begin, min(begin + WINDOW + OVERLAP, frames)) for begin in starts]


def _joined(first: Pose, second: Pose, shared: int) -> Pose:
    """Two poses whose last and first ``shared`` frames are the same ones."""
    share = np.arange(1, shared + 1) / (shared + 1)
    turn = first.root_rot[..., -shared:]
    way = logarithm(compose(second.root_rot[..., :shared], inverse(turn)))
    blended = compose(exponential(share * way), turn)
    return Pose(
        _blend(first.root_pos, second.root_pos, share),
        np.concatenate([first.root_rot[..., :-shared], blended, second.root_rot[..., shared:]], axis=-1),
        _blend(first.joints, second.joints, share),
    )


def _blend(first: Array, second: Array, share: Array) -> Array:
    shared = len(share)
    mixed = (1.0 - share) * first[:, -shared:] + share * second[:, :shared]
    return np.concatenate([first[:, :-shared], mixed, second[:, shared:]], axis=1)
