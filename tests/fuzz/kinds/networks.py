"""Trained networks: a prior's or a distance field's config, and a prior's weights."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch

from pfmhr.distance import PoseDistanceField
from pfmhr.distance.network import DistanceNetwork, DistanceNetworkConfig
from pfmhr.prior.config import PriorConfig
from pfmhr.prior.network import NetworkConfig
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import PosePrior, new_denoiser
from tests.fuzz.documents import JSON_TREE, TEXT, to_json
from tests.fuzz.drafts import Stage, at, develop, then
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.tensors import TENSORS, Tensors
from tests.fuzz.typed import ill_typed

try:
    from pfmhr.learning.identity import CHECKSUM, checksum_of_config
except ImportError:  # before configs had one
    CHECKSUM, checksum_of_config = "", lambda content: ""

CONFIG, WEIGHTS = "config.json", "model.safetensors"
SHA, SUM = "weights_sha256", "@checksum of the config@"


def make_kind(name: str, scratch: Path) -> Kind:
    torch.set_num_threads(1)
    joints = ("hip", "knee", "ankle")
    shape = PriorConfig(network=NetworkConfig(depth=1, width=4, time_features=4))
    normalisation = Normalisation("standard", (0.0, 0.1, -0.2), (1.0, 0.5, 2.0))
    PosePrior(shape, normalisation, "leg", joints, new_denoiser(shape, 3)).save(scratch / "prior")
    field = DistanceNetwork((-1, 0, 1), DistanceNetworkConfig(feature=2, hidden=2, head=(4,)))
    PoseDistanceField("leg", joints, (-1, 0, 1), (-1.0,) * 3, (1.0,) * 3, field).save(scratch / "field")
    drafts = [_draft(scratch / kind) for kind in (("prior", "field") if name == "config" else ("prior",))]
    return Kind(partial(_make, name, drafts), _read, (CONFIG, WEIGHTS))


def _draft(folder: Path) -> dict[str, Any]:
    content = (folder / WEIGHTS).read_bytes()
    return {"config": (folder / CONFIG).read_bytes(), "weights": Tensors.parse(content)}


def _make(name: str, drafts: list[dict[str, Any]], random: Random) -> tuple[Files, tuple[str, ...]]:
    draft = random.choice(drafts)
    start = {"config": json.loads(draft["config"]), "weights": draft["weights"].copy(), "sealed": True}
    if name == "config":
        stages = (
            Stage(0.5, (broken_seal,)),
            Stage(6, at("config", JSON_TREE), lambda draft: _sealed({**draft, "weights": draft["weights"].encode()})),
            Stage(1.5, at(CONFIG, TEXT)),
            Stage(0.5, at(CONFIG, BYTES)),
            Stage(0.2, PLACES),
        )
    else:
        stages = (
            Stage(0.5, (broken_seal,)),
            Stage(6, at("weights", TENSORS), then("weights", Tensors.encode)),
            Stage(1, at("weights", BYTES), _sealed),
            Stage(0.2, PLACES),
        )
    return develop(random, start, stages)


def broken_seal(random: Random, draft: dict[str, Any]) -> dict[str, Any]:
    """The checksums stay those of the files that were changed."""
    return {**draft, "sealed": False}


def _sealed(draft: dict[str, Any]) -> Files:
    """The two files. Checksums are mostly made to fit, or nothing behind them would be reached."""
    config, weights = draft["config"], draft["weights"]
    if isinstance(config, dict) and draft["sealed"]:
        fitting = {SHA: hashlib.sha256(weights).hexdigest()} if isinstance(config.get(SHA), str) else {}
        config = {**config, **fitting}
        if CHECKSUM in config:
            config[CHECKSUM] = SUM
            try:
                known = checksum_of_config(json.loads(to_json(config)))
            except (ValueError, RecursionError, AttributeError):
                known = ""
            return {CONFIG: to_json(config).replace(SUM.encode(), known.encode()), WEIGHTS: weights}
    return {CONFIG: to_json(config), WEIGHTS: weights}


def _read(folder: Path) -> str | None:
    content = (folder / CONFIG).read_bytes()[:200] if (folder / CONFIG).is_file() else b""
    return _read_field(folder) if b"pfmhr-distance" in content else _read_prior(folder)


def _read_prior(folder: Path) -> str | None:
    prior = PosePrior.load(folder)
    names = ill_typed(prior.joint_names, tuple[str, ...], "joint_names") or ill_typed(prior.robot, str, "robot")
    wrong = names or ill_typed(prior.config, PriorConfig, "prior") or ill_typed(prior.normalisation, Normalisation, "n")
    with torch.no_grad():
        given = prior.denoiser.network(torch.zeros(1, len(prior.joint_names)), torch.tensor(0.5))
    return wrong or _finite(given, prior.denoiser.network) or ill_typed(prior.hash, str, "hash")


def _read_field(folder: Path) -> str | None:
    field = PoseDistanceField.load(folder)
    limits = ill_typed(field.lower + field.upper, tuple[float, ...], "limits")
    names = ill_typed(field.joint_names, tuple[str, ...], "names") or ill_typed(field.robot, str, "robot")
    wrong = names or limits or ill_typed(field.parents, tuple[int, ...], "parents")
    return wrong or _finite(field(torch.zeros(1, len(field.joint_names))), field.network) or ill_typed(field.hash, str)


def _finite(given: torch.Tensor, network: torch.nn.Module) -> str | None:
    if not all(
        bool(value.isfinite().all()) and value.dtype == torch.float32 for value in network.state_dict().values()
    ):
        return "weights that are not finite floats"
    largest = max((float(value.abs().max()) for value in network.state_dict().values() if value.numel()), default=0.0)
    return None if largest > 1e6 or bool(given.isfinite().all()) else f"a network that gives {given.tolist()}"
