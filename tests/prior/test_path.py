"""The path, the times, the normalisation, the objective."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.network import NetworkConfig, PoseNetwork
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.path import TimeSampling, corrupt, velocity_scale
from pfmhr.robots import Robot


def test_the_path_runs_from_noise_to_the_pose() -> None:
    pose, noise = torch.tensor([[2.0, 4.0]]), torch.tensor([[-2.0, 0.0]])
    assert torch.equal(corrupt(pose, noise, 0.0), noise)
    assert torch.equal(corrupt(pose, noise, 1.0), pose)
    assert torch.allclose(corrupt(pose, noise, torch.tensor([0.75])), torch.tensor([[1.0, 3.0]]))


def test_the_velocity_scale_is_clamped_near_the_pose() -> None:
    like = torch.zeros(3, 2)
    scale = velocity_scale(torch.tensor([0.25, 0.999, 1.0]), like, delta=1e-3)
    assert torch.allclose(scale.squeeze(), torch.tensor([0.75, 0.001, 0.001]), atol=1e-6)


@pytest.mark.parametrize(("mean", "std", "above"), [(0.0, 1.0, 0.136), (-0.8, 0.8, 0.0088)], ids=["our default", "JiT"])
def test_how_many_times_lie_above_three_quarters(mean: float, std: float, above: float) -> None:
    # P(sigmoid(mean + std n) > 0.75) = 1 - Phi((ln 3 - mean)/std)
    times = TimeSampling(mean, std).stratified(200_000, torch.Generator().manual_seed(0))
    assert float((times > 0.75).float().mean()) == pytest.approx(above, abs=2e-4)


def test_stratified_times_take_one_from_each_slice() -> None:
    sampling = TimeSampling()
    times = sampling.stratified(64, torch.Generator().manual_seed(1))
    ranks = torch.special.ndtr(torch.logit(times.double()))
    assert torch.equal((ranks * 64).floor().long(), torch.arange(64))


def test_limits_normalise_to_plus_minus_one(g1: Robot) -> None:
    normalisation = Normalisation.from_limits(g1)
    centre, scale = normalisation.tensors(torch.zeros(1))
    for bound, value in ((g1.lower, -1.0), (g1.upper, 1.0)):
        assert torch.allclose((torch.from_numpy(bound) - centre) / scale, torch.full((29,), value), atol=1e-5)


def test_a_joint_that_never_moves_is_not_divided_by_zero() -> None:
    import numpy as np

    poses = np.array([[1.0, 0.3], [3.0, 0.3]], dtype=np.float32)
    assert Normalisation.from_poses(poses).scale == (1.0, 1.0)
    assert Normalisation.from_poses(poses).centre == pytest.approx((2.0, 0.3))


def network(seed: int = 0) -> PoseNetwork:
    """A network past its initial zeros, so that it says something."""
    torch.manual_seed(seed)
    made = PoseNetwork(5, NetworkConfig(depth=2, width=16, time_features=8))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return made


def test_a_new_network_predicts_zero() -> None:
    made = PoseNetwork(5, NetworkConfig(depth=2, width=16, time_features=8))
    assert torch.equal(made(torch.randn(3, 5), torch.tensor(0.5)), torch.zeros(3, 5))


@given(st.integers(1, 4), st.integers(1, 5))
def test_conditioning_on_groups_equals_conditioning_on_rows(groups: int, rows: int) -> None:
    made, poses = network(), torch.randn(groups, rows, 5)
    times = torch.rand(groups, 1)
    grouped = made(poses, times)
    separate = made(poses.reshape(-1, 5), times.expand(-1, rows).reshape(-1))
    assert torch.allclose(grouped.reshape(-1, 5), separate, atol=1e-5)


def test_one_time_for_all_equals_that_time_for_each() -> None:
    made, poses = network(), torch.randn(6, 5)
    assert torch.allclose(made(poses, torch.tensor(0.3)), made(poses, torch.full((6,), 0.3)), atol=1e-6)


def test_both_predictions_measure_the_same_velocity_error() -> None:
    """A velocity network v and the clean map z + (1 − t)·v have the same loss, by Eq. 7 and Eq. 24."""
    velocity = Denoiser(network(), "velocity")
    pose, noise, time = torch.randn(40, 5), torch.randn(40, 5), torch.rand(40) * 0.9

    class CleanMap(torch.nn.Module):
        def forward(self, noisy: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
            return velocity(noisy, at)

    clean = Denoiser(CleanMap(), "clean")  # type: ignore[arg-type]
    assert torch.allclose(clean.loss(pose, noise, time), velocity.loss(pose, noise, time), rtol=1e-3, atol=1e-4)


def test_the_loss_by_hand() -> None:
    """A network of zeros predicts x̂ = 0; the error is x/(1 − t)."""
    zero = Denoiser(PoseNetwork(2, NetworkConfig(depth=1, width=4, time_features=2)), "clean")
    loss = zero.loss(torch.tensor([[3.0, 4.0]]), torch.randn(1, 2), torch.tensor([0.5]))
    assert loss.item() == pytest.approx((9 + 16) / 0.25)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(InputError):
        NetworkConfig(linears_per_block=3)
    with pytest.raises(InputError):
        TimeSampling(std=0.0)
