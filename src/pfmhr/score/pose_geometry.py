"""The Pose Geometry Score: how strongly the prior supports a change of pose (Eq. 13–15)."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.inputs import (
    as_floats,
    as_noise,
    as_pose_pair,
    as_poses,
    check_count,
    check_dt,
    check_flow_time,
    finite_rows,
)
from pfmhr.prior import PosePrior
from pfmhr.prior.path import corrupt
from pfmhr.score.corruption import POSES_PER_CHUNK, chunks, corruption
from pfmhr.score.defaults import T_EVAL
from pfmhr.score.engine import Choice, Engine, Precision, make_engine
from pfmhr.score.geometry import PoseGeometry

Poses = Tensor | NDArray[Any]

STABILISER = 1e-6
"""η: keeps the direction of a vanishing change finite (Eq. 14)."""


class PoseGeometryScore:
    """``s = ‖J(z)·d‖²``: z the *previous* pose, corrupted; d the direction of the joint change.

    High where the joints change together the way poses of the corpus vary around this one. The size of
    the change does not matter, nor its sign. Everything happens in the prior's normalised coordinates, and
    without gradients: a score is part of a reward, not of a loss.

    Args:
        prior: a frozen pose prior.
        t_eval: flow time of the query; see ``pfmhr study timestep --recommend``.
        samples: corruption samples averaged per transition (K; one in the paper).
        stabiliser: η of Eq. 14.
        precision: of the matrix products.
        engine: "auto" takes the fused pass where it can; "autodiff" is the reference.
    """

    of_changes: ClassVar[bool] = True
    """It judges changes, and has nothing to say where nothing moves."""

    def __init__(
        self,
        prior: PosePrior,
        t_eval: float = T_EVAL,
        samples: int = 1,
        *,
        stabiliser: float = STABILISER,
        precision: Precision = "float32",
        engine: Choice = "auto",
    ) -> None:
        if not (isinstance(stabiliser, Real) and 0 < float(stabiliser) < math.inf):
            raise InputError("the stabiliser must be a positive number", got=stabiliser, code="bad_config")
        self.prior, self.t_eval = prior, check_flow_time(t_eval, prior.config.delta)
        self.samples, self.stabiliser = check_count(samples, "samples"), float(stabiliser)
        self._choice: Choice = engine
        self._precision: Precision = precision
        self._dtype = torch.float64 if precision == "float64" else torch.float32
        self._engines: dict[torch.device, Engine] = {}
        self._hash = prior.hash
        self._engine(prior.device)  # made and tested now, so that a wrong one is refused before training starts

    @property
    def settings(self) -> dict[str, Any]:
        """What a calibration depends on besides the reference and its time step."""
        return {
            "score": "pose geometry",
            "prior": self._hash,
            "t_eval": [self.t_eval],
            "samples": self.samples,
            "stabiliser": self.stabiliser,
        }

    def __call__(
        self,
        previous_pose: Poses,
        pose: Poses,
        dt: float,
        *,
        noise: Poses | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Scores of transitions.

        Args:
            previous_pose: ``(N, J)`` rad, the pose before the step; this one is corrupted.
            pose: ``(N, J)`` rad, the pose after it.
            dt: seconds between them.
            noise: the corruption itself, ``(samples, N, J)``, standard normal; drawn unless given.
            generator: where noise is drawn from, for repeatable scores.

        Returns:
            ``(N,)`` on the poses' device; 0 where a pose is not finite (see :meth:`evaluate`).
        """
        return self.evaluate(previous_pose, pose, dt, noise=noise, generator=generator)[0][0]

    def evaluate(
        self,
        previous_pose: Poses,
        pose: Poses,
        dt: float,
        *,
        noise: Poses | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Scores ``(1, N)``, and which transitions ``(N,)`` have finite poses; the others score 0."""
        previous, current = as_pose_pair(previous_pose, pose, self._joints)
        given, parts = as_noise(noise, self.samples, previous), []
        for rows in chunks(len(previous), POSES_PER_CHUNK):
            direction, finite = self.direction(previous[rows], current[rows], dt)
            cut = None if given is None else given[:, rows]
            scores = self.along(previous[rows], direction[None], noise=cut, generator=generator)
            parts.append((torch.where(finite, scores, 0.0), finite))
        scores, finite = zip(*parts, strict=True)
        return torch.cat(scores, dim=1), torch.cat(finite)

    @torch.no_grad()
    def direction(self, previous_pose: Poses, pose: Poses, dt: float) -> tuple[Tensor, Tensor]:
        """Normalised direction of each joint change ``(N, J)`` (Eq. 14), and whether its poses are finite ``(N,)``."""
        seconds = check_dt(dt)
        previous, current = as_pose_pair(previous_pose, pose, self._joints)
        finite = finite_rows(previous) & finite_rows(current)
        scale = self.prior.normalisation.tensors(previous)[1]
        # The difference is taken before rounding to the score's precision: neighbouring poses are close.
        velocity = torch.where(finite[:, None], (current - previous) / (scale * seconds), 0.0).to(self._dtype)
        return velocity / (velocity.square().sum(dim=1, keepdim=True) + self.stabiliser).sqrt(), finite

    def along(
        self,
        previous_pose: Poses,
        directions: Tensor,
        *,
        noise: Poses | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Scores of many normalised directions ``(D, N, J)`` at the same corrupted poses: ``(D, N)``.

        Poses ``(N, J)`` in rad. The poses' own pass through the network is shared by all directions.
        """
        return self._mean_over_queries(previous_pose, directions, noise, generator, lambda r: r.square().sum(dim=-1))

    def contributions(
        self,
        previous_pose: Poses,
        pose: Poses,
        dt: float,
        *,
        noise: Poses | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The score's parts by joint, ``(N, J)``: squares of ``J·d``, whose sum over joints is the score."""
        direction, finite = self.direction(previous_pose, pose, dt)
        parts = self._mean_over_queries(previous_pose, direction[None], noise, generator, torch.square)[0]
        return torch.where(finite[:, None], parts, 0.0)

    def geometry(
        self, pose: Poses, *, noise: Poses | None = None, generator: torch.Generator | None = None
    ) -> PoseGeometry:
        """The whole Jacobian around poses ``(N, J)`` rad, averaged over the corruption samples."""
        poses = as_poses(pose, self._joints)
        if not bool(finite_rows(poses).all()):
            raise InputError("no geometry around a pose that is not finite", code="not_finite")
        count, joints = poses.shape
        axes = torch.eye(joints, dtype=self._dtype, device=poses.device)[:, None].expand(joints, count, joints)
        columns = self._mean_over_queries(poses, axes, noise, generator, lambda response: response)
        return PoseGeometry(columns.permute(1, 2, 0).contiguous(), self.t_eval, self.prior)

    @torch.no_grad()
    def _mean_over_queries(
        self, pose: Poses, directions: Tensor, noise: Poses | None, generator: torch.Generator | None, measure: Any
    ) -> Tensor:
        """``measure`` of the responses ``(D, n, J)``, averaged over corruption samples, chunk by chunk."""
        poses = as_poses(pose, self._joints)
        directions = as_floats(directions, "directions", poses.device)
        if directions.ndim != 3 or directions.shape[1:] != poses.shape:
            raise InputError(
                "directions and poses differ in shape",
                expected=("D", *poses.shape),
                got=tuple(directions.shape),
                code="bad_shape",
            )
        engine, given, parts = self._engine(poses.device), as_noise(noise, self.samples, poses), []
        for rows in chunks(len(poses), POSES_PER_CHUNK):
            cut = None if given is None else given[:, rows]
            clean = torch.nan_to_num(self.prior.normalise(poses[rows]), 0.0, 0.0, 0.0).to(self._dtype)
            along = directions[:, rows].to(self._dtype)
            total: Tensor | float = 0.0
            for sample in corruption(clean, self.samples, cut, generator):
                query = corrupt(clean, sample, self.t_eval)
                with torch.autocast(poses.device.type, enabled=False):  # the engine chooses its own precision
                    total = total + measure(engine.respond(query, along))
            parts.append(total / self.samples)
        return torch.cat(parts, dim=1)

    @property
    def _joints(self) -> int:
        return len(self.prior.joint_names)

    def _engine(self, device: torch.device) -> Engine:
        if device not in self._engines:
            self._engines[device] = make_engine(self.prior, self.t_eval, device, self._choice, self._precision)
        return self._engines[device]
