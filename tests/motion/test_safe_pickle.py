"""Pickles are read without running what is in them."""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.safe_pickle import load_plain

PROTOCOLS = [2, 3, 4, 5]


class Bomb:
    """A pickle of this creates a file as soon as it is unpickled by Python itself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch '{self.path}'",)


def npz_of_objects(bomb: Bomb, raw: Any) -> bytes:
    return raw.npz(fps=np.array(30), joint_pos=np.array([bomb], dtype=object))


BOMBS: dict[str, Callable[[Bomb, Any], bytes]] = {
    **{f"protocol_{protocol}": lambda bomb, raw, p=protocol: pickle.dumps({"a": bomb}, p) for protocol in PROTOCOLS},
    "zlib": lambda bomb, raw: zlib.compress(pickle.dumps(bomb)),
    "joblib": lambda bomb, raw: raw.pickled({"a": np.zeros(3), "b": bomb, "c": np.ones(2)}, joblib=True),
    "npz_object_array": npz_of_objects,
    "inside_a_motion": lambda bomb, raw: pickle.dumps({"fps": 30, "loop_mode": bomb, "frames": [[0.0] * 35] * 2}),
}


@pytest.mark.parametrize("build", BOMBS.values(), ids=BOMBS.keys())
def test_a_pickle_bomb_is_refused_and_does_not_go_off(
    build: Callable[[Bomb, Any], bytes], raw: Any, read_content: Any, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read_content(build(Bomb(tmp_path / "boom"), raw), "bomb.pkl")
    assert not (tmp_path / "boom").exists()
    assert caught.value.code == "unsafe_pickle"
    assert "bomb.pkl" in str(caught.value)
    assert "plain arrays" in str(caught.value) or "Re-save it" in str(caught.value)


def test_the_bomb_of_these_tests_is_live(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(tmp_path / "boom")))
    assert (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    "name",
    [
        "builtins eval",
        "builtins exec",
        "builtins getattr",
        "builtins __import__",
        "builtins open",
        "os system",
        "posix system",
        "subprocess Popen",
        "functools partial",
        "operator attrgetter",
        "copyreg _reconstructor",
        "numpy load",
        "numpy fromfile",
        "numpy.core.multiarray fromfile",
        "numpy._core.multiarray _reconstruct.__globals__",
        "torch._utils _rebuild_tensor_v2",
        "torch.storage _load_from_bytes",
        "pfmhr.motion.safe_pickle _lookup",
        "joblib.numpy_pickle NumpyArrayWrapper.__class__",
    ],
)
def test_any_other_name_is_refused(name: str) -> None:
    module, attribute = name.split()
    for stream in (
        f"\x80\x02c{module}\n{attribute}\n(tR.".encode("latin1"),
        f"\x80\x02(i{module}\n{attribute}\n.".encode("latin1"),
        pickle.dumps((module, attribute), 4)[:-1] + b"0\x8c" + bytes([len(module)]) + module.encode()
        + b"\x8c" + bytes([len(attribute)]) + attribute.encode() + b"\x93.",
    ):  # fmt: skip
        with pytest.raises(InputError) as caught:
            load_plain(stream)
        assert caught.value.code == "unsafe_pickle"
        assert f"{module}.{attribute}" in str(caught.value)


def test_references_to_other_files_are_refused() -> None:
    for stream in (b"\x80\x02Pother\n.", b"\x80\x02K\x01Q."):
        with pytest.raises(InputError, match="a reference to another file"):
            load_plain(stream)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(
    array=arrays(
        st.sampled_from([np.dtype(code) for code in ("<f4", "<f8", ">f8", "<i4", ">i2", "u1", "?", "<f2")]),
        array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
    ),
    turn=st.booleans(),
)
def test_numeric_arrays_come_back_as_they_were(protocol: int, array: np.ndarray, turn: bool) -> None:
    if turn:
        array = array.T
    (read,) = load_plain(pickle.dumps([array], protocol))
    assert read.dtype == array.dtype
    assert np.array_equal(read, array, equal_nan=array.dtype.kind == "f")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("axes", [(0, 2, 1), (2, 0, 1), (1, 2, 0)])
def test_arrays_with_their_axes_permuted_come_back_as_they_were(protocol: int, axes: tuple[int, ...]) -> None:
    array = np.arange(24.0).reshape(2, 3, 4).transpose(axes)
    assert np.array_equal(load_plain(pickle.dumps(array, protocol)), array)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rename", [None, ("numpy._core", "numpy.core"), ("numpy.core", "numpy._core")])
def test_pickles_of_numpy_1_and_2_are_both_read(
    walk: Motion, raw: Any, read_content: Any, protocol: int, rename: tuple[str, str] | None
) -> None:
    content = raw.gmr(walk, protocol=protocol, rename=rename)
    if rename:
        assert f"{rename[1]}.".encode() in content
        assert f"{rename[0]}.".encode() not in content
    (read,) = read_content(content)
    assert np.array_equal(read.joint_pos, walk.joint_pos)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("joblib", [False, True], ids=["pickle", "joblib"])
def test_plain_containers_and_scalars_come_back_as_they_were(raw: Any, protocol: int, joblib: bool) -> None:
    content = {
        "text": "é",
        "bytes": b"\x00\xff",
        "bytearray": bytearray(b"\x00\xff"),
        "none": None,
        "numbers": [1, 2.5, True, 10**30],
        "scalars": [np.float32(1.5), np.int64(7), np.bool_(True)],
        "ordered": OrderedDict(a=1),
        "empty": [[], {}, ()],
        3: "key",
    }
    array = {"array": np.arange(3)} if joblib else {}
    read = load_plain(raw.pickled({**array, **content}, protocol, joblib=joblib))
    expected = {**content, "scalars": [1.5, 7, True], "empty": [[], {}, []]}
    assert {key: read[key] for key in content} == expected
    assert type(read["scalars"][0]) is float


def test_an_object_shared_many_times_is_visited_once() -> None:
    layer: Any = [np.zeros(1)]
    for _ in range(40):
        layer = [layer, layer]  # 2^40 paths to one array
    assert len(load_plain(pickle.dumps(layer))) == 2


def test_containers_deeper_than_50_are_refused() -> None:
    nested: Any = [None]
    for _ in range(60):
        nested = [nested]
    with pytest.raises(InputError, match="nested more than 50 deep"):
        load_plain(pickle.dumps(nested))


@pytest.mark.parametrize("kind", ["O", "U3", "S3", "c16", "M8[s]", "f8,i4", "V8"])
def test_arrays_of_anything_but_real_numbers_are_refused(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        load_plain(pickle.dumps(np.zeros(2, dtype=kind)))
    assert caught.value.code == "unsafe_pickle"


TAMPER_THEN_READ = """
import struct, sys
from pfmhr.errors import InputError
from pfmhr.motion.safe_pickle import load_plain
sound = open(sys.argv[1], "rb").read()
for owner in (b"joblib.numpy_pickle\\nNumpyArrayWrapper", b"_codecs\\nencode", b"numpy\\nndarray", b"numpy\\ndtype"):
    for name in (b"__setstate__", b"__defaults__", b"__init__", b"dtype"):
        key = b"X" + struct.pack("<I", len(name)) + name
        try:
            load_plain(b"\\x80\\x02c" + owner + b"\\nN}" + key + b"cnumpy.core.multiarray\\nscalar\\ns\\x86b.")
        except InputError:
            pass
        assert load_plain(sound)["motion"]["dof"].shape == (90, 29), (owner, name)
