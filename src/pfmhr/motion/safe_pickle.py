"""Reading pickles without running what is in them.

A pickle is a program. This reader runs it with a tiny vocabulary: plain containers, numbers,
strings, and stand-ins for numpy arrays that only hold bytes until the whole file has been read.
Any other name in the file is refused before anything is called.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections import OrderedDict
from typing import Any, ClassVar

import numpy as np

from pfmhr.errors import InputError

_ARRAY_KINDS = frozenset("fiub")
_NUMPY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")


def load_plain(data: bytes, where: object = None) -> Any:
    """Decode a pickle (or a joblib pickle) made of containers, scalars and numeric numpy arrays.

    Raises:
        InputError: anything else is inside (``unsafe_pickle``), or the file is damaged.
    """
    data = _unpack_joblib(data, where)
    reader = _JoblibReader if b"NumpyArrayWrapper" in data[: 2**20] else _PlainReader
    try:
        return _finish(reader(io.BytesIO(data)).load(), {})
    except InputError as error:
        raise error.at(where) from None
    except (EOFError, pickle.UnpicklingError) as error:
        truncated = isinstance(error, EOFError) or "truncated" in str(error) or "ran out" in str(error)
        raise InputError(
            "truncated pickle" if truncated else f"not a readable pickle: {error}",
            where=where,
            code="truncated" if truncated else "bad_pickle",
        ) from error
    except Exception as error:  # a damaged pickle program can fail in any way at all
        raise InputError(f"damaged pickle: {error or type(error).__name__}", where=where, code="bad_pickle") from error


class _Dtype:
    """Stand-in for numpy.dtype: remembers a plain numeric type and its byte order."""

    def __init__(self, code: str, *_: object) -> None:
        self.dtype = np.dtype(str(code))
        if self.dtype.kind not in _ARRAY_KINDS:
            raise _refused(f"an array of type '{self.dtype}'")

    def __setstate__(self, state: Any) -> None:
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else "="
        if order in ("<", ">", "|", "="):
            self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """Stand-in for numpy.ndarray: checked bytes, turned into an array at the very end."""

    value: np.ndarray | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, raw = state
        self.value = _array(raw, dtype, shape, "F" if fortran else "C")


def _array(raw: Any, dtype: Any, shape: Any, order: str) -> np.ndarray:
    if not isinstance(dtype, _Dtype) or not isinstance(raw, (bytes, bytearray, memoryview)):
        raise _refused("an array whose content is not plain numbers")
    return np.frombuffer(bytes(raw), dtype=dtype.dtype).reshape(tuple(shape), order=order)  # type: ignore[call-overload]


def _reconstruct(*_: object) -> _Array:
    return _Array()


def _scalar(dtype: Any, raw: Any) -> Any:
    return _array(raw, dtype, (1,), "C")[0].item()


def _frombuffer(raw: Any, dtype: Any, shape: Any, order: str, *_: object) -> _Array:
    array = _Array()
    array.value = _array(raw, dtype, shape, "F" if order == "F" else "C")
    return array


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise _refused(f"a text encoding '{encoding}'")
    return text.encode("latin1")


class _JoblibArray:
    """Stand-in for joblib's array wrapper, whose numbers follow it in the stream."""


_ALLOWED: dict[tuple[str, str], Any] = {
    ("_codecs", "encode"): _encode,
    ("builtins", "bytearray"): bytearray,
    ("__builtin__", "bytearray"): bytearray,
    ("collections", "OrderedDict"): OrderedDict,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.numeric", "_frombuffer"): _frombuffer,
    ("numpy._core.numeric", "_frombuffer"): _frombuffer,
    **{(module, "_reconstruct"): _reconstruct for module in _NUMPY_MODULES},
    **{(module, "scalar"): _scalar for module in _NUMPY_MODULES},
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): _JoblibArray,
}


def _lookup(module: str, name: str) -> Any:
    try:
        return _ALLOWED[module, name]
    except KeyError:
        raise _refused(f"'{module}.{name}'") from None


class _PlainReader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # type: ignore[override]
        return _lookup(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise _refused("a reference to another file")


_PythonUnpickler: Any = pickle._Unpickler  # the pure Python one: only there can an opcode be extended


class _JoblibReader(_PythonUnpickler):
    """joblib writes an array's bytes right after its wrapper object; pick them up as they pass."""

    dispatch: ClassVar[dict[int, Any]] = dict(_PythonUnpickler.dispatch)

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self.stream = stream

    def find_class(self, module: str, name: str) -> Any:
        return _lookup(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise _refused("a reference to another file")

    def load_build(self) -> None:
        wrapper = self.stack[-2]
        super().load_build()
        if isinstance(wrapper, _JoblibArray):
            self.stack[-1] = self._read_array(vars(wrapper))

    dispatch[pickle.BUILD[0]] = load_build

    def _read_array(self, wrapper: dict[str, Any]) -> np.ndarray:
        dtype, shape = wrapper["dtype"], tuple(int(size) for size in wrapper["shape"])
        if wrapper.get("numpy_array_alignment_bytes") is not None:
            self.stream.read(self.stream.read(1)[0])
        count = int(np.prod(shape, dtype=object)) * dtype.dtype.itemsize
        if min(shape, default=0) < 0 or count > len(self.stream.getbuffer()):
            raise EOFError
        raw = self.stream.read(count)
        if len(raw) < count:
            raise EOFError
        return _array(raw, dtype, shape, "F" if wrapper.get("order") == "F" else "C")


def _unpack_joblib(data: bytes, where: object) -> bytes:
    """joblib may compress the whole pickle with zlib; anything rarer is refused by name."""
    if data[:1] == b"\x78":
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(data, 2**30)
        except zlib.error as error:
            raise InputError("damaged compressed pickle", where=where, code="bad_pickle") from error
        if not unpacker.eof:
            raise InputError("truncated compressed pickle", where=where, code="truncated")
    return data


def _finish(node: Any, done: dict[int, Any], depth: int = 0) -> Any:
    """Replace the stand-ins by arrays. Each object is visited once, however often it is shared."""
    if depth > 50:
        raise _refused("containers nested more than 50 deep")
    if isinstance(node, _Array):
        if node.value is None:
            raise _refused("an array without content")
        return node.value
    if isinstance(node, (_Dtype, _JoblibArray)):
        raise _refused("a bare numpy type")
    if not isinstance(node, (dict, list, tuple)):
        return node
    if id(node) in done:
        return done[id(node)]
    done[id(node)] = node
    if isinstance(node, dict):
        result: Any = {key: _finish(value, done, depth + 1) for key, value in node.items()}
    elif node and isinstance(node[0], (float, int)):
        result = node  # rows of numbers, by far the most common: nothing inside to replace
    else:
        result = [_finish(value, done, depth + 1) for value in node]
    done[id(node)] = result
    return result


def _refused(what: str) -> InputError:
    return InputError(
        f"this pickle holds {what}, which could run code or is not motion data; refused",
        fix="Only numbers, text, lists, dicts and numeric numpy arrays are read. Re-save it with those, or as npz.",
        code="unsafe_pickle",
    )
