"""Gaussian mixtures: the distribution whose posterior is known in closed form at every flow time.

For x from a mixture and z = t·x + (1 − t)·ε the posterior mean and covariance of x given z are
elementary. They are what a perfect prior's denoiser and Jacobian equal: J = t/(1 − t)²·Cov[x | z].
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class GaussianMixture:
    """K components in D dimensions, float64."""

    weights: Tensor
    """(K,)"""
    means: Tensor
    """(K, D)"""
    covariances: Tensor
    """(K, D, D)"""

    @staticmethod
    def random(components: int, dimensions: int, seed: int = 0) -> GaussianMixture:
        """Full covariances whose spectra span three decades, components of different sizes: poses in miniature."""
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        spectrum = torch.logspace(0.0, -3.0, dimensions, dtype=torch.float64)
        bases = torch.linalg.qr(normal(components, dimensions, dimensions))[0]
        sizes = torch.exp(0.5 * normal(components))[:, None, None]
        covariances = sizes * (bases @ torch.diag(spectrum) @ bases.transpose(1, 2))
        weights = torch.softmax(0.5 * normal(components), dim=0)
        return GaussianMixture(weights, 0.5 * normal(components, dimensions), covariances)

    def sample(self, count: int, seed: int) -> Tensor:
        """Points, shape ``(count, D)`` float64."""
        generator = torch.Generator().manual_seed(seed)
        which = torch.multinomial(self.weights, count, replacement=True, generator=generator)
        noise = torch.randn(count, self.means.shape[1], generator=generator, dtype=torch.float64)
        roots = torch.linalg.cholesky(self.covariances)
        return self.means[which] + torch.einsum("nij,nj->ni", roots[which], noise)

    def rescaled(self, centre: Tensor, scale: Tensor) -> GaussianMixture:
        """The distribution of ``(x − centre)/scale``."""
        shrink = 1.0 / scale.double()
        covariances = self.covariances * shrink[:, None] * shrink[None, :]
        return GaussianMixture(self.weights, (self.means - centre.double()) * shrink, covariances)

    def shares(self, points: Tensor) -> Tensor:
        """How likely each of the points ``(N, D)`` is from each component ``(N, K)``, in the points' precision."""
        factor = torch.linalg.cholesky(self.covariances)
        inverse = torch.linalg.solve_triangular(factor, torch.eye(factor.shape[-1]).to(factor), upper=False)
        centres = torch.einsum("kij,kj->ki", inverse, self.means)
        axes = inverse.permute(2, 0, 1).flatten(1).to(points)  # (D, K·D)
        white = (points @ axes).unflatten(-1, centres.shape) - centres.to(points)
        log_density = -0.5 * white.square().sum(dim=-1) - factor.diagonal(dim1=1, dim2=2).log().sum(dim=1).to(points)
        return torch.softmax(self.weights.log().to(points) + log_density, dim=-1)

    def posterior(self, noisy: Tensor, flow_time: float) -> tuple[Tensor, Tensor]:
        """Mean ``(N, D)`` and covariance ``(N, D, D)`` of x given z = ``noisy`` ``(N, D)`` at one flow time."""
        time, spread = flow_time, (1.0 - flow_time) ** 2
        identity = torch.eye(self.means.shape[1], dtype=torch.float64)
        marginal = time**2 * self.covariances + spread * identity
        gain = time * torch.linalg.solve(marginal, self.covariances).transpose(1, 2)  # (K, D, D)
        offset = noisy[:, None, :] - time * self.means  # (N, K, D)
        means = self.means + torch.einsum("kij,nkj->nki", gain, offset)
        covariances = self.covariances - time * gain @ self.covariances
        factor = torch.linalg.cholesky(marginal)
        whitened = torch.linalg.solve_triangular(factor, offset.transpose(0, 1).transpose(1, 2), upper=False)
        log_density = -0.5 * whitened.square().sum(dim=1).T - factor.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        share = torch.softmax(self.weights.log() + log_density, dim=1)  # (N, K)
        mean = torch.einsum("nk,nki->ni", share, means)
        second = torch.einsum("nk,nki,nkj->nij", share, means, means) + torch.einsum("nk,kij->nij", share, covariances)
        return mean, second - mean[:, :, None] * mean[:, None, :]
