"""Priors whose scores are known: by hand, in closed form, or at least not zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pfmhr.errors import InputError
from pfmhr.prior import NetworkConfig, PosePrior, PriorConfig
from pfmhr.prior.denoiser import Denoiser, Prediction
from pfmhr.prior.mixture import GaussianMixture
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import new_denoiser


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=seeded(seed), dtype=torch.float64).to(dtype)


def float64(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def joint_names(joints: int) -> tuple[str, ...]:
    return tuple(f"joint_{number}" for number in range(joints))


def around(network: nn.Module, centre: Sequence[float], scale: Sequence[float] | None = None) -> PosePrior:
    """A prior whose clean-pose map is any module; without scales normalised coordinates are rad off the centre."""
    units = Normalisation("standard", tuple(centre), tuple(scale or (1.0,) * len(centre)))
    return PosePrior(PriorConfig(), units, "toy", joint_names(len(centre)), Denoiser(network, "clean"))  # type: ignore[arg-type]


def random_prior(
    joints: int = 5,
    depth: int = 2,
    width: int = 16,
    linears: int = 2,
    prediction: Prediction = "clean",
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> PosePrior:
    """Our network with every parameter moved off its initial value: new ones predict zero."""
    config = PriorConfig(NetworkConfig(depth, width, linears, time_features=8), prediction)
    denoiser, generator = new_denoiser(config, joints, seed), seeded(seed)
    with torch.no_grad():
        for parameter in denoiser.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) / parameter.shape[-1] ** 0.5)
    values = normal(2, joints, seed=seed)
    units = Normalisation("standard", tuple(values[0].tolist()), tuple(values[1].exp().tolist()))
    return PosePrior(config, units, "toy", joint_names(joints), denoiser.to(dtype))


def transitions(prior: PosePrior, count: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    """Poses before and after a step, and noise ``(1, N, J)``, none of them small in the prior's units."""
    joints = len(prior.joint_names)
    values = normal(3, count, joints, seed=seed)
    before = prior.denormalise(values[0])
    after = prior.denormalise(values[0] + 0.05 * values[1])
    return before.to(dtype), after.to(dtype), values[2:].to(dtype)


class Matrix(nn.Module):
    """F(z) = A z: the score is ‖A d‖² at every pose, whatever the noise."""

    def __init__(self, rows: Sequence[Sequence[float]]) -> None:
        super().__init__()
        self.weight = nn.Parameter(float64(rows))

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        return noisy_pose @ self.weight.T


class HalfSquare(nn.Module):
    """F(z) = z²/2 by joint: the Jacobian is diag(z), so the score tells which z was asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(float64(0.5))

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        return self.factor * noisy_pose.square()


class Target(nn.Module):
    """F(z, t) = t·c, whatever z: the error is ‖t·c − q‖²."""

    def __init__(self, target: Sequence[float]) -> None:
        super().__init__()
        self.target = nn.Parameter(float64(target))

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        return flow_time * self.target + 0.0 * noisy_pose


class GaussianDenoiser(nn.Module):
    """The exact clean-pose map of N(mean, Σ): mean + t Σ (t² Σ + (1 − t)² I)⁻¹ (z − t mean)."""

    def __init__(self, mean: Tensor, covariance: Tensor) -> None:
        super().__init__()
        self.mean, self.covariance = nn.Parameter(mean), nn.Parameter(covariance)

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        identity = torch.eye(len(self.mean), dtype=self.mean.dtype)
        marginal = flow_time**2 * self.covariance + (1 - flow_time) ** 2 * identity
        gain = flow_time * torch.linalg.solve(marginal, self.covariance)  # symmetric factors that commute
        return self.mean + (noisy_pose - flow_time * self.mean) @ gain


class MixtureDenoiser(nn.Module):
    """The posterior mean of a Gaussian mixture: a perfect prior."""

    def __init__(self, mixture: GaussianMixture) -> None:
        super().__init__()
        self.mixture, self.unused = mixture, nn.Parameter(torch.zeros(1))

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        flat = noisy_pose.reshape(-1, noisy_pose.shape[-1])
        return self.mixture.posterior(flat, float(flow_time))[0].reshape(noisy_pose.shape)


@contextmanager
def refused(code: str, *words: str) -> Iterator[None]:
    """The block must raise an InputError of this code whose message has these words."""
    with pytest.raises(InputError) as caught:
        yield
    assert caught.value.code == code, str(caught.value)
    for word in words:
        assert word in str(caught.value)
