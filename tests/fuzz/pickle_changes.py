"""What happens to pickles: parts that are shared, endless or calls, arrays that lie, opcodes out of place."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

from tests.fuzz.drafts import Change
from tests.fuzz.pickling import Array, Code
from tests.fuzz.trees import tree_changes


def shared(random: Random) -> Any:
    """A list whose parts are the same object, level upon level: small in the file, endless when unfolded."""
    node: Any = [random.choice((0.0, 0, "x", None))]
    for _ in range(random.choice((3, 10, 40, 45))):
        node = [node] * random.choice((2, 2, 2, 12))
    return node


def shared_rows(random: Random) -> Any:
    row = [0.0] * 35
    return [row] * random.choice((3, 2000, 20_000))


def shared_table(random: Random) -> Any:
    """A table of many rows that are few: as large as may be, and larger."""
    part = [[0.0] * random.choice((36, 500, 3000))] * 1000
    return [row for _ in range(random.choice((1, 20))) for row in part]


def holds_itself(random: Random) -> Any:
    node: Any = random.choice(([], {}))
    inner = random.choice((node, [node], {"a": node}))
    if isinstance(node, list):
        node.append(inner)
    else:
        node["a"] = inner
    return node


def deep(random: Random) -> Code:
    depth = random.choice((20, 60, 900, 20_000))
    layer = random.choice((b"a", b"\x85", b"d"))
    if layer == b"a":
        return Code(b"]" * depth + b"a" * (depth - 1))
    return Code(b")" + b"\x85" * depth if layer == b"\x85" else b"(K\x01" * depth + b"N" + b"d" * depth)


def long_integer(random: Random) -> Code:
    size = random.choice((300, 5000, 200_000))
    decimal = b"L" + b"9" * random.choice((50, 4000, 5000)) + b"L\n"
    return random.choice(
        (Code(b"\x8b" + struct.pack("<i", size) + b"\x7f" * size), Code(decimal), Code(b"\x8b" + struct.pack("<i", -5)))
    )


GLOBALS = (
    *(
        b"os\nsystem",
        b"builtins\neval",
        b"builtins\ngetattr",
        b"posix\nsystem",
        b"numpy\nload",
        b"collections\nOrderedDict",
    ),
    *(b"numpy\nndarray", b"numpy\ndtype", b"numpy.core.multiarray\nscalar", b"_codecs\nencode", b"builtins\nbytearray"),
    *(
        b"builtins\nbytes",
        b"joblib.numpy_pickle\nNumpyArrayWrapper",
        b"numpy._core.numeric\n_frombuffer",
        b"\x1b[2J\nx\x07",
    ),
    *(b"numpy.core.multiarray\n_reconstruct", b"joblib.numpy_pickle\nNDArrayWrapper", b"", b"a" * 5000 + b"\nb"),
)


def named(random: Random) -> Code:
    return Code(b"c" + random.choice(GLOBALS) + b"\n")


def called(random: Random) -> Code:
    arguments = b"".join(
        random.choice((b"N", b"K\x05", b"X\x02\0\0\0f8", b"C\x08" + b"\0" * 8, b"]", b"}", b")", b"(K\x02K\x03t",
                       b"X\x01\0\0\0C", b"X\x06\0\0\0latin1", b"G" + b"\x40" * 8, b"J\xff\xff\xff\x7f",
                       b"cnumpy\ndtype\nX\x02\0\0\0f4\x85R"))
        for _ in range(random.randint(0, 5))
    )  # fmt: skip
    name = b"c" + random.choice(GLOBALS) + b"\n"
    end = random.choice((b"R", b"R", b"\x81", b"R(K\x01K\x02tb", b"R}b"))
    return Code(name + b"(" + arguments + b"t" + end)


def odd_opcode(random: Random) -> Code:
    odd = (
        *(b"P1\n", b"K\x01Q", b"\x82\x01", b"\x84\xff\xff\xff\x7f", b"\x8f(K\x01\x90", b"(K\x01\x91", b"2"),
        *(b"0", b"1", b"\x97", b"\x98"),
        *(b"h\xfe", b"j\xff\xff\xff\xff", b"Nr\xff\xff\xff\xff", b"]\x94\x94\x94", b"(" * 1000, b"N." ),
        *(b"I01\n", b"Inan\n", b"Fnan\n"),
        *(b"\x8d" + b"\xff" * 8, b"\x8e" + b"\xff" * 8, b"\x96" + b"\xff" * 8, b"B\xff\xff\xff\xff", b"U\xff"),
        *(b"V\\ud800\n", b"S'\\x1b'\n"),
        *(b"i" + b"os\nsystem\n", b"(cos\nsystem\no", b"\x95" + b"\xff" * 8, b"\x80\x09", b"g9999999999\n"),
        *(b"Np99999999\n", b"\x93", b"b", b"s"),
    )  # fmt: skip
    return Code(random.choice(odd))


def copies(random: Random) -> Any:
    """One piece of bytes, made into many arrays."""
    array = Array("f8", (random.choice((1000, 30_000)),), b"\0" * 8, how="frombuffer")
    raw = Code(b"B" + struct.pack("<I", 8 * array.shape[0]) + b"\0" * (8 * array.shape[0]) + b"r\xff\xff\0\0")
    again = Code(b"j\xff\xff\0\0")
    first = Array("f8", array.shape, raw, how="frombuffer")
    return [first, *(Array("f8", array.shape, again, how="frombuffer") for _ in range(random.choice((10, 300))))]


def odd_array(random: Random) -> Array:
    descr = random.choice(
        (
            "f8",
            "f4",
            "f2",
            "i1",
            "u8",
            "b1",
            "O8",
            "S3",
            "U1",
            "V4",
            "V0",
            "S0",
            "c16",
            "M8",
            "f4,i4",
            "f3",
            "",
            "x" * 999,
        )
    )
    shape = random.choice(
        ((3, 29), (3,), (), (0,), (-1,), (-1, 29), (3, 10**9), (2**62, 4), (0, 2**62), (3, 29, 1), (1,) * 40, (1.0,),
         ("3",), None, 3, [3, 29], (True, 3), (10**40,), (29, 3))
    )  # fmt: skip
    raw = random.choice((b"\0" * (3 * 29 * 8), b"\0" * (3 * 29 * 4), b"", b"\0" * 7, "text", [1.0] * 87, None))
    how = random.choice(("reconstruct", "frombuffer", "joblib"))
    return Array(
        descr,
        shape,
        raw,
        random.choice((False, True, None, "F")),
        how,
        random.choice(("<", ">", "|", "=", "x", None, 1)),
    )


ODD = (
    shared,
    shared,
    shared_rows,
    shared_table,
    holds_itself,
    deep,
    long_integer,
    named,
    called,
    odd_opcode,
    copies,
    odd_array,
    odd_array,
)
PICKLE_TREE: tuple[Change, ...] = tree_changes(ODD * 2)


def same_clips(random: Random, content: Any) -> Any:
    """Many names for one clip."""
    if isinstance(content, dict) and content:
        one = random.choice(list(content.values()))
        return {**content, **{f"clip {number}": one for number in range(random.choice((2, 60, 1000)))}}
    return content


def _lie(random: Random, content: Any) -> Any:
    if isinstance(content, dict):
        arrays = [key for key, value in content.items() if isinstance(value, Array)]
        inner = [key for key, value in content.items() if isinstance(value, dict)]
        if arrays:
            key = random.choice(arrays)
            given, odd = content[key], odd_array(random)
            kept = {
                name: getattr(given, name)
                for name in random.sample(("descr", "shape", "raw", "fortran", "how", "order"), 5)
            }
            return {**content, key: Array(**{**vars(odd), **kept})}
        if inner:
            key = random.choice(inner)
            return {**content, key: _lie(random, content[key])}
    return content


def lying_array(random: Random, content: Any) -> Any:
    return _lie(random, content)


OBJECTS: tuple[Change, ...] = (*PICKLE_TREE, same_clips, lying_array, lying_array, lying_array)


def lost_opcode(random: Random, code: list[bytes]) -> list[bytes]:
    place = random.randrange(len(code))
    return code[:place] + code[place + 1 :]


def twice_opcode(random: Random, code: list[bytes]) -> list[bytes]:
    place = random.randrange(len(code))
    return code[:place] + [code[place]] * random.choice((2, 2, 2000)) + code[place + 1 :]


def moved_opcode(random: Random, code: list[bytes]) -> list[bytes]:
    one, other = random.randrange(len(code)), random.randrange(len(code))
    changed = list(code)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def added_opcode(random: Random, code: list[bytes]) -> list[bytes]:
    place = random.randrange(len(code))
    added = random.choice((odd_opcode, odd_opcode, called, named, long_integer, deep))(random)
    return [*code[:place], added.code, *code[place:]]


OPCODES: tuple[Change, ...] = (lost_opcode, twice_opcode, moved_opcode, added_opcode, added_opcode)
