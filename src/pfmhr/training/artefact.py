"""A trained network on disk: ``model.safetensors``, ``config.json``, ``README.md``. Reading it runs no code from it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import nn

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import make_folder, read_json, write_atomically, write_json
from pfmhr.training.checkpoint import CHECKPOINTS, steps_done
from pfmhr.training.kinds import CONFIG, kind_here, kind_of_config, read_run

WEIGHTS, CARD = "model.safetensors", "README.md"


def write_artefact(
    directory: Path, module: nn.Module, format: str, version: int, content: dict[str, Any], card: str
) -> None:
    """Weights first, config last: a directory with a config is complete. A card that is there is kept."""
    make_folder(directory)
    weights = {name: value.contiguous() for name, value in module.state_dict().items()}
    data = safetensors.torch.save(weights, metadata={"format": format})
    config = {
        "format": format,
        "version": version,
        **content,
        "weights_sha256": hashlib.sha256(data).hexdigest(),
        "code_version": pfmhr.__version__,
    }
    write_atomically(directory / WEIGHTS, lambda handle: handle.write(data))
    if not (directory / CARD).exists():
        write_atomically(directory / CARD, lambda handle: handle.write(card.encode()))
    write_json(directory / CONFIG, config)


def read_config(directory: Path, format: str, version: int, kind: str) -> dict[str, Any]:
    """The config of an artefact of the given kind ("prior"), or what is wrong with the directory."""
    path, code = directory / CONFIG, f"bad_{kind.replace(' ', '_')}"
    try:
        content = read_json(path, code)
    except FileNotFoundError:
        raise _not_there(directory, kind) from None
    if kind_of_config(content) not in (None, f"a {kind}"):
        raise InputError(f"this is {kind_of_config(content)}, not a {kind}", where=directory, code=code)
    if not isinstance(content, dict) or content.get("format") != format:
        got = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise InputError(f"not a {kind}'s config", where=path, expected=format, got=got, code=code)
    if content.get("version") != version:
        raise InputError(f"unknown {kind} version", where=path, expected=version, got=content.get("version"), code=code)
    return content


def _not_there(directory: Path, kind: str) -> InputError:
    """Why a directory has no config: its training is not finished, it is a run of another kind, or nothing of ours."""
    here, about = kind_here(directory), read_run(directory)
    if here == f"a {kind}":
        steps = f"{steps_done(directory / CHECKPOINTS):,} of {_planned(about)} steps"
        command = "extend" if about.get("extends") else "train"
        fix = f"Go on with the same `pfmhr {kind.split()[0]} {command}` command."
        return InputError(f"not finished: {steps}", where=directory, fix=fix, code="not_found")
    what = f"not a {kind}" if here is None else f"this holds {here}, not a {kind}"
    return InputError(what, where=directory, expected=f"{CONFIG} and {WEIGHTS}", code="not_found")


def _planned(about: dict[str, Any]) -> str:
    try:
        return f"{int(about['training']['steps']):,}"
    except (KeyError, TypeError, ValueError):
        return "unknown"


def load_weights(module: nn.Module, directory: Path, checksum: str, kind: str) -> None:
    """Fill a network with an artefact's weights; truncated, foreign and exchanged ones are refused."""
    path, code = directory / WEIGHTS, f"bad_{kind.replace(' ', '_')}"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("the weights are missing", where=path, code=code) from None
    if data.startswith(b"version https://git-lfs"):
        raise InputError(
            "this is a Git-LFS pointer, not the weights", where=path, fix="Run `git lfs pull`.", code="lfs_pointer"
        )
    try:
        weights = safetensors.torch.load(data)
    except SafetensorError as error:
        raise InputError(
            f"truncated or foreign weights: {error}", where=path, fix="Download them again.", code=code
        ) from error
    expected = module.state_dict()
    missing, extra = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or extra:
        raise InputError(
            "the weights are for another network",
            where=path,
            got=f"missing {missing[:3]}" if missing else f"extra {extra[:3]}",
            code=code,
        )
    for name, value in weights.items():
        if value.shape != expected[name].shape:
            raise InputError(
                f"'{name}' has the wrong shape",
                where=path,
                expected=tuple(expected[name].shape),
                got=tuple(value.shape),
                code=code,
            )
    if hashlib.sha256(data).hexdigest() != checksum:
        raise InputError("the weights are not those the config describes", where=path, code=code)
    module.load_state_dict(weights)
