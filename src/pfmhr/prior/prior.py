"""A trained prior: frozen weights, their normalisation, and what they were trained on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.inputs import as_flow_times, as_last_axis
from pfmhr.learning.identity import hash_of
from pfmhr.prior.config import PriorConfig
from pfmhr.prior.denoiser import Denoiser, denoise_by_parts
from pfmhr.prior.gaussians import MixtureNetwork
from pfmhr.prior.network import NetworkConfig, PoseNetwork
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.path import DELTA
from pfmhr.robots import Robot


@dataclass(eq=False)
class PosePrior:
    """Knows which poses are likely, on normalised coordinates of one robot's joints."""

    config: PriorConfig
    normalisation: Normalisation
    robot: str
    joint_names: tuple[str, ...]
    denoiser: Denoiser
    about: dict[str, Any] = field(default_factory=dict)
    """Where it came from: data, training, code version."""

    def __post_init__(self) -> None:
        if len(self.normalisation.centre) != len(self.joint_names):
            raise InputError("normalisation and joints differ in number", code="bad_prior")
        self.denoiser.eval().requires_grad_(False)

    @staticmethod
    def load(source: str | Path, robot: Robot | None = None) -> PosePrior:
        """Load a prior from a directory, by the name of a bundled one, or as ``hf:owner/name`` from Hugging Face.

        With ``robot`` given, a prior for other joints is refused.
        """
        from pfmhr.prior.artefact import load_prior

        prior = load_prior(source)
        if robot is not None:
            prior.require(robot)
        return prior

    def save(self, directory: str | Path) -> None:
        """Write ``model.safetensors``, ``config.json`` and ``README.md``."""
        from pfmhr.prior.artefact import save_prior

        save_prior(self, Path(directory))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.denoiser.parameters()).device

    @property
    def hash(self) -> str:
        """Identifies the prior by all that its numbers depend on: a calibration made with it fits no other.

        Those are weights, normalisation, network, path, prediction and joints; depth and width show in the weights.
        """
        about = (self.normalisation, self.joint_names, self.config.prediction)
        settings = (("time_scale", self.config.network.time_scale), ("delta", self.config.delta))
        first = (("time_scale", NetworkConfig.time_scale), ("delta", DELTA))
        changed = tuple(setting for setting in settings if setting not in first)
        return hash_of(self.denoiser.state_dict(), about, *([changed] if changed else []))

    def to(self, device: torch.device | str) -> PosePrior:
        """Move the weights; returns itself."""
        self.denoiser.to(device)
        return self

    def normalise(self, poses: Tensor | NDArray[Any]) -> Tensor:
        """Radians ``(…, J)`` → normalised coordinates."""
        values = self._poses(poses)
        centre, scale = self.normalisation.tensors(values)
        return (values - centre) / scale

    def denormalise(self, normalised: Tensor | NDArray[Any]) -> Tensor:
        """Normalised coordinates ``(…, J)`` → radians."""
        values = self._poses(normalised)
        centre, scale = self.normalisation.tensors(values)
        return values * scale + centre

    @torch.no_grad()
    def denoise(self, noisy_pose: Tensor | NDArray[Any], flow_time: Tensor | float) -> Tensor:
        """Clean pose estimate F(z, t), Eq. 10; normalised poses ``(N, J)``, flow time a scalar or ``(N,)``."""
        noisy = self._poses(noisy_pose).to(next(self.denoiser.parameters()).dtype)
        return denoise_by_parts(self.denoiser, noisy, as_flow_times(flow_time, noisy))

    def sample(self, count: int, generator: torch.Generator | None = None, steps: int = 50) -> Tensor:
        """New poses in rad, shape ``(count, J)``; see :func:`pfmhr.prior.sampling.sample_poses`."""
        from pfmhr.prior.sampling import sample_poses

        return self.denormalise(sample_poses(self.denoiser, count, len(self.joint_names), generator, steps))

    def require(self, robot: Robot) -> None:
        """Refuse a robot whose joints are not exactly this prior's, in this order."""
        if robot.joint_names == self.joint_names:
            return
        same = sorted(robot.joint_names) == sorted(self.joint_names)
        raise InputError(
            "the prior was trained on the same joints in another order" if same else "the prior is for other joints",
            expected=f"robot '{robot.name}': {', '.join(robot.joint_names[:3])}, … ({robot.num_joints})",
            got=f"robot '{self.robot}': {', '.join(self.joint_names[:3])}, … ({len(self.joint_names)})",
            code="wrong_robot",
        )

    def _poses(self, poses: Tensor | NDArray[Any]) -> Tensor:
        return as_last_axis(poses, len(self.joint_names))


def new_denoiser(config: PriorConfig, joints: int, seed: int = 0, device: str = "cpu") -> Denoiser:
    """An untrained denoiser whose initial weights depend on ``seed`` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Denoiser(new_network(config, joints, device), config.prediction, config.delta)


def new_network(config: PriorConfig, joints: int, device: str = "cpu") -> PoseNetwork | MixtureNetwork:
    """What the config asks for: a network, or a mixture of Gaussians in its place."""
    if config.mixture is not None:
        return MixtureNetwork(joints, config.mixture, device)
    return PoseNetwork(joints, config.network, device)
