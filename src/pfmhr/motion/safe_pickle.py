"""Reading pickles without running what is in them.

A pickle is a program. This reader runs it with a tiny vocabulary: plain containers, numbers,
strings, and stand-ins for numpy arrays that only hold bytes until the whole file has been read.
Any other name in the file is refused before anything is called.
"""

from __future__ import annotations

import io
import pickle
import struct
import zlib
from typing import Any, ClassVar

import numpy as np

from pfmhr.errors import InputError
from pfmhr.foreign import MAX_FILE_BYTES, too_large

MAX_OBJECTS = 20_000_000
"""Objects that a pickle's program may make, its floats aside: a byte of the file may ask for a hundred of memory."""

_ARRAY_KINDS = frozenset("fiub")
_NUMPY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")


def load_plain(data: bytes, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Decode a pickle (or a joblib pickle) made of containers, scalars and numeric numpy arrays.

    Raises:
        InputError: anything else is inside (``unsafe_pickle``), or the file is damaged.
    """
    data = _unpack_joblib(data, max_bytes)
    try:
        return _finish(_Reader(io.BytesIO(data), max_bytes).load(), {})
    except InputError:
        raise
    except RecursionError:
        raise _refused("containers nested too deep") from None
    except (EOFError, struct.error, pickle.UnpicklingError) as error:
        truncated = isinstance(error, (EOFError, struct.error)) or "truncated" in str(error) or "ran out" in str(error)
        truncated = truncated or "exhausted" in str(error)
        raise InputError(
            "truncated pickle" if truncated else f"not a readable pickle: {error}",
            fix="Download it again." if truncated else None,
            code="truncated" if truncated else "bad_pickle",
        ) from error
    except Exception as error:  # a damaged pickle program can fail in any way at all
        raise InputError(f"damaged pickle: {error or type(error).__name__}", code="bad_pickle") from error


class _Sealed(type):
    """Classes a pickle may name but not change: BUILD can set attributes of whatever it is given."""

    def __setattr__(cls, name: str, value: Any) -> None:
        raise _refused("a change of a type")


class _Dtype(metaclass=_Sealed):
    """Stand-in for numpy.dtype: remembers a plain numeric type and its byte order."""

    def __init__(self, code: str, *_: object) -> None:
        self.dtype = np.dtype(str(code))
        if self.dtype.kind not in _ARRAY_KINDS:
            raise _refused(f"an array of type '{self.dtype}'")

    def __setstate__(self, state: Any) -> None:
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else "="
        if order in ("<", ">", "|", "="):
            self.dtype = self.dtype.newbyteorder(order)


class _Array(metaclass=_Sealed):
    """Stand-in for numpy.ndarray: checked bytes, turned into an array at the very end."""

    value: np.ndarray | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, raw = state
        self.value = _array(raw, dtype, shape, "F" if fortran else "C")


def _array(raw: Any, dtype: Any, shape: Any, order: str) -> np.ndarray:
    if not isinstance(dtype, _Dtype) or not isinstance(raw, (bytes, bytearray, memoryview)):
        raise _refused("an array whose content is not plain numbers")
    return np.frombuffer(bytes(raw), dtype=dtype.dtype).reshape(tuple(shape), order=order)  # type: ignore[call-overload]


class _Reconstruct(metaclass=_Sealed):
    def __new__(cls, *_: object) -> Any:
        return _Array()


class _Scalar(metaclass=_Sealed):
    def __new__(cls, dtype: Any, raw: Any) -> Any:
        return _array(raw, dtype, (1,), "C")[0].item()


class _FromBuffer(metaclass=_Sealed):
    def __new__(cls, raw: Any, dtype: Any, shape: Any, order: str, axes: Any = None) -> Any:
        array = _Array()
        array.value = _array(raw, dtype, shape, "F" if order == "F" else "C")
        if order == "K" and axes is not None:
            array.value = array.value.transpose(axes)
        return array


class _Encode(metaclass=_Sealed):
    def __new__(cls, text: str, encoding: str) -> Any:
        if encoding != "latin1":
            raise _refused(f"a text encoding '{encoding}'")
        return text.encode("latin1")


class _Bytes(metaclass=_Sealed):
    """bytes() and bytearray() as pickles call them: without arguments or with content, never with a size."""

    def __new__(cls, content: Any = b"", encoding: str = "latin-1") -> Any:
        if isinstance(content, str) and encoding == "latin-1":
            content = content.encode("latin-1")
        if not isinstance(content, bytes):
            raise _refused("bytes of a stated size")
        return bytearray(content) if cls is _Bytearray else content


class _Bytearray(_Bytes):
    pass


class _OrderedDict(metaclass=_Sealed):
    """Dicts keep their order, so that a plain one will do."""

    def __new__(cls, items: Any = ()) -> Any:
        return _filled({}, [part for item in items for part in item])


def _filled(target: Any, items: list[Any]) -> Any:
    """A dict with keys and values in turn. Keys are plain: hashing a tuple that is nested deep enough is a crash."""
    if not isinstance(target, dict) or not all(map(_is_key, items[::2])):
        raise _refused("a dictionary whose keys are not text or numbers")
    target.update(zip(items[::2], items[1::2], strict=True))
    return target


def _is_key(key: Any) -> bool:
    """Text or a number; not one of thousands of digits, which Python would not turn into text."""
    return isinstance(key, (str, bytes, float)) or (isinstance(key, int) and key.bit_length() <= 64)


class _JoblibArray(metaclass=_Sealed):
    """Stand-in for joblib's array wrapper, whose numbers follow it in the stream."""


_ALLOWED: dict[tuple[str, str], Any] = {
    ("_codecs", "encode"): _Encode,
    ("builtins", "bytearray"): _Bytearray,
    ("__builtin__", "bytearray"): _Bytearray,
    ("builtins", "bytes"): _Bytes,
    ("__builtin__", "bytes"): _Bytes,
    ("collections", "OrderedDict"): _OrderedDict,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.numeric", "_frombuffer"): _FromBuffer,
    ("numpy._core.numeric", "_frombuffer"): _FromBuffer,
    **{(module, "_reconstruct"): _Reconstruct for module in _NUMPY_MODULES},
    **{(module, "scalar"): _Scalar for module in _NUMPY_MODULES},
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): _JoblibArray,
}


