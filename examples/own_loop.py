"""One's own RL loop: how the modulator is put onto a reward, in an environment of forty lines.

Run ``python examples/own_loop.py``; it takes about half a minute on one core. The lines marked ← are all that
PFM-HR adds. The guide docs/howto/own-rl-loop.md says what to look at, and how it is done in MimicKit and Isaac Lab.
"""

import torch
import tyro
from torch import Tensor, nn
from torch.distributions import Normal

from pfmhr import Calibration, Motion, PoseGeometryScore, PosePrior, RewardModulator, Robot
from pfmhr.motion.embedded import embedded_motion

DT = 1 / 30
"""s of a control step."""


class Environment:
    """N robots without weight: each joint goes a part of the way to its target, and is pushed about."""

    def __init__(self, reference: Tensor, robots: int) -> None:
        self.reference, self.lag = reference, 0.6
        self.frame = torch.randint(len(reference) - 1, (robots,))
        self.pose = reference[self.frame].clone()

    def observe(self) -> Tensor:
        """Where each robot is, and where its reference is next, ``(N, 2·J)``."""
        return torch.cat([self.pose, self.reference[self.frame + 1]], dim=1)

    def step(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Joint targets ``(N, J)`` → tracking rewards ``(N,)``, and which episodes are over ``(N,)``."""
        self.pose = self.pose + self.lag * (targets - self.pose) + 0.01 * torch.randn_like(self.pose)
        self.frame = self.frame + 1
        error = (self.pose - self.reference[self.frame]).square().sum(dim=1)
        return torch.exp(-2.0 * error), (error > 4.0) | (self.frame == len(self.reference) - 1)

    def reset(self, over: Tensor) -> None:
        """Put the robots that are done ``(N,)`` anywhere on the reference."""
        self.frame = torch.where(over, torch.randint_like(self.frame, len(self.reference) - 1), self.frame)
        self.pose = torch.where(over[:, None], self.reference[self.frame], self.pose)


class Policy(nn.Module):
    """Targets are the next reference pose, and what is learned beside it."""

    def __init__(self, joints: int) -> None:
        super().__init__()
        self.joints = joints
        self.mean = nn.Sequential(nn.Linear(2 * joints, 64), nn.ELU(), nn.Linear(64, joints))
        self.log_std = nn.Parameter(torch.full((joints,), -1.5))

    def forward(self, observations: Tensor) -> Normal:
        """Observations ``(N, 2·J)`` → a distribution of targets ``(N, J)``."""
        targets = observations[:, self.joints :] + self.mean(observations)
        return Normal(targets, self.log_std.exp())


def returns_of(rewards: Tensor, over: Tensor, discount: float = 0.9) -> Tensor:
    """Discounted sums of rewards ``(T, N)`` to the end of each episode, or of the rollout."""
    total, sums = torch.zeros_like(rewards[0]), torch.zeros_like(rewards)
    for step in range(len(rewards) - 1, -1, -1):
        total = rewards[step] + discount * total * ~over[step]
        sums[step] = total
    return sums


def collect(environment: Environment, policy: Policy, steps: int) -> dict[str, Tensor]:
    """A rollout; every entry ``(T, N, …)``."""
    rows: dict[str, list[Tensor]] = {name: [] for name in ("seen", "done", "reward", "over", "before", "after")}
    for _ in range(steps):
        seen, before = environment.observe(), environment.pose.clone()  # ← the pose after any reset, before the step
        action = policy(seen).sample()
        reward, over = environment.step(action)
        after = environment.pose.clone()  # ← the pose after the step, before any reset
        environment.reset(over)
        for name, value in zip(rows, (seen, action, reward, over, before, after), strict=True):
            rows[name].append(value)
    return {name: torch.stack(values) for name, values in rows.items()}


def make_modulator(robot: Robot, reference: Motion) -> RewardModulator:
    """Once, before training."""
    score = PoseGeometryScore(PosePrior.load("g1-small", robot))  # ← refuses a robot with other joints
    return RewardModulator(score, Calibration.fit(score, [reference], DT, phases=4))  # ←


def main(iterations: int = 60, robots: int = 64, steps: int = 16) -> list[dict[str, float]]:
    """Train; returns the figures of each iteration."""
    torch.manual_seed(0)
    robot, walk = Robot.load("g1"), embedded_motion("walk")
    modulator = make_modulator(robot, walk)  # ←
    environment = Environment(torch.from_numpy(walk.resample(1 / DT).joint_pos), robots)
    policy = Policy(robot.num_joints)
    optimiser = torch.optim.Adam(policy.parameters(), lr=2e-3)
    log = []
    for iteration in range(iterations):
        with torch.no_grad():
            rows = collect(environment, policy, steps)
            factor = modulator(rows["before"].flatten(0, 1), rows["after"].flatten(0, 1), DT)  # ← once per rollout
            rewards = rows["reward"] * factor.view(steps, robots)  # ← the tracking term; others are added after it
        gains = returns_of(rewards, rows["over"])
        advantages = (gains - gains.mean()) / (gains.std() + 1e-6)
        chance = policy(rows["seen"].flatten(0, 1)).log_prob(rows["done"].flatten(0, 1)).sum(dim=1)
        optimiser.zero_grad()
        (-(chance * advantages.flatten()).mean()).backward()
        optimiser.step()
        log.append({"reward": rows["reward"].mean().item(), **modulator.statistics()})  # ← figures of the factor
        if iteration % 20 == 0 or iteration == iterations - 1:
            told = "  ".join(f"{name} {log[-1][name]:.3f}" for name in ("reward", "multiplier", "share_bad"))
            print(f"iteration {iteration:3}  {told}")
    return log


if __name__ == "__main__":
    tyro.cli(main)
