"""A trained distance field: how far from the corpus, which way back, and how to walk there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.distance.network import DistanceNetwork, DistanceNetworkConfig
from pfmhr.errors import InputError
from pfmhr.foreign import as_dataclass, locate
from pfmhr.inputs import BROKEN, as_poses
from pfmhr.learning.artefact import load_network, read_config, write_artefact
from pfmhr.learning.identity import hash_of
from pfmhr.prior.artefact import bundled_priors
from pfmhr.robots import Robot

FORMAT, VERSION, KIND, CODE = "pfmhr-distance", 1, "distance field", "bad_distance_field"


@dataclass(eq=False)
class PoseDistanceField:
    """Distance in rad of poses of one robot to the corpus it was trained on."""

    robot: str
    joint_names: tuple[str, ...]
    parents: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    network: DistanceNetwork
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.network.eval().requires_grad_(False)

    @staticmethod
    def new(robot: Robot, parents: tuple[int, ...], config: DistanceNetworkConfig, seed: int = 0) -> PoseDistanceField:
        """An untrained field whose initial weights depend on ``seed`` alone."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = DistanceNetwork(parents, config)
        limits = (tuple(map(float, robot.lower)), tuple(map(float, robot.upper)))
        return PoseDistanceField(robot.name, robot.joint_names, parents, *limits, network)

    def __call__(self, poses: Tensor | NDArray[Any], chunk: int = 16_384) -> Tensor:
        """Distances ``(N,)`` of poses ``(N, J)`` rad; infinite where a pose is not finite."""
        values = self._poses(poses)
        finite = torch.isfinite(values).all(dim=1)
        clean = torch.where(finite[:, None], values, 0.0)
        with torch.no_grad():
            parts = [self.network(part) for part in clean.split(chunk)] if len(clean) else [clean.new_empty(0)]
        return torch.where(finite, torch.cat(parts), torch.inf)

    def gradient(self, poses: Tensor | NDArray[Any]) -> tuple[Tensor, Tensor]:
        """Distances ``(N,)`` and their gradients ``(N, J)``: away from the corpus."""
        with torch.inference_mode(False), torch.enable_grad():
            values = self._poses(poses).clone().requires_grad_(True)
            distance = self.network(values)
            (gradient,) = torch.autograd.grad(distance.sum(), values)
        return distance.detach(), gradient

    def project(self, poses: Tensor | NDArray[Any], steps: int = 500, rate: float = 0.1) -> Tensor:
        """Walk poses ``(N, J)`` towards the corpus, a share ``rate`` of the remaining distance at each step."""
        values = self._poses(poses).clone()
        lower, upper = values.new_tensor(self.lower), values.new_tensor(self.upper)
        for _ in range(steps):
            distance, gradient = self.gradient(values)
            way = gradient / gradient.norm(dim=1, keepdim=True).clamp_min(1e-8)
            values = (values - rate * distance[:, None] * way).clamp(lower, upper)
        return values

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.network.parameters()).device

    def to(self, device: torch.device | str) -> PoseDistanceField:
        """Move the weights; returns itself."""
        self.network.to(device)
        return self

    @property
    def hash(self) -> str:
        """Identifies the field by all that its distances depend on: weights, network, joints and their tree.

        Sizes of the network show in the weights; the limits serve :meth:`project` alone.
        """
        return hash_of((self.joint_names, self.parents), self.network.state_dict())

    def save(self, directory: str | Path) -> None:
        """Write ``model.safetensors``, ``config.json`` and ``README.md``."""
        content = {
            "robot": self.robot,
            "joint_names": list(self.joint_names),
            "parents": list(self.parents),
            "lower": list(self.lower),
            "upper": list(self.upper),
            "network": asdict(self.network.config),
            "about": self.about,
        }
        card = (
            f"# Pose distance field for {self.robot}\n\nDistances in rad to the poses of a corpus; see `config.json`.\n"
        )
        write_artefact(Path(directory), self.network, FORMAT, VERSION, content, card)

    @staticmethod
    def load(source: str | Path, robot: Robot | None = None) -> PoseDistanceField:
        """Read a field from a directory or as ``hf:owner/name``; with ``robot`` given, others' joints are refused."""
        place = _place(source)
        content = read_config(place, FORMAT, VERSION, KIND)
        try:
            # Weights about to be replaced must not cost a caller, who may have seeded it, numbers of the generator.
            with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
                loaded = _from_config(as_dataclass(_Config, content, "the field's config", CODE), place)
        except InputError as error:
            raise error.at(place, code=CODE if error.code == "bad_config" else None) from None
        if robot is not None and robot.joint_names != loaded.joint_names:
            raise InputError(
                "the field is for other joints, or for another order",
                where=place,
                expected=f"robot '{robot.name}': {', '.join(robot.joint_names[:3])}, …",
                got=f"robot '{loaded.robot}': {', '.join(loaded.joint_names[:3])}, …",
                code="wrong_robot",
            )
        return loaded

    def _poses(self, poses: Tensor | NDArray[Any]) -> Tensor:
        return as_poses(poses, len(self.joint_names)).float()


@dataclass(frozen=True)
class _Config:
    """A field's ``config.json``."""

    format: str
    version: int
    robot: str
    joint_names: tuple[str, ...]
    parents: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    network: DistanceNetworkConfig
    weights_sha256: str
    code_version: str = ""
    about: dict[str, Any] = field(default_factory=dict)
    config_sha256: str = ""


def _from_config(config: _Config, place: Path) -> PoseDistanceField:
    joints = len(config.joint_names)
    if not len(set(config.joint_names)) == len(config.parents) == len(config.lower) == len(config.upper) == joints:
        raise InputError("joints, tree and limits differ in number", code=CODE)
    if not all(-BROKEN < low < high < BROKEN for low, high in zip(config.lower, config.upper, strict=True)):
        raise InputError("joint limits must be finite, the lower below the upper", code=CODE)

    def make(device: str) -> DistanceNetwork:
        return DistanceNetwork(config.parents, config.network, device)

    network = load_network(make, place, config.weights_sha256, KIND)
    limits = (config.lower, config.upper)
    return PoseDistanceField(config.robot, config.joint_names, config.parents, *limits, network, config.about)


def _place(source: str | Path) -> Path:
    """Where the field lies; bundled names are those of priors."""
    if str(source) in bundled_priors() and not Path(source).exists():
        what = f"'{source}' is a prior that comes with the package, not a distance field"
        fix = "Make one with `pfmhr distance train`, and name its directory."
        raise InputError(what, fix=fix, code="not_found")
    return locate(source, KIND, {})
