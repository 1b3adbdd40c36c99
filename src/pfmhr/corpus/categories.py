"""What kind of movement a file holds: told by its folder or by a metadata table."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.foreign import read_text

UNKNOWN = "unknown"
_CATEGORY_COLUMNS = ("package", "category")
_PATH_COLUMNS = ("move_g1_path", "move_g1_mujoco_path", "filename", "path", "file")
_TRUE = ("1", "true", "yes")


@dataclass(frozen=True)
class Metadata:
    """Category and mirror flag by file stem."""

    category: dict[str, str]
    mirrored: frozenset[str]


def folder_category(path: Path, root: Path) -> str:
    """The folder a file lies in below the given root; the root's own name for files right in it."""
    inside = path.relative_to(root).parts if path.is_relative_to(root) else path.parts
    return inside[0] if len(inside) > 1 else root.absolute().name


def stem(path: str | Path) -> str:
    """A file's name without .csv, .csv.gz and the like."""
    return Path(path).name.split(".", 1)[0]


def named_as_mirror(path: Path) -> bool:
    """BONES-SEED marks mirrored copies by the suffix _M."""
    return stem(path).endswith("_M")


def find_metadata(roots: list[Path]) -> Path:
    """The newest metadata table below the given folders, as BONES-SEED ships it."""
    found = [
        file
        for root in roots
        if root.is_dir()
        for pattern in ("metadata/*metadata*.csv", "*metadata*.csv", "metadata/*metadata*.parquet")
        for file in sorted(root.glob(pattern))
    ]
    if not found:
        raise InputError(
            "no metadata table found",
            where=", ".join(map(str, roots)),
            expected="metadata/*metadata*.csv below it",
            fix="Name the table, or use --category-from folder.",
            code="not_found",
        )
    tables = [file for file in found if file.suffix == ".csv"] or found
    return max(tables, key=lambda file: file.name)


def read_metadata(path: Path) -> Metadata:
    """Read a table with a path column, a category column and, if there, an is_mirror column."""
    rows = _parquet_rows(path) if path.suffix == ".parquet" else _csv_rows(path)
    if not rows:
        raise InputError("the metadata table is empty", where=path, code="bad_metadata")
    columns = rows[0].keys()
    kind = next((column for column in _CATEGORY_COLUMNS if column in columns), None)
    names = [column for column in _PATH_COLUMNS if column in columns]
    if kind is None or not names:
        raise InputError(
            "the metadata table lacks columns",
            where=path,
            expected=f"one of {', '.join(_CATEGORY_COLUMNS)} and one of {', '.join(_PATH_COLUMNS)}",
            got=", ".join(map(str, columns)),
            code="bad_metadata",
        )
    category: dict[str, str] = {}
    mirrored: set[str] = set()
    for row in rows:
        for name in {stem(str(row[column])) for column in names if row[column]}:
            category[name] = str(row[kind] or UNKNOWN)
            if str(row.get("is_mirror", "")).strip().lower() in _TRUE:
                mirrored.add(name)
    return Metadata(category, frozenset(mirrored))


def _csv_rows(path: Path) -> list[dict[str, Any]]:
    try:
        return list(csv.DictReader(io.StringIO(read_text(path), newline="")))
    except FileNotFoundError:
        raise InputError("no such metadata table", where=path, code="not_found") from None
    except InputError as error:
        raise error.at(path, code="bad_metadata") from error
    except csv.Error as error:
        raise InputError(f"unreadable metadata table: {error}", where=path, code="bad_metadata") from error


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    try:
        import pyarrow.parquet  # type: ignore[import-not-found]
    except ImportError:
        raise InputError(
            "reading parquet needs pyarrow", where=path, fix="`pip install pyarrow`, or use the csv table beside it.",
            code="missing_extra",
        ) from None  # fmt: skip
    return pyarrow.parquet.read_table(path).to_pylist()
