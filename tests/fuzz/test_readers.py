"""Whatever the bytes, a reader returns motions or raises InputError, and checks then have an answer.

``pytest tests/fuzz --hypothesis-profile=long`` searches for minutes.
"""

from __future__ import annotations

import io
import pickletools
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import check_paths
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.motion.safe_pickle import load_plain
from pfmhr.robots import Robot

LABELS = [
    "pfmhr", "unitree_csv", "unitree_csv_gz", "bones_seed", "mimickit", "gmr", "gmr_protocol_5", "asap", "asap_zlib",
    "mjlab", "holosoma", "isaac", "qpos", "omniretarget",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def bounded_memory() -> Iterator[None]:
    """A file that claims gigabytes must fail here, not take the machine down."""
    resource = pytest.importorskip("resource", reason="memory limits need a Unix")
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("the memory in use is only known on Linux")
    used = int(statm.read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture(scope="module")
def valid(raw: Any, g1: Robot, make_walk: Callable[..., Motion]) -> dict[str, bytes]:
    files = raw.one_of_each(make_walk(frames=4), g1)
    assert list(files) == LABELS
    return files


@pytest.fixture(scope="module")
def read_and_check(g1: Robot, scratch: Path) -> Callable[[bytes], list[Motion] | None]:
    def run(content: bytes) -> list[Motion] | None:
        path = scratch / "fuzz_60hz.data"
        path.write_bytes(content)
        options = ReadOptions(g1, fill_missing=True)
        reports = check_paths([path], options)
        assert all(fault.message for report in reports for fault in report.faults)
        try:
            motions = read_motions(path, options)
        except InputError as error:
            assert error.code
            assert str(error).startswith(f"{path}: ")
            return None
        assert all(isinstance(motion, Motion) for motion in motions)
        return motions

    return run


STARTS = {
    "nothing": b"",
    "zip": b"PK\x03\x04",
    "empty_zip": b"PK\x05\x06",
    "pickle_2": b"\x80\x02",
    "pickle_4": b"\x80\x04\x95",
    "gzip": b"\x1f\x8b\x08",
    "zlib": b"x\x9c",
    "utf16": b"\xff\xfe",
    "csv": b"0.1,0.2,",
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())
@given(rest=st.binary(max_size=200))
def test_random_bytes(read_and_check: Callable[[bytes], Any], start: bytes, rest: bytes) -> None:
    read_and_check(start + rest)


@given(text=st.text("0123456789.,-+eE \t\r\nnaif\"'_joint", max_size=300), header=st.booleans())
def test_random_text(read_and_check: Callable[[bytes], Any], text: str, header: bool) -> None:
    start = "Frame,root_translateX,root_translateY,root_translateZ,root_rotateX,root_rotateY,root_rotateZ,"
    start += "left_knee_joint_dof\n"
    read_and_check(((start if header else "") + text).encode())


@st.composite
def mutations(draw: st.DrawFn) -> list[tuple[str, float, bytes]]:
    """Up to four changes: what to do, where in the file (0 to 1), with which bytes."""
    kind = st.sampled_from(["replace", "replace", "flip", "insert", "delete", "truncate", "repeat"])
    likely = st.sampled_from([b"(", b"{", b"'", b"\n", b",", b"\r", b" ", b"nan", b"1e999", b"\xff" * 4, b"\0" * 4])
    new = st.binary(min_size=1, max_size=6) | likely
    return draw(st.lists(st.tuples(kind, st.floats(0, 1), new), min_size=1, max_size=4))


def mutate(content: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, place, new in changes:
        at = int(place * len(content))
        if kind == "replace":
            content = content[:at] + new + content[at + len(new) :]
        elif kind == "flip":
            content = content[:at] + bytes(byte ^ new[0] for byte in content[at : at + 1]) + content[at + 1 :]
        elif kind == "insert":
            content = content[:at] + new + content[at:]
        elif kind == "delete":
            content = content[:at] + content[at + len(new) :]
        elif kind == "truncate":
            content = content[:at]
        else:
            content = content[:at] + content[at : at + 40] + content[at:]
    return content


@pytest.mark.parametrize("label", LABELS)
@given(changes=mutations())
def test_mutated_files(
    read_and_check: Callable[[bytes], Any], valid: dict[str, bytes], label: str, changes: list[tuple[str, float, bytes]]
) -> None:
    read_and_check(mutate(valid[label], changes))


@pytest.mark.parametrize("label", LABELS)
def test_the_files_to_mutate_are_valid(
    read_and_check: Callable[[bytes], Any], valid: dict[str, bytes], label: str
) -> None:
    motions = read_and_check(valid[label])
    assert motions[0].num_frames == 4


# Well-formed containers with odd values in them.

SHAPES = [
    (),
    (0,),
    (4, 0),
    (0, 29),
    (4, 29),
    (3, 29),
    (4, 23),
    (4, 29, 1),
    (4, 36),
    (4, 3),
    (4, 4),
    (4, 30, 3),
    (4, 31, 3),
]
ODD_ARRAYS = [
    *(np.zeros(shape) for shape in SHAPES),
    *(np.full((4, 29), value) for value in (np.nan, -np.inf, 3e38)),
    *(np.ones((4, 29), dtype=kind) for kind in (np.int8, bool, np.float16)),
    np.full((4, 30, 3), np.inf),
    np.array([30.0]),
    np.array([30.0, 60.0]),
]
UNPICKLED_ARRAYS = [
    np.array("text"),
    np.array(["left_knee_joint"] * 29),
    np.array([b"\xff"] * 29),
    *(np.zeros((4, 29), dtype=kind) for kind in (complex, "M8[s]", "f8,i4", "V8")),
]
ODD_OBJECTS = [
    *(None, True, 0, -1, 10**40, 1e300, float("nan"), "", "text", b"raw", [], {}, [None]),
    [[1.0], [2.0, 3.0]],
    [["a"] * 35] * 4,
    {"fps": 30},
]
KEYS = {
    "pfmhr": ["joint_pos", "joint_names", "fps", "root_pos", "root_quat", "loop"],
    "mjlab": ["joint_pos", "joint_names", "fps", "body_pos_w", "body_quat_w"],
    "holosoma": ["joint_pos", "joint_vel", "joint_names", "body_names", "fps", "body_pos_w", "body_quat_w"],
    "qpos": ["qpos", "joint_names", "fps"],
    "mimickit": ["loop_mode", "fps", "frames"],
    "gmr": ["fps", "root_pos", "root_rot", "dof_pos"],
    "asap": ["motion", "fps", "dof", "root_rot", "root_trans_offset"],
}


@pytest.mark.parametrize("label", KEYS)
@given(data=st.data())
def test_odd_values(
    read_and_check: Callable[[bytes], Any], valid: dict[str, bytes], raw: Any, label: str, data: st.DataObject
) -> None:
    packed = label in ("pfmhr", "mjlab", "holosoma", "qpos")
    values = st.sampled_from(ODD_ARRAYS) | st.sampled_from(UNPICKLED_ARRAYS if packed else ODD_OBJECTS)
    changes = data.draw(st.dictionaries(st.sampled_from(KEYS[label]), values, min_size=1, max_size=3))
    if packed:
        with np.load(io.BytesIO(valid[label])) as archive:
            content = raw.npz(**{**archive, **changes})
    else:
        original = load_plain(valid[label])
        if label == "asap" and "motion" not in changes:
            changes = {"motion": {**original["motion"], **changes}}
        content = raw.pickled({**original, **changes})
    read_and_check(content)


# Random pickle programs. Arguments are drawn by the opcode's own description.

GLOBALS = [
    "numpy ndarray", "numpy dtype", "numpy.core.multiarray _reconstruct", "numpy._core.multiarray scalar",
    "numpy._core.numeric _frombuffer", "_codecs encode", "collections OrderedDict", "builtins bytearray",
    "joblib.numpy_pickle NumpyArrayWrapper", "os system",
]  # fmt: skip
TEXT = st.sampled_from(
    [*" ".join(GLOBALS).split(), "f8", "<i4", "O", "latin1", "dtype", "shape", "order", "C", "é", ""]
)
RAW = st.one_of(st.binary(max_size=20), TEXT.map(str.encode))
SMALL = st.integers(0, 5)


def counted(layout: str) -> st.SearchStrategy[bytes]:
    """A length and that many bytes; sometimes the length lies."""
    size = {"<B": 2**8, "<I": 2**32, "<i": 2**31, "<Q": 2**64}[layout]
    honest = RAW.map(lambda content: struct.pack(layout, len(content)) + content)
    lie = st.builds(lambda length, content: struct.pack(layout, length) + content, st.integers(0, size - 1), RAW)
    return honest | honest | honest | lie


ARGUMENTS: dict[str, st.SearchStrategy[bytes]] = {
    "uint1": SMALL.map(lambda number: bytes([number])) | st.binary(min_size=1, max_size=1),
    "uint2": st.integers(0, 2**16 - 1).map(lambda number: struct.pack("<H", number)),
    "int4": st.one_of(SMALL, st.integers(-(2**31), 2**31 - 1)).map(lambda number: struct.pack("<i", number)),
    "uint4": st.one_of(SMALL, st.integers(0, 2**32 - 1)).map(lambda number: struct.pack("<I", number)),
    "uint8": st.one_of(SMALL, st.integers(0, 2**64 - 1)).map(lambda number: struct.pack("<Q", number)),
    "float8": st.floats().map(lambda number: struct.pack(">d", number)),
    "stringnl": TEXT.map(lambda text: f"'{text}'\n".encode()),
    "stringnl_noescape": TEXT.map(lambda text: f"{text}\n".encode()),
    "stringnl_noescape_pair": st.sampled_from(GLOBALS).map(lambda name: name.replace(" ", "\n").encode() + b"\n"),
    "unicodestringnl": TEXT.map(lambda text: f"{text}\n".encode("raw-unicode-escape")),
    "decimalnl_short": st.integers(-3, 300).map(lambda number: f"{number}\n".encode()),
    "decimalnl_long": st.integers().map(lambda number: f"{number}L\n".encode()),
    "floatnl": st.floats().map(lambda number: f"{number}\n".encode()),
    **{name: counted("<B") for name in ("string1", "bytes1", "unicodestring1", "long1")},
    **{name: counted("<I") for name in ("bytes4", "unicodestring4")},
    **{name: counted("<i") for name in ("string4", "long4")},
    **{name: counted("<Q") for name in ("bytes8", "unicodestring8", "bytearray8")},
}


def opcode(description: Any) -> st.SearchStrategy[bytes]:
    code = description.code.encode("latin1")
    return st.just(code) if description.arg is None else ARGUMENTS[description.arg.name].map(lambda rest: code + rest)


BY_NAME = {description.name: opcode(description) for description in pickletools.opcodes}
NAMED_GLOBAL = st.sampled_from(GLOBALS).map(
    lambda name: b"".join(b"\x8c" + bytes([len(part)]) + part.encode() for part in name.split()) + b"\x93"
)
ARGUMENT = st.one_of(
    *(BY_NAME[name] for name in ("SHORT_BINUNICODE", "BININT1", "SHORT_BINBYTES")), st.just(b"K\x02\x85"), NAMED_GLOBAL
)
CALL = st.builds(
    lambda name, arguments: name + b"(" + b"".join(arguments) + b"tR", NAMED_GLOBAL, st.lists(ARGUMENT, max_size=5)
)
PROGRAM = st.lists(st.one_of(*BY_NAME.values()) | NAMED_GLOBAL | CALL, max_size=25)


@given(program=PROGRAM, protocol=st.integers(2, 5), wrapped=st.booleans())
@example(program=[b"]\x94", b"h\x00a"], protocol=4, wrapped=False)  # a list that holds itself
@example(program=[b"\x8c\x05numpy\x8c\x05dtype\x93", b"\x8c\x03f8,\x85R"], protocol=4, wrapped=False)
def test_random_pickle_programs(program: list[bytes], protocol: int, wrapped: bool) -> None:
    """With ``wrapped``, the reader for joblib's files runs the program."""
    hint = b"\x8c\x11NumpyArrayWrapper0" if wrapped else b""
    try:
        load_plain(b"\x80" + bytes([protocol]) + hint + b"".join(program) + b".")
    except InputError as error:
        assert error.code in ("unsafe_pickle", "bad_pickle", "truncated")
