"""The one door for files that others may have written: opened, bounded and unpacked here, and nowhere else.

Nothing read here runs code, hangs on what is no file, or takes more memory than a stated multiple of its size.
"""

from pfmhr.foreign.documents import as_dataclass, parse_json, read_json, read_toml
from pfmhr.foreign.headers import require_header
from pfmhr.foreign.locating import locate
from pfmhr.foreign.npz import load_npy, map_npy, unpack_npz
from pfmhr.foreign.opening import MAX_FILE_BYTES, read_file, read_text, require_file, too_large
from pfmhr.foreign.tensors import TensorLayout, read_layout

__all__ = [
    "MAX_FILE_BYTES",
    "TensorLayout",
    "as_dataclass",
    "load_npy",
    "locate",
    "map_npy",
    "parse_json",
    "read_file",
    "read_json",
    "read_layout",
    "read_text",
    "read_toml",
    "require_file",
    "require_header",
    "too_large",
    "unpack_npz",
]
