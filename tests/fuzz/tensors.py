"""safetensors, written by hand: headers that lie about kinds, shapes, places and their own length."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.documents import deep_json, long_number, to_json
from tests.fuzz.drafts import Change
from tests.fuzz.trees import TEXTS, tree_changes


@dataclass(frozen=True)
class Tensors:
    """A file's header as a tree, and the bytes behind it."""

    header: dict[str, Any]
    data: bytes
    length: int | None = None
    padding: int = 0
    tail: bytes = field(default=b"")

    @staticmethod
    def parse(content: bytes) -> Tensors:
        (length,) = struct.unpack("<Q", content[:8])
        return Tensors(json.loads(content[8 : 8 + length]), content[8 + length :])

    def copy(self) -> Tensors:
        return replace(self, header=json.loads(json.dumps(self.header)))

    def encode(self) -> bytes:
        text = to_json(self.header) + b" " * self.padding
        length = len(text) if self.length is None else self.length
        return struct.pack("<Q", length) + text + self.data + self.tail


def _tensor(random: Random, file: Tensors) -> dict[str, Any] | None:
    header = file.header if isinstance(file.header, dict) else {}
    known = [entry for name, entry in header.items() if name != "__metadata__" and isinstance(entry, dict)]
    return random.choice(known) if known else None


def _on_entry(key: str, odd: tuple[Any, ...]) -> Change:
    def changed(random: Random, file: Tensors) -> Tensors:
        if (entry := _tensor(random, file)) is not None:
            entry[key] = random.choice(odd)
        return file

    changed.__name__ = f"lying_{key}"
    return changed


lying_kind = _on_entry(
    "dtype",
    ("F64", "F16", "BF16", "I32", "I64", "U8", "BOOL", "F8_E4M3", "C64", "f32", "",
     None, 1, ["F32"], "\x1b[1m", "F4", "U64")
)  # fmt: skip
lying_shape = _on_entry(
    "shape",
    (
        [], [0], [1], [2**40], [2**62, 0], [-1], [1.0], [True], ["4"], None, 4, [[4]], [2**63, 2],
        [2**32, 2**32], [1] * 1000, [4, 4],
        [12], [10**30], [2**62, 4],
    ),
)  # fmt: skip
lying_offsets = _on_entry(
    "data_offsets",
    (
        [0, 0],
        [0, 4],
        [4, 0],
        [0, 2**40],
        [-4, 0],
        [0, 16],
        [0.0, 4.0],
        None,
        [0],
        [0, 1, 2],
        [2**63, 2**63 + 4],
        ["0", "4"],
        [1, 5],
    ),
)


def overlapping(random: Random, file: Tensors) -> Tensors:
    one, other = _tensor(random, file), _tensor(random, file)
    if one is not None and other is not None:
        one["data_offsets"] = other.get("data_offsets")
    return file


def odd_name(random: Random, file: Tensors) -> Tensors:
    if isinstance(file.header, dict) and file.header:
        name = random.choice(list(file.header))
        file.header[random.choice((*TEXTS, "__metadata__", name + ".x"))] = file.header.pop(name)
    return file


def odd_metadata(random: Random, file: Tensors) -> Tensors:
    odd = (
        None,
        [],
        {},
        {"a": 1},
        {"a": None},
        {"format": "x" * 9000},
        "text",
        {"\x1b[1m": "\x07"},
        {"state": "{}"},
        {"state": "["},
    )
    if isinstance(file.header, dict):
        file.header["__metadata__"] = random.choice(odd)
    return file


def more_tensors(random: Random, file: Tensors) -> Tensors:
    if isinstance(file.header, dict):
        end = len(file.data)
        for number in range(random.choice((1, 2, 500))):
            file.header[f"extra.{number}"] = {"dtype": "F32", "shape": [0], "data_offsets": [end, end]}
    return file


def odd_floats(random: Random, file: Tensors) -> Tensors:
    values = np.frombuffer(file.data[: len(file.data) // 4 * 4], "<f4").copy()
    if len(values):
        values[random.randrange(len(values)) :: random.choice((1, 7, 10**9))] = random.choice(
            (np.nan, np.inf, 3e38, 1e-45, 0.0)
        )
    return replace(file, data=values.tobytes())


def lying_header_length(random: Random, file: Tensors) -> Tensors:
    return replace(file, length=random.choice((0, 1, 2, 7, 100, 2**16, 2**32, 2**63, 2**64 - 1, len(file.data) + 500)))


def padded_header(random: Random, file: Tensors) -> Tensors:
    return replace(file, padding=random.choice((1, 7, 1000, 2**20)))


def other_amount(random: Random, file: Tensors) -> Tensors:
    odd = (file.data[:-1], file.data[:-4], b"", file.data + b"\0\0\0\0", file.data * 2)
    return replace(file, data=random.choice(odd))


def _in_header(change: Change) -> Change:
    def changed(random: Random, file: Tensors) -> Tensors:
        return replace(file, header=change(random, file.header))

    changed.__name__ = f"header_{change.__name__}"
    return changed


TENSORS: tuple[Change, ...] = (
    *(
        lying_kind,
        lying_shape,
        lying_offsets,
        overlapping,
        odd_name,
        odd_metadata,
        more_tensors,
        odd_floats,
        other_amount,
    ),
    *(lying_header_length, padded_header),
    *map(_in_header, tree_changes((deep_json, long_number))[:10]),
)