def _lookup(module: str, name: str) -> Any:
    try:
        return _ALLOWED[module, name]
    except KeyError:
        raise _refused(f"'{module}.{name}'") from None


_PythonUnpickler: Any = pickle._Unpickler


_SMALL = (pickle.BINFLOAT, pickle.BININT1, pickle.BINGET, pickle.LONG_BINGET, pickle.POP)
"""Operations of which a table may need one for every cell; what they make is no larger than the file."""


def _counted(step: Any) -> Any:
    def run(reader: _Reader) -> None:
        reader.objects += 1
        if reader.objects > MAX_OBJECTS:
            raise _refused(f"more than {MAX_OBJECTS:,} objects")
        step(reader)

    return run


def _then_count_copy(step: Any) -> Any:
    def run(reader: _Reader) -> None:
        step(reader)
        reader.count_copy()

    return run


class _Reader(_PythonUnpickler):
    """Python's own unpickler, which keeps its memo in a dict: the C one can be told to allocate gigabytes.

    Objects and copied bytes are counted and bounded. joblib writes an array's bytes right after its wrapper
    object; they are picked up as they pass.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(_PythonUnpickler.dispatch)

    def __init__(self, stream: io.BytesIO, max_bytes: int) -> None:
        super().__init__(stream)
        self.stream, self.max_bytes = stream, max_bytes
        self.objects = self.copied = 0

    def count_copy(self) -> None:
        """Content may be copied as often as the program says so: all copies together are bounded as a file is."""
        made = self.stack[-1]
        self.copied += made.value.nbytes if isinstance(made, _Array) and made.value is not None else 0
        self.copied += len(made) if isinstance(made, (bytes, bytearray)) else 0
        if self.copied > self.max_bytes:
            raise too_large(None, self.copied, self.max_bytes)

    def find_class(self, module: str, name: str) -> Any:
        return _lookup(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise _refused("a reference to another file")

    def load_bytearray8(self) -> None:
        (length,) = struct.unpack("<Q", self.read(8))
        content = self.read(length) if length < 2**62 else b""
        if len(content) < length:
            raise EOFError
        self.append(bytearray(content))

    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8

    def load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _filled(self.stack[-1], [key, value])

    dispatch[pickle.SETITEM[0]] = load_setitem

    def load_setitems(self) -> None:
        items = self.pop_mark()
        _filled(self.stack[-1], items)

    dispatch[pickle.SETITEMS[0]] = load_setitems

    def load_dict(self) -> None:
        self.append(_filled({}, self.pop_mark()))

    dispatch[pickle.DICT[0]] = load_dict

    def load_set(self) -> None:
        raise _refused("a set")

    for _opcode in (pickle.EMPTY_SET, pickle.ADDITEMS, pickle.FROZENSET):
        dispatch[_opcode[0]] = load_set

    def load_build(self) -> None:
        wrapper = self.stack[-2]
        super().load_build()
        if isinstance(wrapper, _JoblibArray):
            self.stack[-1] = self._read_array(vars(wrapper))
        self.count_copy()

    dispatch[pickle.BUILD[0]] = load_build

    for _opcode in (pickle.REDUCE, pickle.NEWOBJ, pickle.NEWOBJ_EX, pickle.OBJ, pickle.INST):
        dispatch[_opcode[0]] = _then_count_copy(dispatch[_opcode[0]])

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


_Reader.dispatch = {
    code: step if bytes([code]) in _SMALL else _counted(step) for code, step in _Reader.dispatch.items()
}


def _unpack_joblib(data: bytes, max_bytes: int) -> bytes:
    """joblib may compress the whole pickle with zlib; anything rarer is refused by name."""
    if data[:1] == b"\x78":
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(data, max_bytes + 1)
        except zlib.error as error:
            raise InputError("damaged compressed pickle", code="bad_pickle") from error
        if len(data) > max_bytes:
            raise too_large(None, len(data), max_bytes)
        if not unpacker.eof:
            raise InputError("truncated compressed pickle", fix="Download it again.", code="truncated")
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
