"""Nested states on disk, to the bit."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from pfmhr.learning.state import load_state, save_state

from ..score.priors import refused


def same(found: Any, expected: Any) -> bool:
    """Equal with types, keys in order and tensors to the bit; tuples come back as lists."""
    if isinstance(expected, Tensor):
        return isinstance(found, Tensor) and found.dtype == expected.dtype and torch.equal(found, expected)
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(same(found[key], part) for key, part in expected.items())
    if isinstance(expected, list | tuple):
        return type(found) is list and len(found) == len(expected) and all(map(same, found, expected))
    return type(found) is type(expected) and found == expected


def round_trip(path: Path, state: dict[str, Any]) -> dict[str, Any]:
    save_state(path, state)
    return load_state(path)


def test_nested_states_come_back(tmp_path: Path) -> None:
    state = {
        "optimiser": {"state": {0: {"step": torch.tensor(3.0)}, 1: {"buffer": None}}, "groups": [{"lr": 1e-4}]},
        "interval": (0.1, 0.2),
        "numbers": [1, 2.5, True, None, "text", math.pi],
        "empty": {"dict": {}, "list": [], "tensor": torch.zeros(0, 4)},
        "rows": torch.arange(12, dtype=torch.int64).view(3, 4),
        "flags": torch.tensor([True, False]),
        "random": torch.get_rng_state(),
        "half": torch.tensor([1.5], dtype=torch.float16),
    }
    assert same(round_trip(tmp_path / "state", state), state)


def test_numbers_and_texts_as_keys_stay_apart(tmp_path: Path) -> None:
    state = {1: torch.tensor([1.0]), "1": torch.tensor([2.0])}
    assert same(round_trip(tmp_path / "state", state), state)


def test_names_with_dots_stay_apart(tmp_path: Path) -> None:
    state = {"a": {"b": torch.tensor([1.0])}, "a.b": torch.tensor([2.0]), "c": [torch.tensor([3.0])], "c.0": None}
    assert same(round_trip(tmp_path / "state", state), state)


def test_tensors_that_share_memory_are_saved(tmp_path: Path) -> None:
    whole = torch.arange(10.0)
    state = {"whole": whole, "part": whole[2:5], "across": whole.view(2, 5).T}
    assert same(round_trip(tmp_path / "state", state), state)


def test_numbers_that_are_none_come_back(tmp_path: Path) -> None:
    found = round_trip(tmp_path / "state", {"nan": math.nan, "tensor": torch.tensor([math.nan, -math.inf])})
    assert math.isnan(found["nan"]) and torch.isnan(found["tensor"][0]) and found["tensor"][1] == -math.inf


def test_an_optimiser_goes_on_from_its_state(tmp_path: Path) -> None:
    def stepped(steps: int, state: dict[str, Any] | None = None) -> tuple[Tensor, dict[str, Any]]:
        weight = torch.nn.Parameter(torch.ones(3) if state is None else state["weight"])
        optimiser = torch.optim.AdamW([weight], lr=0.1)
        if state is not None:
            optimiser.load_state_dict(state["optimiser"])
        for _ in range(steps):
            optimiser.zero_grad()
            weight.pow(4).sum().backward()
            optimiser.step()
        return weight.detach(), {"weight": weight, "optimiser": optimiser.state_dict()}

    _, state = stepped(3)
    assert torch.equal(stepped(2, round_trip(tmp_path / "state", state))[0], stepped(5)[0])


def test_saving_again_replaces_all(tmp_path: Path) -> None:
    save_state(tmp_path / "deep" / "state", {"old": torch.ones(3)})
    assert same(round_trip(tmp_path / "deep" / "state", {"new": 1}), {"new": 1})
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["state"]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "state"
    save_state(path, {"rows": torch.randn(100, 7), "step": 3})
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with refused("bad_checkpoint", "not a saved state", str(path)):
        load_state(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with refused("bad_checkpoint", "not a saved state", "nowhere"):
        load_state(tmp_path / "nowhere")


@pytest.mark.parametrize("shape", [None, "", "{", "5", '"text"', '{"tensor": "gone"}', '{"items": 3}', "[]", "{}"])
def test_what_others_wrote_is_refused(tmp_path: Path, shape: str | None) -> None:
    path = tmp_path / "state"
    safetensors.torch.save_file({"rows": torch.ones(2)}, path, None if shape is None else {"state": shape})
    with refused("bad_checkpoint", "not a saved state"):
        load_state(path)


def test_noise_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(random.Random(0).randbytes(4000))
    with refused("bad_checkpoint", "not a saved state"):
        load_state(tmp_path / "state")
