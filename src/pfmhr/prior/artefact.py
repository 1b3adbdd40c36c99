"""Priors on disk, in the box and on Hugging Face."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pfmhr
from pfmhr.errors import InputError, unknown_name
from pfmhr.prior.config import as_json, prior_config_from_json
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_denoiser
from pfmhr.training.artefact import CARD, CONFIG, WEIGHTS, load_weights, read_config, write_artefact

FORMAT, VERSION = "pfmhr-prior", 1
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


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
    """Load from a directory, a bundled name, or a Hugging Face repository id."""
    directory = _locate(source)
    config = read_config(directory, FORMAT, VERSION, "prior")
    try:
        settings = prior_config_from_json(config["prior"])
        normalisation = Normalisation.from_json(config["normalisation"])
        joint_names = tuple(config["joint_names"])
        denoiser = new_denoiser(settings, len(joint_names))
        load_weights(denoiser.network, directory, config["weights_sha256"], "prior")
        return PosePrior(settings, normalisation, config["robot"], joint_names, denoiser, about=config.get("about", {}))
    except InputError as error:
        raise error.at(directory) from None
    except (KeyError, TypeError) as error:
        raise InputError(f"incomplete prior config: {error}", where=directory / CONFIG, code="bad_prior") from error


def _locate(source: str | Path) -> Path:
    path, text = Path(source), str(source)
    if path.is_dir():
        return path
    bundled = bundled_priors()
    if text in bundled:
        return bundled[text]
    if path.exists():
        raise InputError("a prior is a directory", where=path, got="a file", code="bad_prior")
    if _REPOSITORY.fullmatch(text) and not text.startswith((".", "/")):
        return _download(text)
    raise unknown_name("prior", text, [*bundled, "a directory", "or a Hugging Face repository id (owner/name)"])


def _download(repository: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise InputError(
            f"no directory '{repository}', and loading it from Hugging Face needs huggingface_hub",
            fix="`pip install 'pfm-hr[hub]'`, or check the path.",
            code="missing_extra",
        ) from None
    try:
        return Path(snapshot_download(repository, allow_patterns=[WEIGHTS, CONFIG, CARD]))
    except Exception as error:  # the hub's client raises many kinds; each means the same to the caller
        raise InputError(
            f"no directory '{repository}', and Hugging Face did not give it either: {str(error).splitlines()[0][:200]}",
            fix="Check the path, the name or the connection.",
            code="not_found",
        ) from error


def _card(prior: PosePrior) -> str:
    network = prior.config.network
    return (
        f"# Pose prior for {prior.robot}\n\n"
        f"A flow matching prior over single poses of {len(prior.joint_names)} joints "
        f"({network.depth} blocks of {network.width}, {prior.config.prediction} prediction, "
        f"{prior.config.normalisation} normalisation).\n\n"
        '```python\nfrom pfmhr import PosePrior\nprior = PosePrior.load("<this directory>")\n```\n\n'
        f"Made by pfm-hr {pfmhr.__version__}. What it was trained on and how: `about` in `config.json`.\n"
    )
