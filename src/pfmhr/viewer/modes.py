"""A pose to play with: joints one by one, or together along the prior's co-variation modes."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.robots.naming import words
from pfmhr.score import PoseGeometryScore
from pfmhr.score.defaults import T_EVAL

Floats = NDArray[np.floating]
MODES = 6
NAMED_JOINTS = 3


class PoseDesk:
    """A base pose, the prior's modes there, and how far the robot is moved along each.

    The modes are those of :class:`pfmhr.score.PoseGeometry`, averaged over corruption samples with a fixed
    noise, so that the same pose always has the same modes. One unit along a mode is one standard deviation of
    the poses that the prior finds likely around the base.
    """

    def __init__(
        self, prior: PosePrior, robot: Robot, modes: int = MODES, t_eval: float = T_EVAL, samples: int = 64
    ) -> None:
        prior.require(robot)
        self.prior, self.robot = prior, robot
        self._score = PoseGeometryScore(prior, t_eval, samples)
        self._draws = torch.Generator().manual_seed(0)
        self.count = min(modes, robot.num_joints)
        self.base = robot.default_pose.astype(np.float64)
        self.amplitudes = np.zeros(self.count)
        self.spread = np.zeros(self.count)
        """(K,) standard deviation along each mode, in the prior's normalised units."""
        self.directions = np.zeros((robot.num_joints, self.count))
        """(J, K) rad per standard deviation."""
        self.settle(self.base)

    @property
    def pose(self) -> Floats:
        """(J,) rad, within the joints' limits."""
        return np.clip(self.base + self.directions @ self.amplitudes, self.robot.lower, self.robot.upper)

    def settle(self, pose: Floats) -> None:
        """Make a pose ``(J,)`` the base: find the modes there and stand still along all of them."""
        self.base = np.clip(np.asarray(pose, dtype=np.float64), self.robot.lower, self.robot.upper)
        at = torch.from_numpy(self.base[None].astype(np.float32)).to(self.prior.device)
        geometry = self._score.geometry(at, generator=torch.Generator().manual_seed(0))
        variance = geometry.eigenvalues[0, : self.count] * ((1.0 - geometry.flow_time) ** 2 / geometry.flow_time)
        self.spread = variance.clamp(min=0.0).sqrt().cpu().numpy().astype(np.float64)
        modes = geometry.modes_in_radians[0, :, : self.count].cpu().numpy().astype(np.float64)
        # An eigenvector has no sign of its own; the strongest joint goes up, so that sliders do not flip.
        strongest = modes[np.abs(modes).argmax(axis=0), np.arange(self.count)]
        self.directions = modes * np.where(strongest < 0, -1.0, 1.0) * self.spread
        self.amplitudes = np.zeros(self.count)

    def set_joint(self, joint: int, angle: float) -> None:
        """Turn one joint; the pose that results is the new base."""
        pose = self.pose
        pose[joint] = angle
        self.settle(pose)

    def set_mode(self, mode: int, amplitude: float) -> None:
        """Go to so many standard deviations along a mode."""
        self.amplitudes[mode] = amplitude

    def reset(self) -> None:
        """Back to the robot's default pose."""
        self.settle(self.robot.default_pose)

    def sample(self) -> None:
        """A new pose of the prior."""
        self.settle(self.prior.sample(1, generator=self._draws)[0].cpu().numpy())

    def heat(self, mode: int) -> Floats:
        """(J,) in [0, 1]: how much each joint turns along a mode, relative to the one that turns most."""
        turn = np.abs(self.directions[:, mode])
        return turn / max(float(turn.max()), 1e-12)

    def describe(self, mode: int) -> str:
        """The joints that turn most along a mode, with their signs."""
        turn = self.directions[:, mode]
        order = np.abs(turn).argsort()[::-1][:NAMED_JOINTS]
        signs = ["+" if turn[joint] >= 0 else "−" for joint in order]
        names = [words(self.robot.joint_names[joint]) for joint in order]
        return ", ".join(f"{sign} {name}" for sign, name in zip(signs, names, strict=True))
