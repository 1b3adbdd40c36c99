"""A prior without a network: a mixture of Gaussians, whose best denoiser is known in closed form (Eq. 9, 26 and 29).

One component is a Gaussian with the corpus' full covariance: its denoiser is linear, its Jacobian the same everywhere.
What a trained prior knows is what it says beyond these.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pfmhr.errors import InputError
from pfmhr.prior.mixture import GaussianMixture

MOST_COMPONENTS = 4096


@dataclass(frozen=True)
class MixtureConfig:
    """Shape of a closed-form prior."""

    components: int = 1
    """Gaussians with full covariances."""

    def __post_init__(self) -> None:
        if not 1 <= self.components <= MOST_COMPONENTS:
            raise InputError(
                "impossible mixture",
                expected=f"1 to {MOST_COMPONENTS} components",
                got=self.components,
                code="bad_config",
            )


class MixtureNetwork(nn.Module):
    """The posterior mean of a mixture: noisy normalised poses and flow times in, clean poses out.

    Covariances are kept as bases and spectra, in which every flow time's posterior is a division.
    """

    log_weights: Tensor
    """(K,)"""
    means: Tensor
    """(K, J)"""
    bases: Tensor
    """(K, J, J), eigenvectors in columns"""
    spectra: Tensor
    """(K, J), their variances"""

    def __init__(self, joints: int, config: MixtureConfig, device: str = "cpu") -> None:
        super().__init__()
        self.joints, self.config = joints, config
        shapes = {"log_weights": (), "means": (joints,), "bases": (joints, joints), "spectra": (joints,)}
        for name, shape in shapes.items():
            zeros = torch.zeros((config.components, *shape), dtype=torch.float32, device=device)
            self.register_parameter(name, nn.Parameter(zeros, requires_grad=False))

    @staticmethod
    def of(mixture: GaussianMixture) -> MixtureNetwork:
        """The network of a mixture in normalised coordinates."""
        components, joints = mixture.means.shape
        network = MixtureNetwork(joints, MixtureConfig(components)).to(mixture.means.dtype)
        spectra, bases = torch.linalg.eigh(mixture.covariances)
        network.load_state_dict(
            {"log_weights": mixture.weights.log(), "means": mixture.means, "bases": bases, "spectra": spectra}
        )
        return network

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        """Shapes: noisy_pose ``(…, J)``; flow_time a scalar or anything that broadcasts to ``(…)``."""
        time = flow_time.expand(noisy_pose.shape[:-1])[..., None, None]
        axes = self.bases.transpose(0, 1).flatten(1)  # (J, K·J): all components' axes side by side
        centres = torch.einsum("kj,kji->ki", self.means, self.bases)
        # Each component in its own axes, where the noisy pose's covariance is diagonal.
        offset = (noisy_pose @ axes).unflatten(-1, centres.shape) - time * centres
        variance = time.square() * self.spectra + (1.0 - time).square()
        # Which component the pose came from, and where it was under each.
        log_density = -0.5 * (offset.square() / variance + variance.log()).sum(dim=-1)
        share = torch.softmax(self.log_weights + log_density, dim=-1)
        within = share.unsqueeze(-1) * time * self.spectra / variance * offset
        return share @ self.means + within.flatten(-2) @ axes.T
