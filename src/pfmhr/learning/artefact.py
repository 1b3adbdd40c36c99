"""A trained network on disk: ``model.safetensors``, ``config.json``, ``README.md``. Reading it runs no code from it."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_atomically, write_json
from pfmhr.foreign import read_file, read_json, read_layout, require_header
from pfmhr.layout import CARD, CONFIG, WEIGHTS
from pfmhr.learning.checkpoint import CHECKPOINTS, steps_done
from pfmhr.learning.identity import CHECKSUM, checksum_of_config
from pfmhr.learning.kinds import kind_here, kind_of_config, read_run

Network = TypeVar("Network", bound=nn.Module)

MAX_WEIGHTS_BYTES = 64 * 2**30
"""By now the file is as large as the network that its config asks for; this is no limit but a number."""


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
    config[CHECKSUM] = checksum_of_config(json.loads(json.dumps(config)))
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
    require_header(content, f"a {kind}'s config", format, (version,), where=path, code=code)
    _require_unchanged(content, path, kind, code)
    return content


class OlderArtefact(UserWarning):
    """An artefact from before config files had a checksum."""


def _require_unchanged(content: dict[str, Any], path: Path, kind: str, code: str) -> None:
    """Refuse a config that was changed after it was written; from one without a checksum nobody could tell."""
    stated = content.get(CHECKSUM)
    if stated is None:
        what = f"{path}: this {kind} is of an earlier version, whose configs have no checksum"
        warnings.warn(f"{what}; load and save it once to give it one", OlderArtefact, stacklevel=4)
    elif stated != checksum_of_config(content):
        fix = f"Put the original back. Numbers of a changed {kind} would not be those of the one that was trained."
        raise InputError("the config is not as it was written", where=path, fix=fix, code=code)


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


def load_network(make: Callable[[str], Network], directory: Path, checksum: str, kind: str) -> Network:
    """The network that ``make(device)`` builds, with an artefact's weights; others are refused.

    It is first made without memory: sizes that the file does not have cost nothing.
    """
    path, code = directory / WEIGHTS, f"bad_{kind.replace(' ', '_')}"
    try:
        layout = read_layout(path, code)
    except FileNotFoundError:
        raise InputError("the weights are missing", where=path, code=code) from None
    expected = make("meta").state_dict()
    missing, extra = sorted(expected.keys() - layout.keys()), sorted(layout.keys() - expected.keys())
    if missing or extra:
        got = f"missing {missing[:3]}" if missing else f"extra {extra[:3]}"
        raise InputError("the weights are for another network", where=path, got=got, code=code)
    for name, tensor in layout.items():
        wanted = ("F32", tuple(expected[name].shape))
        if (tensor.kind, tensor.shape) != wanted:
            what = f"'{name}' has the wrong shape or type"
            raise InputError(what, where=path, expected=wanted, got=(tensor.kind, tensor.shape), code=code)
    weights = _read_weights(path, checksum, code)
    network = make("cpu")
    network.load_state_dict(weights)
    return network


def _read_weights(path: Path, checksum: str, code: str) -> dict[str, Tensor]:
    """Tensors of a file whose layout was found to fit."""
    data = read_file(path, max_bytes=MAX_WEIGHTS_BYTES)
    if hashlib.sha256(data).hexdigest() != checksum:
        raise InputError("the weights are not those the config describes", where=path, code=code)
    try:
        weights = safetensors.torch.load(data)
    except SafetensorError as error:
        fix = "Download them again."
        raise InputError(f"truncated or foreign weights: {error}", where=path, fix=fix, code=code) from error
    for name, value in weights.items():
        if not bool(torch.isfinite(value).all()):
            raise InputError(f"'{name}' holds NaN or infinity", where=path, expected="finite weights", code=code)
    return weights
