"""Pickles written opcode by opcode, so that they can share, recur, lie and call as no pickler would."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Array:
    """An array as a pickle holds it: what is said of its bytes need not be true."""

    descr: str
    shape: Any
    raw: Any
    fortran: Any = False
    how: str = "reconstruct"
    order: Any = "<"

    @staticmethod
    def of(values: Any, how: str = "reconstruct") -> Array:
        array = np.ascontiguousarray(values)
        return Array(array.dtype.str[1:], array.shape, array.tobytes(), how=how)


@dataclass(frozen=True)
class Code:
    """Opcodes that leave one object on the stack."""

    code: bytes


def to_opcodes(content: Any) -> list[bytes]:
    """The program that makes ``content``; what is the same object there is made once."""
    writer = _Writer()
    writer.write(content)
    return [b"\x80\x04", *writer.out, b"."]


class _Writer:
    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.known: dict[int, tuple[int, Any]] = {}

    def write(self, node: Any) -> None:
        if isinstance(node, (dict, list)):
            self._container(node)
        elif isinstance(node, tuple):
            self.out.append(b"(")
            for part in node:
                self.write(part)
            self.out.append(b"t")
        elif isinstance(node, Array):
            self._array(node)
        else:
            self.out.append(node.code if isinstance(node, Code) else _plain(node))

    def _container(self, node: Any) -> None:
        if id(node) in self.known:
            self.out.append(b"j" + struct.pack("<I", self.known[id(node)][0]))
            return
        self.known[id(node)] = (len(self.known), node)
        self.out += [b"}" if isinstance(node, dict) else b"]", b"r" + struct.pack("<I", len(self.known) - 1), b"("]
        parts = [each for item in node.items() for each in item] if isinstance(node, dict) else node
        for part in parts:
            self.write(part)
        self.out.append(b"u" if isinstance(node, dict) else b"e")

    def _array(self, array: Array) -> None:
        if array.how == "frombuffer":
            self.out.append(b"cnumpy._core.numeric\n_frombuffer\n")
            self.write((array.raw, _dtype(array), array.shape, "F" if array.fortran else "C"))
            self.out.append(b"R")
        elif array.how == "joblib":
            self.out += [b"cjoblib.numpy_pickle\nNumpyArrayWrapper\n", b")", b"\x81"]
            about = {
                "subclass": Code(b"cnumpy\nndarray\n"),
                "shape": array.shape,
                "order": "F" if array.fortran else "C",
            }
            self.write({**about, "dtype": _dtype(array), "allow_mmap": False, "numpy_array_alignment_bytes": None})
            self.out += [b"b", array.raw if isinstance(array.raw, bytes) else b""]
        else:
            self.out.append(b"cnumpy.core.multiarray\n_reconstruct\n")
            self.write((Code(b"cnumpy\nndarray\n"), (0,), b"b"))
            self.out.append(b"R")
            self.write((1, array.shape, _dtype(array), array.fortran, array.raw))
            self.out.append(b"b")


def _dtype(array: Array) -> Code:
    writer = _Writer()
    writer.write((array.descr, False, True))
    state = _Writer()
    state.write((3, array.order, None, None, None, -1, -1, 0))
    return Code(b"cnumpy\ndtype\n" + b"".join(writer.out) + b"R" + b"".join(state.out) + b"b")


def _plain(value: Any) -> bytes:
    if value is None or isinstance(value, bool):
        return b"N" if value is None else b"\x88" if value else b"\x89"
    if isinstance(value, int):
        if 0 <= value < 256:
            return b"K" + bytes([value])
        content = pickle.encode_long(value)
        return (
            b"\x8a" + bytes([len(content)]) if len(content) < 256 else b"\x8b" + struct.pack("<i", len(content))
        ) + content
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return b"B" + struct.pack("<I", len(value)) + value
    text = str(value).encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(text)) + text
