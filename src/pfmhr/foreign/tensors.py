"""safetensors: what a file says it holds, looked at before a network of that size is made or a tensor is read."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.foreign.documents import parse_json
from pfmhr.foreign.opening import require_file

MAX_HEADER_BYTES = 16 * 2**20
_LENGTH = 8
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_LFS = b"version https://git-lfs"


@dataclass(frozen=True)
class TensorLayout:
    """Kind and shape of one tensor."""

    kind: str
    """As safetensors writes it: F32, I64, …"""
    shape: tuple[int, ...]


def read_layout(path: Path, code: str) -> dict[str, TensorLayout]:
    """The tensors that a safetensors file promises, by name; the file is as long as they need.

    Raises:
        FileNotFoundError: it is not there.
        InputError: of this ``code``: no safetensors file, or one that was cut.
    """
    size = require_file(path)
    with open(path, "rb") as handle:
        start = handle.read(max(_LENGTH, len(_LFS)))
        if start.startswith(_LFS):
            fix = "Run `git lfs pull`."
            raise InputError("this is a Git-LFS pointer, not the weights", where=path, fix=fix, code="lfs_pointer")
        length = int.from_bytes(start[:_LENGTH], "little")
        if not 2 <= length <= min(MAX_HEADER_BYTES, size - _LENGTH):
            raise _foreign(path, code, "no header")
        handle.seek(_LENGTH, os.SEEK_SET)
        header = handle.read(length)
    try:
        content = parse_json(header, code)
    except InputError as error:
        raise _foreign(path, code, "no header") from error
    layouts = {name: _tensor(name, about, path, code) for name, about in _entries(content, path, code)}
    _require_length(layouts, size - _LENGTH - length, path, code)
    return layouts


def _entries(content: object, path: Path, code: str) -> list[tuple[str, object]]:
    if not isinstance(content, dict):
        raise _foreign(path, code, "no header")
    return [(name, about) for name, about in content.items() if name != "__metadata__"]


def _tensor(name: str, about: object, path: Path, code: str) -> TensorLayout:
    entry = about if isinstance(about, dict) else {}
    kind, shape = entry.get("dtype"), entry.get("shape")
    plain = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
    if not isinstance(kind, str) or kind not in _SIZES or not plain:
        raise _foreign(path, code, f"'{name}' has no kind or shape")
    return TensorLayout(kind, tuple(shape))  # type: ignore[arg-type]


def _require_length(layouts: Mapping[str, TensorLayout], rest: int, path: Path, code: str) -> None:
    promised = sum(_SIZES[each.kind] * math.prod(each.shape) for each in layouts.values())
    if promised != rest:
        raise _foreign(path, code, f"{rest:,} bytes where {promised:,} are promised")


def _foreign(path: Path, code: str, reason: str) -> InputError:
    return InputError(f"truncated or foreign weights: {reason}", where=path, fix="Download them again.", code=code)
