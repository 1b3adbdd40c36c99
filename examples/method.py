"""The method of the paper in plain torch: learn poses, score how they change, scale a tracking reward.

Run ``python examples/method.py``; it takes some fifteen seconds on one core. Equation numbers are the paper's. The
package does the same faster and with checks; its tests compare it with the functions below.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import jvp

from pfmhr.motion.embedded import embedded_motion, embedded_motions  # the data; the method needs nothing else

RATE = 30.0
"""Control steps per second: the prior sees single poses, the score sees steps of 1/30 s."""
Denoiser = Callable[[Tensor, Tensor], Tensor]
"""F(z, t), Eq. 10: noisy poses (N, J) and flow times (N, 1) → estimates of the clean poses (N, J)."""


class Network(nn.Module):
    """A small denoiser. Flow time 0 is noise, flow time 1 is a clean pose."""

    def __init__(self, joints: int, width: int = 256) -> None:
        super().__init__()
        inner = [nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU()]
        self.layers = nn.Sequential(nn.Linear(joints + 1, width), nn.SiLU(), *inner, nn.Linear(width, joints))

    def forward(self, noisy: Tensor, time: Tensor) -> Tensor:
        """F(z, t)."""
        return self.layers(torch.cat([noisy, time.expand(len(noisy), 1)], dim=1))


def flow_loss(denoise: Denoiser, clean: Tensor, noise: Tensor, time: Tensor) -> Tensor:
    """Eq. 8: squared error of the velocity from noise to pose, a scalar; poses (N, J), times (N, 1)."""
    noisy = time * clean + (1 - time) * noise  # Eq. 5: the path
    velocity = clean - noise  # Eq. 6: where the path leads
    predicted = (denoise(noisy, time) - noisy) / (1 - time).clamp_min(1e-3)  # Eq. 7: the denoiser's opinion
    return (velocity - predicted).square().sum(dim=1).mean()


def train(network: nn.Module, poses: Tensor, steps: int) -> float:
    """Learn poses (N, J) in no order; returns the mean loss per joint over the last hundred steps."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    losses = []
    for _ in range(steps):
        clean = poses[torch.randint(len(poses), (512,))]
        time = torch.sigmoid(torch.randn(len(clean), 1))  # logit-normal
        loss = flow_loss(network, clean, torch.randn_like(clean), time)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item() / poses.shape[1])
    return sum(losses[-100:]) / len(losses[-100:])


def pose_geometry_score(denoise: Denoiser, before: Tensor, after: Tensor, noise: Tensor, t_eval: float) -> Tensor:
    """Eq. 15: how strongly the denoised pose responds to a nudge along the change; poses (N, J) → (N,)."""
    velocity = (after - before) * RATE  # Eq. 2
    direction = velocity / (velocity.square().sum(dim=1, keepdim=True) + 1e-6).sqrt()  # Eq. 14
    query = t_eval * before + (1 - t_eval) * noise  # Eq. 13: the pose before the step, corrupted
    time = torch.full_like(query[:, :1], t_eval)
    response = jvp(lambda z: denoise(z, time), (query,), (direction,))[1]  # Jacobian × direction
    return response.square().sum(dim=1)


def percentile(reference: Tensor, score: Tensor) -> Tensor:
    """The calibration: the share of the reference's own scores (T,) that are not above each score (N,)."""
    rank = torch.searchsorted(reference.sort().values, score, right=True)
    return rank / len(reference)


def reward_factor(share: Tensor, alpha: float = 0.5, p_good: float = 0.05, p_bad: float = 0.01) -> Tensor:
    """Eq. 17: 1 for a change that is as good as the reference's, down to exp(−alpha) for one that is worse than all."""
    return torch.exp(-alpha * ((p_good - share) / (p_good - p_bad)).clamp(0, 1))


def main(steps: int = 2000, t_eval: float = 0.75) -> dict[str, float]:
    """Learn from the embedded motions, judge changes of a walk; returns the mean factor of each kind of change."""
    torch.manual_seed(0)
    clips = [torch.from_numpy(motion.resample(RATE).joint_pos) for motion in embedded_motions(variations=10)]
    mean, spread = torch.cat(clips).mean(dim=0), torch.cat(clips).std(dim=0).clamp_min(1e-4)
    poses = (torch.cat(clips) - mean) / spread  # the paper's normalised coordinates
    network = Network(poses.shape[1])
    print(f"{len(poses):,} poses of {len(clips)} clips, loss per joint {train(network, poses, steps):.3f}")

    network.requires_grad_(False)  # frozen from here on
    walk = (torch.from_numpy(embedded_motion("walk", seed=99).resample(RATE).joint_pos) - mean) / spread  # a new one
    before, change = walk[:-1], walk[1:] - walk[:-1]
    reference = pose_geometry_score(network, before, before + change, torch.randn_like(before), t_eval)
    changes = {
        "as in the walk": change,
        "played backwards": -change,
        "joints shuffled": change.gather(1, torch.rand_like(change).argsort(dim=1)),  # anew in every step
        "random": torch.randn_like(change) * change.std(),
    }
    factors = {}
    print(f"{'change of the joints':22}{'score':>8}{'percentile':>12}{'reward factor':>15}")
    for name, each in changes.items():
        score = pose_geometry_score(network, before, before + each, torch.randn_like(before), t_eval)
        share = percentile(reference, score)
        factors[name] = reward_factor(share).mean().item()  # Eq. 18: the tracking reward times this
        print(f"{name:22}{score.mean():8.3f}{share.mean():12.1%}{factors[name]:15.3f}")
    return factors


if __name__ == "__main__":
    main()