"""
"""BUILD with a pair as state sets attributes, here of the reader's own classes and functions."""


def test_a_file_cannot_change_how_later_files_are_read(walk: Motion, raw: Any, tmp_path: Path) -> None:
    (tmp_path / "sound.pkl").write_bytes(raw.asap(walk, protocol=2))
    command = [
        sys.executable,
        "-c",
        TAMPER_THEN_READ,
        str(tmp_path / "sound.pkl"),
    ]  # the damage would outlast this test
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def peak_memory(stream: bytes, read: Callable[[bytes], Any]) -> int:
    tracemalloc.start()
    try:
        read(stream)
    except InputError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "stream",
    [
        b"\x80\x02cbuiltins\nbytearray\nJ" + struct.pack("<i", 2**26) + b"\x85R.",
        b"\x80\x02Nr" + struct.pack("<I", 2**22) + b".",
    ],
    ids=["bytearray_of_a_size", "far_memo_slot"],
)
def test_a_tiny_pickle_cannot_claim_much_memory(stream: bytes) -> None:
    assert peak_memory(stream, load_plain) < 2**23


@pytest.mark.parametrize("opcode", [b"\x8e", b"\x8d", b"\x96", b"\x95"], ids=["bytes", "text", "bytearray", "frame"])
def test_an_impossible_length_is_an_input_error(opcode: bytes) -> None:
    with pytest.raises(InputError):
        load_plain(b"\x80\x05" + opcode + struct.pack("<Q", 2**62) + b"abc.")


def test_a_tiny_nested_pickle_is_not_unfolded(read_content: Any) -> None:
    frames: Any = [0.0] * 20
    for _ in range(4):
        frames = [frames] * 20  # 20^5 numbers in 400 bytes
    stream = pickle.dumps({"fps": 30, "loop_mode": 0, "frames": frames})
    assert peak_memory(stream, read_content) < 2**23


def test_a_compressed_pickle_unpacks_to_no_more_than_the_limit(read_content: Any) -> None:
    stream = zlib.compress(pickle.dumps({"a": b"\0" * 2**24}))
    with pytest.raises(InputError) as caught:
        read_content(stream, max_bytes=2**20)
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("joblib", [False, True], ids=["pickle", "joblib"])
def test_every_truncation_is_an_input_error(walk: Motion, raw: Any, joblib: bool) -> None:
    content = (raw.asap if joblib else raw.gmr)(walk.frames(0, 2))
    for length in range(len(content)):
        with pytest.raises(InputError) as caught:
            load_plain(content[:length])
        assert caught.value.code in ("truncated", "bad_pickle")


def test_a_pickle_in_memory_needs_no_file() -> None:
    stream = io.BytesIO()
    pickle.dump([1, 2], stream)
    assert load_plain(stream.getvalue()) == [1, 2]
