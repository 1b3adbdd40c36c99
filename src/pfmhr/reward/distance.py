"""PDF-HR's reward: poses far from the corpus cost, poses as near as the reference's do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.distance import PoseDistanceField
from pfmhr.errors import InputError
from pfmhr.inputs import as_mask, as_motion_ids, as_reward_and_factor, check_dt
from pfmhr.motion import Motion
from pfmhr.reward.settings import DistanceReward
from pfmhr.reward.tally import Tally
from pfmhr.robots.naming import require_same_joints

Poses = Tensor | NDArray[Any]


class DistanceModulator:
    """Factor (or bonus) from a distance field; same interface as the other modulators."""

    def __init__(
        self, field: PoseDistanceField, references: Sequence[Motion], settings: DistanceReward | None = None
    ) -> None:
        self.field, self.settings = field, settings or DistanceReward()
        for motion in references:
            require_same_joints(motion.joint_names, field.joint_names, "the motion", "the field", motion.name)
        worst = [self._largest(motion) for motion in references]
        self._worst = torch.stack(worst) if worst else torch.zeros(0)
        self._tally = Tally()

    def __call__(
        self,
        previous_pose: Poses,
        pose: Poses,
        dt: float,
        *,
        motion_id: int | Tensor = 0,
        valid: Tensor | None = None,
        generator: torch.Generator | None = None,
        reference_pose: Poses | None = None,
    ) -> Tensor:
        """What to combine with the reward ``(N,)``; neutral where ``valid`` is False or the pose is not finite.

        ``reference_pose`` ``(N, J)``: the reference at the time of ``pose``, needed unless ``good="static"``.
        """
        del previous_pose, generator  # this field sees one pose at a time, and no noise
        check_dt(dt)
        distance = self.field(pose)
        finite = torch.isfinite(distance)
        near = self._reference(distance, motion_id, reference_pose)
        badness = self.settings.badness(distance.nan_to_num(posinf=0.0), near)
        judged = finite if valid is None else finite & as_mask(valid, finite)
        badness = torch.where(judged, badness, 0.0)
        self._tally.add(torch.exp(-self.settings.alpha * badness), 1.0 - badness, badness, judged, finite)
        if self.settings.combine == "multiply":
            return torch.exp(-self.settings.alpha * badness)
        return self.settings.weight * torch.exp(-badness)

    def combine(self, reward: Tensor, factor: Tensor) -> Tensor:
        """The tracking reward with the factor multiplied onto it, or the bonus added."""
        rewards, factors = as_reward_and_factor(reward, factor)
        return rewards * factors if self.settings.combine == "multiply" else rewards + factors

    def statistics(self, reset: bool = True) -> dict[str, float]:
        """Figures for the training log since the last reset."""
        return self._tally.figures(reset)

    def _reference(self, distance: Tensor, motion_id: int | Tensor, reference_pose: Poses | None) -> Tensor:
        if self.settings.good == "static":
            if not len(self._worst):
                raise InputError("a static distance reward needs its reference motions", code="bad_calibration")
            return self._worst.to(distance.device)[as_motion_ids(motion_id, distance, len(self._worst))]
        if reference_pose is None:
            raise InputError(
                "the dynamic distance reward needs the reference pose of this moment",
                fix='Pass reference_pose=, or use good="static".',
                code="bad_config",
            )
        near = self.field(reference_pose).to(distance.device)
        if near.shape != distance.shape:
            raise InputError("one reference pose per pose", expected=len(distance), got=len(near), code="bad_shape")
        return near

    def _largest(self, motion: Motion) -> Tensor:
        distance = self.field(torch.from_numpy(motion.joint_pos).to(self.field.device))
        finite = distance[distance.isfinite()]
        if not len(finite):
            raise InputError("no finite pose in the reference", where=motion.name, code="bad_calibration")
        return finite.max()
