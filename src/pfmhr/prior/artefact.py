"""Priors on disk, in the box and on Hugging Face."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

import pfmhr
from pfmhr.errors import InputError
from pfmhr.foreign import as_dataclass, locate
from pfmhr.learning.artefact import load_network, read_config, write_artefact
from pfmhr.prior.config import PriorConfig, as_json
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.gaussians import MixtureNetwork
from pfmhr.prior.network import PoseNetwork
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_network

FORMAT, VERSION = "pfmhr-prior", 1


def bundled_priors() -> dict[str, Path]:
    """Priors that come with the package, by name."""
    folder = Path(str(files("pfmhr.prior"))) / "bundled"
    return {entry.name: entry for entry in sorted(folder.iterdir()) if entry.is_dir()} if folder.is_dir() else {}


def save_prior(prior: PosePrior, directory: Path) -> None:
    """Write a prior; a directory with a config is complete."""
    content = {
        "robot": prior.robot,
        "joint_names": list(prior.joint_names),
        "prior": as_json(prior.config),
        "normalisation": {
            "kind": prior.normalisation.kind,
            "centre": list(prior.normalisation.centre),
            "scale": list(prior.normalisation.scale),
        },
        "about": prior.about,
    }
    write_artefact(directory, prior.denoiser.network, FORMAT, VERSION, content, _card(prior))


def load_prior(source: str | Path) -> PosePrior:
    """Load from a directory, a bundled name, or ``hf:owner/name``."""
    directory = locate(source, "prior", bundled_priors())
    content = read_config(directory, FORMAT, VERSION, "prior")
    try:
        about = as_dataclass(_Config, content, "the prior's config", "bad_prior")
        _require_names(about)
        joints = len(about.joint_names)

        def make(device: str) -> PoseNetwork | MixtureNetwork:
            return new_network(about.prior, joints, device)

        with torch.random.fork_rng(devices=[]):  # weights about to be replaced cost nobody random numbers
            network = load_network(make, directory, about.weights_sha256, "prior")
        denoiser = Denoiser(network, about.prior.prediction, about.prior.delta)
        return PosePrior(about.prior, about.normalisation, about.robot, about.joint_names, denoiser, about=about.about)
    except InputError as error:
        raise error.at(directory, code="bad_prior" if error.code == "bad_config" else None) from None


@dataclass(frozen=True)
class _Config:
    """A prior's ``config.json``."""

    format: str
    version: int
    robot: str
    joint_names: tuple[str, ...]
    prior: PriorConfig
    normalisation: Normalisation
    weights_sha256: str
    code_version: str = ""
    about: dict[str, Any] = field(default_factory=dict)
    config_sha256: str = ""


def _require_names(about: _Config) -> None:
    names = about.joint_names
    if not names or len(set(names)) < len(names):
        raise InputError("joints are missing or named twice", got=", ".join(names[:5]), code="bad_prior")


def _card(prior: PosePrior) -> str:
    network, mixture = prior.config.network, prior.config.mixture
    shape = f"{network.depth} blocks of {network.width}, {prior.config.prediction} prediction"
    if mixture is not None:
        shape = f"{mixture.components} Gaussians with full covariances, in closed form"
    return (
        f"# Pose prior for {prior.robot}\n\n"
        f"A flow matching prior over single poses of {len(prior.joint_names)} joints "
        f"({shape}, {prior.config.normalisation} normalisation).\n\n"
        '```python\nfrom pfmhr import PosePrior\nprior = PosePrior.load("<this directory>")\n```\n\n'
        f"Made by pfm-hr {pfmhr.__version__}. What it was trained on and how: `about` in `config.json`.\n"
    )
