"""The geometry itself, for people who want to look: Jacobian, co-variation modes, response by joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from pfmhr.prior import PosePrior


@dataclass(frozen=True, eq=False)
class PoseGeometry:
    """How the prior lets poses vary around N given ones, in normalised coordinates.

    At the optimum the Jacobian is ``t/(1−t)²`` times the covariance of clean poses given the noisy one
    (Eq. 11): symmetric, positive semi-definite, with eigenvalues up to ``1/t`` where nothing holds a joint.
    """

    jacobian: Tensor
    """(N, J, J): column j is the response to a change of joint j."""
    flow_time: float
    prior: PosePrior

    @property
    def symmetric(self) -> Tensor:
        """(N, J, J): the symmetric part."""
        return (self.jacobian + self.jacobian.transpose(1, 2)) / 2

    @property
    def asymmetry(self) -> Tensor:
        """(N,): ``‖J − Jᵀ‖/‖J‖``, zero for a perfect prior."""
        difference = self.jacobian - self.jacobian.transpose(1, 2)
        return difference.flatten(1).norm(dim=1) / self.jacobian.flatten(1).norm(dim=1)

    @property
    def covariance(self) -> Tensor:
        """(N, J, J): covariance of clean poses given the noisy one, from the symmetric part; Eq. 11 inverted."""
        return self.symmetric * ((1.0 - self.flow_time) ** 2 / self.flow_time)

    @property
    def eigenvalues(self) -> Tensor:
        """(N, J): of the symmetric part, largest first."""
        return self._eigen[0]

    @property
    def modes(self) -> Tensor:
        """(N, J, J): column k is the k-th co-variation mode, a unit vector."""
        return self._eigen[1]

    @property
    def modes_in_radians(self) -> Tensor:
        """(N, J, J): the modes as joint changes in rad; column k moves the robot along mode k."""
        scale = self.prior.normalisation.tensors(self.jacobian)[1]
        return self.modes * scale[:, None]

    @property
    def joint_response(self) -> Tensor:
        """(N, J): score of moving one joint alone."""
        return self.jacobian.square().sum(dim=1)

    @cached_property
    def _eigen(self) -> tuple[Tensor, Tensor]:
        values, vectors = torch.linalg.eigh(self.symmetric)
        return values.flip(1), vectors.flip(2)
