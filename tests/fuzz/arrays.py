"""npy files, written by hand: arrays of odd kinds and shapes, headers that lie."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.drafts import Change
from tests.fuzz.trees import TEXTS

Arrays = dict[str, Any]
"""Values by name: numpy arrays, later bytes of npy files."""
LIMIT = 32 * 2**20
"""Bytes that readers are told to unpack at most; bombs are larger."""
KINDS = ("<f2", "<f8", ">f4", "<i1", "<u8", "?", "S3", "U2", "<c8", "M8[s]", "m8[ms]", "V4", "O", "<f16")


def _on_array(name: str, change: Any) -> Change:
    def changed(random: Random, arrays: Arrays) -> Arrays:
        key = random.choice(list(arrays)) if arrays else "qpos"
        with np.errstate(all="ignore"):
            return {**arrays, key: change(random, np.asarray(arrays.get(key, 0)))}

    changed.__name__ = name
    return changed


def _other_kind(random: Random, array: np.ndarray) -> np.ndarray:
    kind = random.choice(KINDS)
    try:
        return array.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(array.shape, kind)


def _other_shape(random: Random, array: np.ndarray) -> np.ndarray:
    array = np.atleast_1d(array)
    if not array.size:
        return np.zeros(random.choice(((3, 29), (), (2**40, 0))))
    flat = array.reshape(-1)
    shapes = (
        flat, array[None], array[..., None], array.T, array[:0], flat[:1], array[..., :-1],
        np.concatenate([flat, flat]), flat[:1].reshape((1,) * 40 if random.random() < 0.2 else (1,) * 3),
        np.zeros((0, 29)), np.zeros((3, 0)), np.zeros((2**40, 0)), np.broadcast_to(flat[:1], (3, 29)),
    )  # fmt: skip
    return random.choice(shapes)


def _odd_numbers(random: Random, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "fi" or not array.size:
        return np.array(random.choice((np.nan, -1.0, 0.0, 1e300, 30, 2)))
    value = random.choice((np.nan, np.inf, -np.inf, 1e300, -1e300, 3e38, 1e-45, 1e9, 100.0, -1.0, 0.0))
    changed = np.array(array, dtype=np.float64)
    changed.reshape(-1)[random.randrange(array.size) if random.random() < 0.6 else slice(None)] = value
    return changed


def _odd_texts(random: Random, array: np.ndarray) -> np.ndarray:
    names = [str(part) for part in array.reshape(-1)[:40].tolist()] or ["x"]
    names[random.randrange(len(names))] = random.choice((*TEXTS, names[0])).replace("\ud800", "\udc80")
    return np.array(names) if random.random() < 0.7 else np.array([name.encode("utf-8", "replace") for name in names])


def lost_array(random: Random, arrays: Arrays) -> Arrays:
    gone = random.choice(list(arrays)) if arrays else ""
    return {key: value for key, value in arrays.items() if key != gone}


def added_array(random: Random, arrays: Arrays) -> Arrays:
    names = (
        "qpos",
        "joint_names",
        "fps",
        "loop",
        "body_pos_w",
        "header",
        "channel0_motion1",
        "x" * 300,
        "\x1b[1m",
        "a/b",
    )
    return {**arrays, random.choice(names): random.choice((np.zeros((3, 36)), np.array(["x"]), np.float64(30.0)))}


def exchanged_arrays(random: Random, arrays: Arrays) -> Arrays:
    if len(arrays) < 2:
        return arrays
    one, other = random.sample(list(arrays), 2)
    return {**arrays, one: arrays[other], other: arrays[one]}


ARRAYS: tuple[Change, ...] = (
    *(_on_array("other_kind", _other_kind), _on_array("other_shape", _other_shape)),
    *(_on_array("odd_numbers", _odd_numbers), _on_array("odd_texts", _odd_texts)),
    *(lost_array, added_array, exchanged_arrays),
)


@dataclass(frozen=True)
class Npy:
    """A npy file: header and bytes need not agree."""

    descr: str
    order: str
    shape: str
    raw: bytes
    version: tuple[int, int] = (1, 0)
    header: str | None = None
    length: int | None = None

    @staticmethod
    def of(array: Any) -> Npy:
        values = np.asarray(array)
        fortran = values.ndim > 1 and values.flags.f_contiguous and not values.flags.c_contiguous
        raw = b"\x80\x04N." if values.dtype.hasobject else values.tobytes("A")
        return Npy(repr(values.dtype.str), str(fortran), str(values.shape), raw)

    def encode(self) -> bytes:
        header = self.header
        if header is None:
            header = f"{{'descr': {self.descr}, 'fortran_order': {self.order}, 'shape': {self.shape}, }}"
        text = header.encode("latin-1", "replace")
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        layout = "<H" if self.version[0] == 1 else "<I"
        length = len(text) if self.length is None else self.length
        start = b"\x93NUMPY" + bytes(self.version) + struct.pack(layout, length % 2 ** (8 * struct.calcsize(layout)))
        return start + text + self.raw


def _odd_descr(random: Random, npy: Npy) -> Npy:
    odd = (
        *(
            "'|S0'",
            "'<U0'",
            "'|V0'",
            "'|O'",
            "'<f3'",
            "'f'",
            "'>f8'",
            "'<c16'",
            "''",
            "'\\x1b[2J'",
            "'x' * 9",
            "None",
            "1",
        ),
        *(
            "[('a', '<f4')]",
            "('<f4', (3,))",
            "('<f4', (100000, 100000))",
            "[('a', '<f4')] * 2",
            "{'names': []}",
            "'S' + '9'",
        ),
        *("'|S2147483647'", "'<U536870911'", "'|V99999999'", "'<f4,<i4'", "'a10'", "'Q'", "'<M8[25s]'", "'<M8[0s]'"),
    )
    return replace(npy, descr=random.choice(odd))


def _odd_shape(random: Random, npy: Npy) -> Npy:
    odd = (
        *(
            "(300000000,)",
            "(3, 1000000000)",
            "(-1,)",
            "(-3, -29)",
            f"({2**63},)",
            f"({2**31}, {2**31}, 4)",
            "(True, 3)",
        ),
        *(
            "()",
            "(3.0,)",
            "('3',)",
            "3",
            "[3, 29]",
            "(0, 99999999999)",
            f"(0, {2**62}, {2**62})",
            "None",
            f"({10**40},)",
        ),
        *("(" + "1," * 33 + ")", "(" + "1," * 3000 + ")", "(3, 29,", "(2, 29)", "(29, 3)", "(((3,),),)"),
    )
    return replace(npy, shape=random.choice(odd))


def _odd_header(random: Random, npy: Npy) -> Npy:
    deep = random.choice((90, 300, 3000))
    odd = (
        *(
            "",
            "{",
            "[]",
            "{'descr': '<f4'}",
            "__import__('os').getcwd()",
            "{**{}}",
            "1 if 1 else 2",
            "é",
            "\0" * 50,
            "'" * 50,
        ),
        *(
            "(" * deep,
            "{'a':" * deep + "1" + "}" * deep,
            "-" * deep + "1",
            "9" * 6000,
            " " * 60_000,
            "{'a': 1" + ",\n" * 4000,
        ),
        *(
            "{'descr': '<f4', 'fortran_order': 1, 'shape': (3,)}",
            "\\\n",
            "{'shape': (1L,), 'descr': '<f4', 'fortran_order': 0}",
        ),
    )
    return replace(npy, header=random.choice(odd), version=random.choice(((1, 0), (2, 0))))


def _other_version(random: Random, npy: Npy) -> Npy:
    return replace(npy, version=random.choice(((2, 0), (3, 0), (0, 0), (9, 9), (1, 1))))


def _lying_length(random: Random, npy: Npy) -> Npy:
    return replace(
        npy, length=random.choice((0, 1, 10, 2**16 - 1, 2**32 - 1, 40)), version=random.choice(((1, 0), (2, 0)))
    )


def _other_order(random: Random, npy: Npy) -> Npy:
    return replace(npy, order=random.choice(("True", "False", "None", "1", "'C'")))


def _less_or_more(random: Random, npy: Npy) -> Npy:
    return replace(
        npy, raw=random.choice((npy.raw[:-1], npy.raw + b"\0", b"", npy.raw * 3, npy.raw[: len(npy.raw) // 2]))
    )


def _on_npy(change: Any) -> Change:
    def changed(random: Random, arrays: Arrays) -> Arrays:
        key = random.choice(list(arrays)) if arrays else "qpos"
        return {**arrays, key: change(random, arrays.get(key) or Npy.of(0.0))}

    changed.__name__ = change.__name__.lstrip("_")
    return changed


NPY: tuple[Change, ...] = tuple(
    map(_on_npy, (_odd_descr, _odd_shape, _odd_header, _other_version, _lying_length, _other_order, _less_or_more))
)


def npy_of_all(arrays: Arrays) -> Arrays:
    return {name: Npy.of(value) for name, value in arrays.items()}
