"""What an artefact is known by: a hash of all that its numbers depend on, and a checksum of its config file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch

CHECKSUM = "config_sha256"
"""Entry of a config file: the checksum of all its other entries."""


def hash_of(*parts: object) -> str:
    """Hash of all that an artefact's numbers depend on: tensors by name, and anything else by its ``repr``.

    Tensors count by their bytes, the same on every device. A setting that joined later is a part only where it is
    not at its first value: what was made before keeps its hash as long as its numbers are the same.
    """
    checksum = hashlib.sha256()
    for part in parts:
        if not isinstance(part, dict):
            checksum.update(repr(part).encode())
            continue
        for name, value in sorted(part.items()):
            checksum.update(name.encode())
            checksum.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return checksum.hexdigest()


def checksum_of_config(content: Mapping[str, Any]) -> str:
    """sha256 of a config's entries, whatever their order and layout in the file."""
    entries = {name: value for name, value in content.items() if name != CHECKSUM}
    text = json.dumps(entries, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
