"""Nested states of a run as one safetensors file: tensors as they are, numbers beside them, no pickles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_atomically
from pfmhr.foreign import parse_json, require_file


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write nested dictionaries and lists of tensors, numbers, texts and None; whole or not at all."""
    tensors: dict[str, Tensor] = {}
    shape = _apart(state, "", tensors)
    # safetensors refuses tensors that share memory; each gets its own.
    data = safetensors.torch.save(
        {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()},
        {"state": json.dumps(shape)},
    )
    make_folder(path.parent)
    write_atomically(path, lambda handle: handle.write(data))


def load_state(path: Path) -> dict[str, Any]:
    """What :func:`save_state` wrote."""
    try:
        require_file(path)
        with safe_open(path, framework="pt") as handle:
            shape = parse_json((handle.metadata() or {})["state"], "bad_checkpoint")
        return _together(shape, safetensors.torch.load_file(path))
    except InputError as error:
        what = f"not a saved state: {error.what}"
        raise InputError(what, where=path, got=error.got, code="bad_checkpoint") from error
    except RecursionError:
        raise InputError("not a saved state: nested too deep", where=path, code="bad_checkpoint") from None
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise InputError(f"not a saved state: {error}", where=path, code="bad_checkpoint") from error


def _apart(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """The value with every tensor moved to ``tensors`` and its name left in its place."""
    if isinstance(value, Tensor):
        while name in tensors:
            name += "'"  # keys 1 and "1", or "a.b" and "b" within "a"
        tensors[name] = value
        return {"tensor": name}
    if isinstance(value, dict):
        # Keys may be numbers (optimiser states), which JSON would turn into texts.
        return {"items": [[key, _apart(part, f"{name}.{key}", tensors)] for key, part in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_apart(part, f"{name}.{index}", tensors) for index, part in enumerate(value)]}
    return {"value": value}


def _together(shape: Any, tensors: dict[str, Tensor]) -> Any:
    if "tensor" in shape:
        return tensors[shape["tensor"]]
    if "items" in shape:
        return {key: _together(part, tensors) for key, part in shape["items"]}
    if "list" in shape:
        return [_together(part, tensors) for part in shape["list"]]
    return shape["value"]
