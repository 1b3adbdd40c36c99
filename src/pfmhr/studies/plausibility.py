"""Which score sees what: PDF-HR, FM-Recon and PGS against bad poses and against bad changes.

The paper argues that a field over poses cannot see a bad change between good poses. Here every score gets
the same real transitions and the same broken ones; the figure is the chance that it puts a real one above
a broken one (the area under the ROC curve; 0.5 is blind).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from pfmhr.distance import PoseDistanceField
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.results.columns import PLAUSIBILITY
from pfmhr.results.statistics import chance_above
from pfmhr.robots import Robot
from pfmhr.score import PoseGeometryScore, ReconstructionScore
from pfmhr.score.defaults import T_EVAL
from pfmhr.studies.corruptions import BAD_CHANGES, BAD_POSES


def plausibility_study(
    prior: PosePrior,
    field: PoseDistanceField,
    motions: Sequence[Motion],
    transitions: int = 10_000,
    t_eval: float = T_EVAL,
    control_rate: float = 30.0,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
    robot: Robot | None = None,
) -> dict[str, Any]:
    """Area under the ROC curve of every score for every way of breaking a clip; of the prior's robot unless given."""
    robot = robot or prior.load_robot()
    score, recon = PoseGeometryScore(prior, t_eval), ReconstructionScore(prior)
    generator = torch.Generator().manual_seed(seed)
    clips = [torch.from_numpy(motion.resample(control_rate).joint_pos) for motion in motions if motion.num_frames > 1]
    total = sum(len(clip) - 1 for clip in clips)
    chosen = torch.randperm(total, generator=generator)[:transitions]
    if not len(chosen):
        raise InputError("no transition in the data", code="no_transitions")

    before, after = (torch.cat(side)[chosen] for side in zip(*((clip[:-1], clip[1:]) for clip in clips), strict=True))
    # Errors at different noise levels have different sizes; each counts in units of what real poses have.
    unit = recon(after, generator=generator).median(dim=1, keepdim=True).values

    def judge(before: Tensor, after: Tensor) -> dict[str, Tensor]:
        return {
            "PDF-HR": -field(after),
            "FM-Recon": -(recon(after, generator=generator) / unit).mean(dim=0),
            "PGS": score(before, after, 1.0 / control_rate, generator=generator),
        }

    good = judge(before, after)
    rows = []
    ways = [(group, name, break_) for group, all_ in _GROUPS.items() for name, break_ in all_.items()]
    for done, (group, name, break_) in enumerate(ways):
        progress(done, len(ways))
        parts = [break_(clip, robot, generator) for clip in clips]
        before, after = (torch.cat(side)[chosen] for side in zip(*parts, strict=True))
        bad = judge(before, after)
        areas = {score: float(chance_above(good[score], bad[score])) for score in PLAUSIBILITY}
        rows.append({"group": group, "corruption": name, **areas})
    return {"rows": rows, "transitions": len(chosen), "t_eval": t_eval}


_GROUPS = {"poses": BAD_POSES, "changes": BAD_CHANGES}
