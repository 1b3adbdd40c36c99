"""A prior on disk: ``model.safetensors``, ``config.json``, ``README.md``. Reading it runs no code from it."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError

import pfmhr
from pfmhr.errors import InputError, unknown_name
from pfmhr.files import write_atomically, write_json
from pfmhr.prior.config import as_json, prior_config_from_json
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_denoiser

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
FORMAT, VERSION = "pfmhr-prior", 1
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


def bundled_priors() -> dict[str, Path]:
    """Priors that come with the package, by name."""
    folder = Path(str(files("pfmhr.prior"))) / "bundled"
    return {entry.name: entry for entry in sorted(folder.iterdir()) if entry.is_dir()} if folder.is_dir() else {}


def save_prior(prior: PosePrior, directory: Path) -> None:
    """Weights first, config last: a directory with a config is complete."""
    directory.mkdir(parents=True, exist_ok=True)
    weights = {name: value.contiguous() for name, value in prior.denoiser.network.state_dict().items()}
    data = safetensors.torch.save(weights, metadata={"format": FORMAT})
    config = {
        "format": FORMAT,
        "version": VERSION,
        "robot": prior.robot,
        "joint_names": list(prior.joint_names),
        "prior": as_json(prior.config),
        "normalisation": {
            "kind": prior.normalisation.kind,
            "centre": list(prior.normalisation.centre),
            "scale": list(prior.normalisation.scale),
        },
        "weights_sha256": hashlib.sha256(data).hexdigest(),
        "code_version": pfmhr.__version__,
        "about": prior.about,
    }
    write_atomically(directory / WEIGHTS, lambda handle: handle.write(data))
    if not (directory / CARD).exists():
        write_atomically(directory / CARD, lambda handle: handle.write(_card(prior).encode()))
    write_json(directory / CONFIG, config)


def load_prior(source: str | Path) -> PosePrior:
    """Load from a directory, a bundled name, or a Hugging Face repository id."""
    directory = _locate(source)
    config = _read_config(directory / CONFIG)
    try:
        settings = prior_config_from_json(config["prior"])
        normalisation = Normalisation.from_json(config["normalisation"])
        joint_names = tuple(config["joint_names"])
        denoiser = new_denoiser(settings, len(joint_names))
        _load_weights(denoiser.network, directory / WEIGHTS, config["weights_sha256"])
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


def _read_config(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(
            "not a prior", where=path.parent, expected=f"{CONFIG} and {WEIGHTS}", code="not_found"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"unreadable JSON: {error}", where=path, code="bad_prior") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        got = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise InputError("not a prior's config", where=path, expected=FORMAT, got=got, code="bad_prior")
    if content.get("version") != VERSION:
        raise InputError(
            "unknown prior version", where=path, expected=VERSION, got=content.get("version"), code="bad_prior"
        )
    return content


def _load_weights(network: Any, path: Path, checksum: str) -> None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("the weights are missing", where=path, code="bad_prior") from None
    if data.startswith(b"version https://git-lfs"):
        raise InputError(
            "this is a Git-LFS pointer, not the weights", where=path, fix="Run `git lfs pull`.", code="lfs_pointer"
        )
    try:
        weights = safetensors.torch.load(data)
    except SafetensorError as error:
        raise InputError(
            f"truncated or foreign weights: {error}", where=path, fix="Download them again.", code="bad_prior"
        ) from error
    expected = network.state_dict()
    missing, extra = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or extra:
        raise InputError(
            "the weights are for another network",
            where=path,
            got=f"missing {missing[:3]}" if missing else f"extra {extra[:3]}",
            code="bad_prior",
        )
    for name, value in weights.items():
        if value.shape != expected[name].shape:
            raise InputError(
                f"'{name}' has the wrong shape",
                where=path,
                expected=tuple(expected[name].shape),
                got=tuple(value.shape),
                code="bad_prior",
            )
    if hashlib.sha256(data).hexdigest() != checksum:
        raise InputError("the weights are not those the config describes", where=path, code="bad_prior")
    network.load_state_dict(weights)


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
