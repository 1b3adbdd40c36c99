"""Checkpoints: safetensors with the shape of a nested state in its metadata."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch

from pfmhr.learning.state import load_state, save_state
from tests.fuzz.documents import JSON_TREE, TEXT, to_json
from tests.fuzz.drafts import Stage, at, develop, then
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.tensors import TENSORS, Tensors

FILE = "step-000000010.safetensors"


def make_kind(name: str, scratch: Path) -> Kind:
    torch.set_num_threads(1)
    optimiser = {
        "state": {0: {"step": torch.tensor(3.0), "m": torch.ones(4)}},
        "param_groups": [{"lr": 1e-3, "params": [0]}],
    }
    save_state(scratch / FILE, {"step": 10, "model": {"w": torch.zeros(2, 2)}, "optimiser": optimiser, "name": None})
    return Kind(partial(_make, Tensors.parse((scratch / FILE).read_bytes())), _read, (FILE,))


def _make(whole: Tensors, random: Random) -> tuple[Files, tuple[str, ...]]:
    file = whole.copy()
    shape = json.loads(file.header["__metadata__"]["state"])

    def joined(draft: dict[str, Any]) -> Tensors:
        draft["file"].header["__metadata__"]["state"] = draft["shape"].decode("utf-8", "surrogatepass")
        return draft["file"]

    stages = (
        Stage(4, at("shape", JSON_TREE), then("shape", to_json)),
        Stage(1, at("shape", TEXT_THAT_STAYS_TEXT), joined),
        Stage(3, TENSORS, Tensors.encode),
        Stage(0.5, BYTES, lambda data: {FILE: data}),
        Stage(0.2, PLACES),
    )
    return develop(random, {"file": file, "shape": shape}, stages)


def twice_key(random: Random, text: bytes) -> bytes:
    """Of the changes to a JSON text those that leave UTF-8, for it lies within another one."""
    return TEXT[0](random, text)


def odd_layout(random: Random, text: bytes) -> bytes:
    return TEXT[-1](random, text)


TEXT_THAT_STAYS_TEXT = (twice_key, odd_layout)


def _read(folder: Path) -> str | None:
    state = load_state(folder / FILE)
    return None if isinstance(state, dict) else f"a state that is a {type(state).__name__}"
